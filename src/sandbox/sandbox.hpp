#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/context.hpp"
#include "support/process.hpp"

namespace edgegpu {

/// One program run inside the image's root: no network, no builder's files, no builder's
/// kernel version in /proc, `uname` answering with the image's kernel, own pid and ipc
/// namespaces, fresh /dev, /proc, /tmp, /run (with /run/ostree-booted) and /var/tmp, a fixed
/// environment (PATH, HOME=/root, LC_ALL=C.UTF-8, TZ=UTC, SOURCE_DATE_EPOCH, SYSTEMD_OFFLINE=1,
/// PYTHONDONTWRITEBYTECODE=1, PYTHONHASHSEED=0).
struct SandboxCommand {
    /// Absolute path on the builder of the directory that becomes /.
    std::filesystem::path root;
    /// argv inside the image; argv[0] is looked up in the image's PATH.
    std::vector<std::string> argv;
    std::string input;
    /// Added to the fixed environment, "K=V".
    std::vector<std::string> env;
    /// (builder path, path in image) read-only binds on top of the root, with what is mounted below
    /// them.
    std::vector<std::pair<std::filesystem::path, std::string>> read_only_binds;
    /// The same, writable, e.g. an output directory; it comes to belong to the image's root, but
    /// not what lies in it.
    std::vector<std::pair<std::filesystem::path, std::string>> writable_binds;
    /// Kernel version that `uname -r` and /proc report, e.g. "6.1.0-47-amd64".
    std::string kernel;
    /// Mount the image's own root read-only (true for pure readers).
    bool read_only_root = false;
    /// Who it is in an error, "package X: %post"; empty: "'PROGRAM' of the image".
    std::string name;
    /// How many times longer than others it may run (Context::program_timeout).
    unsigned patience = 1;
};

/// Runs the command with bubblewrap and waits for it and for everything that it started, of which
/// nothing lives on. Throws Error if the sandbox cannot be made, or a limit ended the program
/// (limits.hpp); a non-zero status of the program is returned.
[[nodiscard]] ProcessResult run_in_sandbox(const Context& ctx, const SandboxCommand& command);

}  // namespace edgegpu
