#include "sandbox/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "image/image_root.hpp"
#include "sandbox/host_name.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Mounted freshly in every sandbox. Those that an image lacks are made and stay: it needs them.
constexpr std::array<std::string_view, 5> mount_points{"/dev", "/proc", "/run", "/tmp", "/var/tmp"};

/// What scriptlets of packages need: owners, modes, file capabilities, other users, chroot. Not
/// kept: mounting, modules, network, tracing, devices, file handles, the clock.
constexpr std::array<std::string_view, 10> kept_capabilities{
    "CAP_CHOWN",  "CAP_DAC_OVERRIDE", "CAP_FOWNER",  "CAP_FSETID",  "CAP_KILL",
    "CAP_SETGID", "CAP_SETUID",       "CAP_SETPCAP", "CAP_SETFCAP", "CAP_SYS_CHROOT"};

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

/// Files that stand for the builder's in every sandbox of one kernel. Written once under a name
/// that their content decides, so that sandboxes may start side by side.
struct Shims {
    fs::path directory;

    Shims(const Context& ctx, const std::string& wanted) {
        check_kernel(wanted);
        const std::string kernel = wanted.empty() ? "0.0.0" : wanted;
        struct utsname builder {};
        ::uname(&builder);
        const std::string machine = static_cast<const char*>(builder.machine);
        std::string script(uname_shim);
        replace_all(script, "@RELEASE@", kernel);
        replace_all(script, "@MACHINE@", machine);
        directory = ctx.cache / "work" / ("sandbox-" + sha256_hex(script).substr(0, 16));
        if (fs::exists(directory / "complete")) {
            return;
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
        write_file(directory / "complete", "", 0644);
    }
};

bool below_fresh_mount(const std::string& path) {
    return std::any_of(mount_points.begin(), mount_points.end(), [&](std::string_view point) {
        return path == point || path.starts_with(fmt::format("{}/", point));
    });
}

/// Mount points that bubblewrap makes inside the image for binds; removed again afterwards.
class BindPoints {
public:
    explicit BindPoints(const ImageRoot& root) : root_(root) {}
    BindPoints(const BindPoints&) = delete;
    BindPoints& operator=(const BindPoints&) = delete;
    ~BindPoints() {
        std::sort(made_.begin(), made_.end(), std::greater<>());
        for (const std::string& path : made_) {
            try {
                remove_unused(path);
            } catch (const Error&) {
                // It stays, and the next look at the root finds it.
            }
        }
    }

    /// Notes what is missing on the way to `path`, which has no links in it.
    void expect(const std::string& path) {
        if (below_fresh_mount(path)) {
            return;
        }
        std::string current;
        for (const fs::path& part : fs::path(path).relative_path()) {
            current += "/" + part.string();
            if (!root_.status(current)) {
                made_.push_back(current);
            }
        }
    }

private:
    /// Programs may have put something there.
    void remove_unused(const std::string& path) const {
        const std::optional<struct stat> found = root_.status(path);
        if (found && ((S_ISREG(found->st_mode) && found->st_size == 0) ||
                      (S_ISDIR(found->st_mode) && root_.list(path).empty()))) {
            root_.remove(path);
        }
    }

    const ImageRoot& root_;
    std::vector<std::string> made_;
};

void make_mount_points(const ImageRoot& root) {
    for (const std::string_view point : mount_points) {
        if (!root.has_directory(point)) {
            root.make_directories(point);
            root.make_directory(root.resolve(point),
                                {0, 0, point.ends_with("tmp") ? 01777U : 0755U, {}});
        }
    }
}

std::vector<std::string> fixed_environment(const Context& ctx) {
    return {"HOME=/root",
            "LC_ALL=C.UTF-8",
            "TZ=UTC",
            fmt::format("SOURCE_DATE_EPOCH={}", ctx.source_date_epoch),
            "SYSTEMD_OFFLINE=1",
            "PYTHONDONTWRITEBYTECODE=1",
            "PYTHONHASHSEED=0"};
}

void append(std::vector<std::string>& argv, std::initializer_list<std::string> more) {
    argv.insert(argv.end(), more);
}

/// Appends "--setenv K V" for "K=V".
void append_variable(std::vector<std::string>& argv, const std::string& variable) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw error("'{}' is not an environment variable K=V", variable);
    }
    append(argv, {"--setenv", variable.substr(0, equals), variable.substr(equals + 1)});
}

/// Puts the uname shim over the image's own; returns the PATH of the sandbox.
std::string append_uname(std::vector<std::string>& argv, const ImageRoot& root,
                         const Shims& shims) {
    constexpr std::string_view path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    const std::string directory = root.resolve("/usr/bin");
    const std::string shim = (shims.directory / "uname").string();
    const std::optional<struct stat> own = root.status(directory + "/uname");
    if (own && S_ISREG(own->st_mode)) {
        append(argv, {"--ro-bind", shim, directory + "/uname"});
    } else if (own && S_ISLNK(own->st_mode)) {
        // A link into a multi-call binary: a bind would replace that binary as a whole.
        append(argv, {"--ro-bind", shim, "/run/edgegpu/uname"});
        return std::string(path).insert(std::string_view("PATH=").size(), "/run/edgegpu:");
    }
    return std::string(path);
}

