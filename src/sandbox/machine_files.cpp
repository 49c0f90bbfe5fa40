#include "sandbox/machine_files.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sandbox/launcher_image.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view uname_shim = R"(#!/bin/sh
# Answers for the image's kernel: the builder's must not be seen.
s=; n=; r=; v=; m=; p=; i=; o=
[ $# -eq 0 ] && s=1
for argument in "$@"; do
    case $argument in
    --all) s=1 n=1 r=1 v=1 m=1 p=1 i=1 o=1 ;;
    --kernel-name) s=1 ;;
    --nodename) n=1 ;;
    --kernel-release) r=1 ;;
    --kernel-version) v=1 ;;
    --machine) m=1 ;;
    --processor) p=1 ;;
    --hardware-platform) i=1 ;;
    --operating-system) o=1 ;;
    --*) echo "uname: unrecognized option '$argument'" >&2; exit 1 ;;
    -?*)
        letters=${argument#-}
        while [ -n "$letters" ]; do
            rest=${letters#?}
            case ${letters%"$rest"} in
            a) s=1 n=1 r=1 v=1 m=1 p=1 i=1 o=1 ;;
            s) s=1 ;;
            n) n=1 ;;
            r) r=1 ;;
            v) v=1 ;;
            m) m=1 ;;
            p) p=1 ;;
            i) i=1 ;;
            o) o=1 ;;
            *) echo "uname: invalid option -- '$letters'" >&2; exit 1 ;;
            esac
            letters=$rest
        done ;;
    *) echo "uname: extra operand '$argument'" >&2; exit 1 ;;
    esac
done
line=
[ -n "$s" ] && line="$line Linux"
[ -n "$n" ] && line="$line localhost"
[ -n "$r" ] && line="$line @RELEASE@"
[ -n "$v" ] && line="$line #1 SMP"
[ -n "$m" ] && line="$line @MACHINE@"
[ -n "$p" ] && line="$line @MACHINE@"
[ -n "$i" ] && line="$line @MACHINE@"
[ -n "$o" ] && line="$line GNU/Linux"
echo "${line# }"
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// A kernel release goes into a script and into files of /proc.
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
    std::string script(uname_shim);
    replace_all(script, "@RELEASE@", kernel);
    replace_all(script, "@MACHINE@", machine);
    fs::path directory =
        ctx.work() /
        ("sandbox-" + sha256_hex(script + std::string(launcher_image())).substr(0, 16));
    if (fs::exists(directory / "complete")) {
        return directory;
    }
    make_directories(directory);
    write_file(directory / "uname", script, 0755);
    // The image's root, as dracut takes it into the initramfs with its owner.
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
