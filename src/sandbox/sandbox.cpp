#include "sandbox/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "image/image_root.hpp"
#include "sandbox/bubblewrap.hpp"
#include "sandbox/host_name.hpp"
#include "sandbox/launcher_image.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/machine_files.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// New mounts in each sandbox. Directories that an image does not have are created and stay, since
/// it needs them.
constexpr std::array<std::string_view, 5> mount_points{"/dev", "/proc", "/run", "/tmp", "/var/tmp"};

struct Capability {
    const char* name;
    unsigned number;
};

/// The capabilities that scriptlets need, over the image's ids only.
constexpr std::array kept_capabilities{
    Capability{"CAP_CHOWN", CAP_CHOWN},                // chown to users of packages
    Capability{"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE},  // write to directories of these users
    Capability{"CAP_FOWNER", CAP_FOWNER},              // chmod and touch of their files
    Capability{"CAP_FSETID", CAP_FSETID},     // keep set-id bits when owner or mode changes
    Capability{"CAP_SETUID", CAP_SETUID},     // su, runuser, setpriv
    Capability{"CAP_SETGID", CAP_SETGID},     // the same
    Capability{"CAP_SETFCAP", CAP_SETFCAP}};  // setcap

/// Files of /proc that describe the machine or give access to its memory: empty in a sandbox.
constexpr std::array<std::string_view, 14> masked_files{
    "/proc/kcore",         "/proc/keys",       "/proc/key-users",   "/proc/kmsg",
    "/proc/kallsyms",      "/proc/kpagecount", "/proc/kpageflags",  "/proc/kpagecgroup",
    "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/vmallocinfo",   "/proc/config.gz"};
/// The same for directories.
constexpr std::array<std::string_view, 3> masked_directories{"/proc/acpi", "/proc/asound",
                                                             "/proc/scsi"};
/// Paths in /proc that are read-only in a sandbox.
constexpr std::array<std::string_view, 5> read_only_paths{"/proc/bus", "/proc/fs", "/proc/irq",
                                                          "/proc/sys", "/proc/sysrq-trigger"};

bool below_fresh_mount(const std::string& path) {
    return std::ranges::any_of(mount_points, [&](std::string_view point) {
        return path == point || path.starts_with(fmt::format("{}/", point));
    });
}

/// Mount points that bubblewrap creates in the image for bind mounts; removed on destruction.
class BindPoints {
public:
    explicit BindPoints(const ImageRoot& root) : root_(root) {}
    BindPoints(const BindPoints&) = delete;
    BindPoints& operator=(const BindPoints&) = delete;
    ~BindPoints() {
        std::ranges::sort(made_, std::greater<>());
        for (const std::string& path : made_) {
            try {
                remove_unused(path);
            } catch (const Error&) {
                // It stays, and sync_tree finds it.
            }
        }
    }

    /// Notes the components of `path`, which contains no links, that do not exist.
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
    /// Removes it if it is empty: programs may have used it.
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

/// Appends "--setenv K V" for "K=V".
void append_variable(std::vector<std::string>& argv, const std::string& variable) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw error("'{}' is not an environment variable K=V", variable);
    }
    append_words(argv, {"--setenv", variable.substr(0, equals), variable.substr(equals + 1)});
}

/// Replaces the image's uname with the script; returns the sandbox's "PATH=…".
std::string append_uname(std::vector<std::string>& argv, const ImageRoot& root,
                         const fs::path& files) {
    constexpr std::string_view path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    const std::string directory = root.resolve("/usr/bin");
    const std::string shim = (files / "uname").string();
    const std::optional<struct stat> own = root.status(directory + "/uname");
    if (own && S_ISREG(own->st_mode)) {
        append_words(argv, {"--ro-bind", shim, directory + "/uname"});
    } else if (own && S_ISLNK(own->st_mode)) {
        // A link to a multi-call binary, which a bind mount would replace as a whole.
        append_words(argv, {"--ro-bind", shim, "/run/edgegpu/uname"});
        return std::string(path).insert(std::string_view("PATH=").size(), "/run/edgegpu:");
    }
    return std::string(path);
}

/// Masks paths in the sandbox's /proc, which has the same files as the machine's.
void append_proc(std::vector<std::string>& argv, const fs::path& files) {
    const auto there = [](std::string_view path) { return ::access(path.data(), F_OK) == 0; };
    for (const std::string_view path : read_only_paths) {
        if (there(path)) {
            append_words(argv, {"--ro-bind", std::string(path), std::string(path)});
        }
    }
    for (const std::string_view path : masked_files) {
        if (there(path)) {
            append_words(argv, {"--ro-bind", (files / "empty").string(), std::string(path)});
        }
    }
    for (const std::string_view path : masked_directories) {
        if (there(path)) {
            append_words(argv, {"--tmpfs", std::string(path), "--remount-ro", std::string(path)});
        }
    }
    // Process 1 is bubblewrap itself: its memory, which programs must not change, and its
    // arguments, which have paths of the builder.
    append_words(argv, {"--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"});
    for (const auto& [file, place] : {std::pair{"osrelease", "/proc/sys/kernel/osrelease"},
                                      {"kernel-version", "/proc/sys/kernel/version"},
                                      {"version", "/proc/version"},
                                      {"cmdline", "/proc/cmdline"},
                                      {"cpuinfo", "/proc/cpuinfo"},
                                      {"diskstats", "/proc/diskstats"},
                                      {"loadavg", "/proc/loadavg"},
                                      {"meminfo", "/proc/meminfo"},
                                      {"modules", "/proc/modules"},
                                      {"partitions", "/proc/partitions"},
                                      {"stat", "/proc/stat"},
                                      {"swaps", "/proc/swaps"},
                                      {"uptime", "/proc/uptime"}}) {
        if (there(place)) {
            append_words(argv, {"--ro-bind", (files / file).string(), place});
        }
    }
}

