#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
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

/// What tells one version of a program that `run_tool` would run from another: the SHA-256 of its
/// file, for keys of kept results. Empty where it is not there, which `run_tool` then says.
[[nodiscard]] std::string tool_digest(std::string_view program);

/// For a library that starts a program itself: writes `script`, which runs `program` with its own
/// arguments and descriptors in the same sandbox, under the same filter. `directory` of the builder
/// is there, writable, under the same path, and is the working directory. What the program, or
/// bubblewrap, says on stderr goes to `log`. Files with names like the script's are written beside
/// it, where the program does not see them. The program does not end with who started it.
void write_tool_script(const std::filesystem::path& script, const std::string& program,
                       const std::filesystem::path& directory, const std::filesystem::path& log);

/// Throws Error where the last run of such a script did not become `program`: bubblewrap or the
/// program is not there, or the sandbox cannot be made. A library that started it says only that it
/// failed. `log` is that of the script.
void check_tool_script(const std::string& program, const std::filesystem::path& log);

}  // namespace edgegpu
