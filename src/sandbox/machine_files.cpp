#include "sandbox/machine_files.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "embedded_machine_files.hpp"
#include "sandbox/launcher_image.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Throws for a kernel release with other characters, since it becomes part of a shell script.
void check_kernel(const std::string& kernel) {
    const bool plain = std::ranges::all_of(kernel, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._+-~").find(c) != std::string_view::npos;
    });
    if (!plain) {
        throw error("'{}' is not a kernel release", kernel);
    }
}

/// Files of /proc of a machine with one processor, 4 GiB of memory and no disks, which has just
/// been started: what scriptlets make of them must not depend on the machine that builds. Programs
/// that ask the kernel itself still learn of the builder's (docs/security.md).
std::map<std::string, std::string> machine_facts(std::string_view machine) {
    std::string processor = "processor\t: 0\n";
    if (machine == "x86_64") {
        processor +=
            "vendor_id\t: unknown\ncpu family\t: 0\nmodel\t\t: 0\nmodel name\t: x86_64\n"
            "stepping\t: 0\ncpu cores\t: 1\nsiblings\t: 1\n"
            "flags\t\t: fpu tsc msr cx8 cmov pat clflush mmx fxsr sse sse2 syscall nx lm\n";
    } else if (machine == "aarch64") {
        processor += "Features\t: fp asimd\nCPU architecture: 8\n";
    }
    return {{"cpuinfo", processor + '\n'},
            {"diskstats", ""},
            {"loadavg", "0.00 0.00 0.00 1/1 1\n"},
            {"meminfo",
             "MemTotal:        4194304 kB\nMemFree:         4194304 kB\n"
             "MemAvailable:    4194304 kB\nBuffers:               0 kB\n"
             "Cached:                0 kB\nSwapCached:            0 kB\n"
             "Shmem:                 0 kB\nSReclaimable:          0 kB\n"
             "SwapTotal:             0 kB\nSwapFree:              0 kB\n"},
            {"modules", ""},
            {"partitions", "major minor  #blocks  name\n\n"},
            {"stat",
             "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime 0\n"
             "processes 1\nprocs_running 1\nprocs_blocked 0\n"},
            {"swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"},
            {"uptime", "1.00 1.00\n"}};
}

}  // namespace

fs::path machine_files(const Context& ctx, const std::string& wanted) {
    check_kernel(wanted);
    const std::string kernel = wanted.empty() ? "0.0.0" : wanted;
    struct utsname builder {};
    ::uname(&builder);
    const std::string machine = static_cast<const char*>(builder.machine);
    // Values are in the text, not in the environment: dracut copies the file to the initramfs.
    const std::string script =
        fill_in(embedded::uname, {{"RELEASE", kernel}, {"MACHINE", machine}});
    fs::path directory =
        ctx.visible() / ("sandbox-" + sha256_hex(fmt::format("{}{}{}", script, launcher_image(),
                                                             fmt::join(machine_facts(machine), "")))
                                          .substr(0, 16));
    if (fs::exists(directory / "complete")) {
        return directory;
    }
    make_directories(directory);
    write_file(directory / "uname", script, 0755);
    // Owned by the image's root: dracut copies it to the initramfs with its owner.
    if (::chown((directory / "uname").c_str(), 0, 0) != 0) {
        throw errno_error((directory / "uname").string(), errno);
    }
    write_file(directory / "osrelease", kernel + "\n", 0444);
    write_file(directory / "kernel-version", "#1 SMP\n", 0444);
    write_file(directory / "version",
               fmt::format("Linux version {} (builder@localhost) #1 SMP\n", kernel), 0444);
    write_file(directory / "cmdline", "\n", 0444);
    for (const auto& [name, text] : machine_facts(machine)) {
        write_file(directory / name, text, 0444);
    }
    write_file(directory / "empty", "", 0644);
    write_file(directory / "launcher", launcher_image(), 0755);
    write_file(directory / "complete", "", 0644);
    return directory;
}

}  // namespace edgegpu
