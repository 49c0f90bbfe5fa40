#pragma once

#include <string>
#include <vector>

#include "commands/commands.hpp"

namespace edgegpu {

/// One of several blueprints of a build.
struct Variant {
    std::filesystem::path blueprint;
    /// the file's name without ".toml": marks its lines, and names its lockfile
    std::string name;
    std::string ref;
};

/// Reads all of them and reports what would stop one of the builds before any begins: every mistake
/// of every blueprint (as one Error, like those of a single one), two that write the same ref, two
/// with the same name, and `--lock`, which names only one lockfile. Throws ErrorKind::usage.
[[nodiscard]] std::vector<Variant> read_variants(const BuildCommand& command);

/// The command line for one of them: the options of `command`, with `threads` as its --jobs. Its
/// result is JSON, its progress goes to "@progress" (BuildProcess).
[[nodiscard]] std::vector<std::string> build_arguments(const BuildCommand& command,
                                                       const Variant& variant, unsigned threads);

}  // namespace edgegpu
