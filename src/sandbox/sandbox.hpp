#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "sandbox/seccomp.hpp"

namespace edgegpu {

/// A program to run in the image's root: without network and files of the builder, with the image's
/// kernel version in `uname` and /proc, own pid and IPC namespaces, new /dev, /proc, /tmp, /run
/// (with /run/ostree-booted) and /var/tmp, and a fixed environment (PATH, HOME=/root,
/// LC_ALL=C.UTF-8, TZ=UTC, SOURCE_DATE_EPOCH, SYSTEMD_OFFLINE=1, PYTHONDONTWRITEBYTECODE=1,
/// PYTHONHASHSEED=0).
struct SandboxCommand {
    /// Absolute path of the root directory on the builder.
    std::filesystem::path root;
    /// argv inside the image; argv[0] is looked up in the image's PATH.
    std::vector<std::string> argv;
    std::string input;
    /// Additional environment variables, "K=V".
    std::vector<std::string> env;
    /// (builder path, path in image) of read-only bind mounts, including mounts below them.
    std::vector<std::pair<std::filesystem::path, std::string>> read_only_binds;
    /// The same, writable, e.g. an output directory; its owner, but not that of its content,
    /// becomes the image's root.
    std::vector<std::pair<std::filesystem::path, std::string>> writable_binds;
    /// Kernel version that `uname -r` and /proc report, e.g. "6.1.0-47-amd64".
    std::string kernel;
    /// Whether the image's root is mounted read-only.
    bool read_only_root = false;
    /// Name of the command in errors, "package X: %post"; empty: "'PROGRAM' of the image".
    std::string name;
    /// What it may open beside what every program may.
    MoreCalls more_calls = MoreCalls::none;
    /// Factor for its time limit (Context::program_timeout).
    unsigned patience = 1;
};

/// Runs the command with bubblewrap and waits for it; processes that it left behind are killed.
/// Throws Error if the sandbox cannot be created, or a limit ended the program (limits.hpp); a
/// non-zero status of the program is returned.
[[nodiscard]] ProcessResult run_in_sandbox(const Context& ctx, const SandboxCommand& command);

}  // namespace edgegpu