/// Where a bind's source is. What a descriptor stands for is named by its path, as bubblewrap would
/// do it: a descriptor handed over would reach the program, and lead it out of the image.
std::string source_of(const fs::path& source) {
    if (!source.string().starts_with("/proc/self/fd/")) {
        return source.string();
    }
    struct stat open {};
    struct stat named {};
    std::error_code code;
    const fs::path path = fs::read_symlink(source, code);
    if (code || ::stat(source.c_str(), &open) != 0 || ::lstat(path.c_str(), &named) != 0 ||
        open.st_dev != named.st_dev || open.st_ino != named.st_ino) {
        throw error("{} (once {}) cannot be shown to a program of the image: it is gone",
                    source.string(), path.string());
    }
    return path.string();
}

std::vector<std::string> bubblewrap(const Context& ctx, const SandboxCommand& command,
                                    const ImageRoot& root, const Shims& shims, BindPoints& points) {
    // Not --unshare-all: it would make a user namespace that knows one id only. What bubblewrap
    // mounts belongs to the build's namespace; the program is in the one below.
    std::vector<std::string> argv{"bwrap",
                                  "--unshare-ipc",
                                  "--unshare-pid",
                                  "--unshare-net",
                                  "--unshare-uts",
                                  "--unshare-cgroup-try",
                                  "--die-with-parent",
                                  "--new-session",
                                  "--clearenv",
                                  "--userns2",
                                  std::to_string(image_user_namespace())};
    for (const std::string& word : host_name_arguments()) {
        argv.push_back(word);
    }
    append(argv, {"--cap-drop", "ALL"});
    for (const std::string_view capability : kept_capabilities) {
        append(argv, {"--cap-add", std::string(capability)});
    }
    append(argv, {command.read_only_root ? "--ro-bind" : "--bind", command.root.string(), "/"});
    const auto point = [&](const std::string& path) { return root.resolve(path); };
    append(argv, {"--dev", point("/dev"), "--proc", point("/proc")});
    for (const std::string path : {"/tmp", "/var/tmp"}) {
        append(argv, {"--perms", "1777", "--tmpfs", point(path)});
    }
    append(argv, {"--perms", "0755", "--tmpfs", point("/run")});
    const auto shim = [&](const std::string& file, const std::string& place) {
        append(argv, {"--ro-bind", (shims.directory / file).string(), place});
    };
    shim("empty", "/run/ostree-booted");
    shim("osrelease", "/proc/sys/kernel/osrelease");
    shim("kernel-version", "/proc/sys/kernel/version");
    shim("version", "/proc/version");
    shim("cmdline", "/proc/cmdline");
    const std::string path = append_uname(argv, root, shims);

    for (const auto& [source, target] : command.read_only_binds) {
        points.expect(point(target));
        append(argv, {"--ro-bind", source_of(source), point(target)});
    }
    for (const auto& [source, target] : command.writable_binds) {
        points.expect(point(target));
        append(argv, {"--bind", source_of(source), point(target)});
    }
    append_variable(argv, path);
    for (const std::string& variable : fixed_environment(ctx)) {
        append_variable(argv, variable);
    }
    for (const std::string& variable : command.env) {
        append_variable(argv, variable);
    }
    append(argv, {"--chdir", "/", "--"});
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    return argv;
}

}  // namespace

ProcessResult run_in_sandbox(const Context& ctx, const SandboxCommand& command) {
    if (command.argv.empty()) {
        throw error("no program to run in the sandbox");
    }
    if (!command.root.is_absolute() || !fs::is_directory(command.root)) {
        throw error("{}: not a directory to run '{}' in", command.root.string(),
                    command.argv.front());
    }
    const Shims shims(ctx, command.kernel);
    const ImageRoot root(command.root);
    make_mount_points(root);
    BindPoints points(root);
    for (const auto& [source, target] : command.writable_binds) {
        if (::lchown(source_of(source).c_str(), 0, 0) != 0) {
            throw errno_error(source.string(), errno);
        }
    }
    ProcessRequest request;
    request.argv = bubblewrap(ctx, command, root, shims, points);
    request.input = command.input;
    request.as_root_of_namespace = true;
    request.descriptors = {image_user_namespace()};
    ProcessResult result = run_process(ctx, request);
    // bubblewrap speaks only when it could not start the program.
    if (result.status == 1 && result.output.starts_with("bwrap: ")) {
        const std::string reason = result.output.substr(std::string_view("bwrap: ").size());
        throw error("cannot run '{}' in the image: {}", command.argv.front(),
                    reason.substr(0, reason.find('\n')))
            .hinted(
                "the sandbox needs bubblewrap, and inside a container a /proc that nothing "
                "covers (docs/pipelines.md); the image needs the program");
    }
    return result;
}

}  // namespace edgegpu
