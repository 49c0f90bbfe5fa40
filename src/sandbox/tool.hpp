#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "execution/process_watch.hpp"

namespace edgegpu {

/// Where ToolCommand::tree is.
inline constexpr std::string_view tool_tree = "/input";

/// One run of a program of the builder on untrusted files.
struct ToolCommand {
    /// argv[0] is looked up in the builder's usual directories. Files are named as in `inputs`.
    std::vector<std::string> argv;
    /// The program's file, which may be outside of those directories, in the user's home for
    /// example: then the sandbox has this file, too. Empty: argv[0] decides.
    std::filesystem::path program;
    /// name → content of input files, in the working directory
    std::map<std::string, std::string> inputs;
    /// path → content of files in directories below `tool_tree`, all of it read-only
    std::map<std::string, std::string> tree;
    /// names of output files
    std::vector<std::string> outputs;
    /// largest size of an output file in bytes
    std::uint64_t output_limit = 256U << 20U;
    /// How long it may run, whatever it waits for; 0: without limit.
    std::chrono::seconds time{0};
};

/// The result of a ToolCommand.
struct ToolResult {
    /// exit status, or 128 + signal number
    int status = 0;
    /// `time` if it was killed because of ToolCommand::time
    Ended ended = Ended::normally;
    /// stdout and stderr, interleaved; the last 1 MiB
    std::string output;
    /// content of those of `outputs` that exist and are regular files
    std::map<std::string, std::string> files;
};

/// Runs the program in a sandbox and waits for it: the builder's programs and libraries read-only,
/// no other files of the builder, no network, no capabilities, no new privileges, own user, pid,
/// IPC and UTS namespaces, new /tmp and /dev, no /proc, a new working directory with `inputs`, 2
/// GiB of memory, 30 seconds of processor time. Works for any user and in the user namespace of a
/// build. Throws Error if the sandbox cannot be created, the program does not exist, or an output
/// is too large; a non-zero status is returned.
[[nodiscard]] ToolResult run_tool(const Context& ctx, const ToolCommand& command);

/// The file of a program that `run_tool` would run; empty if there is none, which `run_tool`
/// reports.
[[nodiscard]] std::filesystem::path tool_file(std::string_view program);

}  // namespace edgegpu
