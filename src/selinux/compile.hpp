#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu::selinux {

/// A module of the blueprint, ready for semodule.
struct CompiledModule {
    std::string name;
    /// what the user wrote
    std::filesystem::path source;
    /// `.pp` or `.cil` file on the builder
    std::filesystem::path file;
};

/// Makes a module package of `source` (`.te`, with `.fc` beside it if there; `.pp`, `.pp.bz2` and
/// `.cil` are taken as they are) in `directory`. `mls`: the image's policy has MLS levels. Throws
/// ErrorKind::usage "selinux/x.te:7: …" for what the compiler refuses.
[[nodiscard]] CompiledModule compile_module(const Context& ctx, const std::filesystem::path& source,
                                            const std::filesystem::path& directory, bool mls);

/// The path as a user would name it: relative to the current directory where it is below it.
[[nodiscard]] std::string display_path(const std::filesystem::path& path);

/// Explains a failed policy transaction: where semodule's output points into a compiled module,
/// the Error names line and symbol of the user's source; else it carries the output.
[[nodiscard]] Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                                    const std::string& output);

}  // namespace edgegpu::selinux
