#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "selinux/store/store.hpp"
#include "support/context.hpp"
#include "support/digest.hpp"

namespace edgegpu::selinux {

/// A module of the blueprint, ready for semodule.
struct CompiledModule {
    std::string name;
    /// what the user wrote
    std::filesystem::path source;
    /// `.pp` or `.cil` file on the builder
    std::filesystem::path file;
};

/// What modules are compiled for, and with.
struct CompileInputs {
    /// absolute paths of `.te`, `.cil`, `.pp` or `.pp.bz2` files
    std::vector<std::filesystem::path> modules;
    /// packages to compile in where a module uses the reference policy's macros
    const PackageFiles& policy_root;
    const Tree& tree;
    PolicyPaths paths;
    /// the policy has MLS levels
    bool mls = true;
    /// module packages in the image that the same transaction installs
    std::vector<std::string> module_files;
};

/// Adds the files of a module to a digest, and their names.
void digest_module(Sha256& digest, const std::filesystem::path& source);

/// Adds everything to a digest that decides what `compile_modules` makes, but the policy itself.
void digest_modules(Sha256& digest, const CompileInputs& inputs);

/// Makes module packages of all modules in `directory`, in their order: a plain `.te` with
/// checkmodule here, one with macros as `compile_with_interfaces` says; `.fc` and `.if` of the same
/// stem belong to it. Others are taken as they are. Throws ErrorKind::usage "selinux/x.te:7: …" for
/// what the compiler refuses, for contexts that do not fit, and for two modules of one name.
[[nodiscard]] std::vector<CompiledModule> compile_modules(const Context& ctx,
                                                          const CompileInputs& inputs,
                                                          const std::filesystem::path& directory);

/// One module that needs no interfaces. `contexts`: the text of its `.fc`. `mls`: the image's
/// policy has MLS levels. Throws as `compile_modules` does.
[[nodiscard]] CompiledModule compile_module(const Context& ctx, const std::filesystem::path& source,
                                            const std::string& contexts,
                                            const std::filesystem::path& directory, bool mls);

/// Throws ErrorKind::usage for a module whose name the image has already, at any priority: the one
/// with the higher priority would silently take the other's place. `present` are the modules of
/// store and scriptlets, `module_files` as in CompileInputs.
void refuse_collisions(const std::vector<std::filesystem::path>& modules,
                       const std::set<ModuleId>& present,
                       const std::vector<std::string>& module_files);

}  // namespace edgegpu::selinux