/// Adds the directories in memory, each with a limited size.
void append_temporary(std::vector<std::string>& argv, const ImageRoot& root) {
    const std::string size = std::to_string(temporary_space());
    for (const std::string path : {"/tmp", "/var/tmp"}) {
        append_words(argv, {"--perms", "1777", "--size", size, "--tmpfs", root.resolve(path)});
    }
    append_words(argv, {"--perms", "0755", "--size", size, "--tmpfs", root.resolve("/run")});
    const std::string dev = root.resolve("/dev");
    append_words(argv, {"--dev", dev, "--perms", "1777", "--size", size, "--tmpfs", dev + "/shm"});
    append_words(argv, {"--remount-ro", dev});
}

std::vector<std::string> bubblewrap(const Context& ctx, const SandboxCommand& command,
                                    const ImageRoot& root, const fs::path& files,
                                    BindPoints& points, int failure) {
    // Not --unshare-all, which creates a user namespace with a single id. bubblewrap's mounts
    // belong to the build's user namespace; the program runs in the nested one of the image.
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
    append_words(argv, host_name_arguments());
    // CAP_SETPCAP is for the launcher, which drops it after limiting the bounding set.
    append_words(argv, {"--cap-drop", "ALL", "--cap-add", "CAP_SETPCAP"});
    for (const Capability& capability : kept_capabilities) {
        append_words(argv, {"--cap-add", capability.name});
    }
    append_words(argv,
                 {command.read_only_root ? "--ro-bind" : "--bind", command.root.string(), "/"});
    const auto point = [&](const std::string& path) { return root.resolve(path); };
    append_words(argv, {"--proc", point("/proc")});
    append_temporary(argv, root);
    append_proc(argv, files);
    append_words(argv, {"--ro-bind", (files / "empty").string(), "/run/ostree-booted"});
    append_words(argv, {"--ro-bind", (files / "launcher").string(), std::string(launcher_path)});
    const std::string path = append_uname(argv, root, files);

    for (const auto& [source, target] : command.read_only_binds) {
        points.expect(point(target));
        append_words(argv, {"--ro-bind", source.string(), point(target)});
    }
    for (const auto& [source, target] : command.writable_binds) {
        points.expect(point(target));
        append_words(argv, {"--bind", source.string(), point(target)});
    }
    append_variable(argv, path);
    for (const std::string& variable : fixed_environment(ctx)) {
        append_variable(argv, variable);
    }
    for (const std::string& variable : command.env) {
        append_variable(argv, variable);
    }
    std::uint64_t mask = 0;
    for (const Capability& capability : kept_capabilities) {
        mask |= std::uint64_t{1} << capability.number;
    }
    append_words(argv, {"--chdir", "/", "--", std::string(launcher_path), std::to_string(failure),
                        std::to_string(mask)});
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    return argv;
}

/// Throws if the program was not started.
void check_started(const SandboxCommand& command, const ProcessResult& result, const Fd& failure) {
    int code = 0;
    if (::read(failure.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code)) {
        throw error("cannot run '{}' in the image: {}", command.argv.front(), std::strerror(code))
            .hinted("the image needs the program: add the package that contains it");
    }
    if (result.announced.find("\"exit-code\"") == std::string::npos && result.status == 1) {
        std::string_view reason = result.output;
        reason.remove_prefix(reason.starts_with("bwrap: ") ? 7 : 0);
        throw error("cannot run '{}' in the image: {}", command.argv.front(),
                    reason.substr(0, reason.find('\n')))
            .hinted(
                "the sandbox needs bubblewrap, and inside a container a /proc without mounts "
                "over it (docs/pipelines.md)");
    }
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
    const fs::path files = machine_files(ctx, command.kernel);
    const ImageRoot root(command.root);
    make_mount_points(root);
    BindPoints points(root);
    for (const auto& [source, target] : command.writable_binds) {
        if (::lchown(source.c_str(), 0, 0) != 0) {
            throw errno_error(source.string(), errno);
        }
    }
    // The launcher writes errno to it if it cannot execute the program.
    auto [failure_read, failure_write] = make_pipe(EmptyPipe::fails);
    ProcessRequest request;
    request.argv = bubblewrap(ctx, command, root, files, points, failure_write.get());
    request.inner_argv = command.argv;
    request.inner_root = command.root.string();
    request.purpose = command.name;
    request.input = command.input;
    request.as_root_of_namespace = true;
    request.descriptors = {image_user_namespace(), failure_write.get()};
    request.limits = program_limits(ctx, command.patience);
    ProcessResult result = run_bubblewrap(ctx, request, command.more_calls);
    check_limits(command.name.empty() ? fmt::format("'{}' of the image", command.argv.front())
                                      : command.name,
                 request.limits, result);
    check_started(command, result, failure_read);
    return result;
}

}  // namespace edgegpu
