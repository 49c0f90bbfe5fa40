#include "sandbox/machine_files.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "embedded_machine_files.hpp"
#include "sandbox/launcher_image.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/shell_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Throws for a kernel release with other characters, since it becomes part of a shell script.
void check_kernel(const std::string& kernel) {
    const bool plain = std::all_of(kernel.begin(), kernel.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._+-~").find(c) != std::string_view::npos;
    });
    if (!plain) {
        throw error("'{}' is not a kernel release", kernel);
    }
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
        ctx.work() /
        ("sandbox-" + sha256_hex(script + std::string(launcher_image())).substr(0, 16));
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
    write_file(directory / "empty", "", 0644);
    write_file(directory / "launcher", launcher_image(), 0755);
    write_file(directory / "complete", "", 0644);
    return directory;
}

}  // namespace edgegpu
