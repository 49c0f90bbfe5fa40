#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/context.hpp"

namespace edgegpu {

/// One run of a program of the builder on files that somebody else made.
struct ToolCommand {
    /// argv[0] is looked up in the builder's usual directories. Files are named as in `inputs`.
    std::vector<std::string> argv;
    /// name → content of the files that it may read; a name is one part of a path
    std::map<std::string, std::string> inputs;
    /// names of the files that it is to write
    std::vector<std::string> outputs;
    /// what one of those may hold, bytes
    std::uint64_t output_limit = 256U << 20U;
};

/// How it ended, and what it made.
struct ToolResult {
    /// exit status, or 128 + signal number
    int status = 0;
    /// stdout and stderr, interleaved; the last 1 MiB
    std::string output;
    /// content of those of `outputs` that are there and are regular files
    std::map<std::string, std::string> files;
};

/// Runs the program in a sandbox of its own and waits for it: the builder's programs and libraries
/// read-only, no other file of the builder, no network, no capabilities, no new privileges, own
/// users, processes, IPC and host name, fresh /tmp and /dev, no /proc, one new working directory
/// with `inputs`, 2 GiB of memory, half a minute of processor time. Works as root, as any user, and
/// in the user namespace of a build. Throws Error where the sandbox cannot be made, the program is
/// not there, or an output is larger than it may be; a non-zero status is returned.
[[nodiscard]] ToolResult run_tool(const Context& ctx, const ToolCommand& command);

/// The argv that the same sandbox begins with, for whoever starts the program himself: the
/// program's own argv follows. `directory` of the builder is there, writable, under the same path,
/// and is the working directory. It does not end with who started it.
[[nodiscard]] std::vector<std::string> tool_sandbox(const std::filesystem::path& directory);

}  // namespace edgegpu
