#include "sandbox/tool.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "execution/program_path.hpp"
#include "sandbox/bubblewrap.hpp"
#include "sandbox/host_name.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view work_place = "/work";
constexpr std::string_view program_place = "/program";
constexpr std::string_view search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin";
/// User and group id of the program in the sandbox: not root, which some calls treat differently.
constexpr std::string_view own_id = "1000";

using Words = std::vector<std::string>;

/// Adds the builder's programs and libraries; /bin, /lib, … may be links or directories.
void append_programs(Words& argv) {
    append_words(argv, {"--ro-bind", "/usr", "/usr"});
    for (const char* const name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
        std::error_code code;
        const fs::file_status status = fs::symlink_status(name, code);
        if (fs::is_symlink(status)) {
            append_words(argv, {"--symlink", fs::read_symlink(name).string(), name});
        } else if (fs::is_directory(status)) {
            append_words(argv, {"--ro-bind", name, name});
        }
    }
    for (const char* const name : {"/etc/alternatives", "/etc/ld.so.cache"}) {
        append_words(argv, {"--ro-bind-try", name, name});
    }
}

/// Limits the program's memory, processor time and file size.
void append_limits(Words& argv) {
    constexpr rlim_t largest_file = 512U << 20U;
    // Nobody but root can raise a hard limit.
    struct rlimit inherited {};
    const bool known = ::getrlimit(RLIMIT_FSIZE, &inherited) == 0;
    const rlim_t files = known ? std::min(inherited.rlim_max, largest_file) : largest_file;
    append_words(argv, {"prlimit", "--as=2147483648", "--cpu=30", fmt::format("--fsize={}", files),
                        "--core=0", "--"});
}

/// Files and directories that only the sandbox of one program has.
struct Additions {
    /// ToolCommand::tree, at `tool_tree`; empty: none
    fs::path tree;
    /// a file, and where it is; empty: none
    fs::path program;
    fs::path program_place;
};

/// The command line of the sandbox, up to the program; `directory` is mounted at `work_place`.
Words sandbox(const fs::path& directory, const Additions& additions) {
    Words argv{"bwrap",
               "--unshare-user",
               "--unshare-ipc",
               "--unshare-pid",
               "--unshare-net",
               "--unshare-uts",
               "--unshare-cgroup-try",
               "--uid",
               std::string(own_id),
               "--gid",
               std::string(own_id),
               "--new-session",
               "--clearenv"};
    append_words(argv, host_name_arguments());
    append_words(argv, {"--die-with-parent", "--cap-drop", "ALL"});
    append_programs(argv);
    append_words(argv, {"--dev", "/dev", "--tmpfs", "/tmp"});
    if (!additions.tree.empty()) {
        append_words(argv, {"--ro-bind", additions.tree.string(), std::string(tool_tree)});
    }
    if (!additions.program.empty()) {
        append_words(argv,
                     {"--ro-bind", additions.program.string(), additions.program_place.string()});
    }
    const std::string place(work_place);
    append_words(argv,
                 {"--bind", directory.string(), place, "--chdir", place, "--remount-ro", "/"});
    append_words(argv, {"--setenv", "PATH", std::string(search_path), "--setenv", "HOME", place,
                        "--setenv", "LC_ALL", "C", "--setenv", "TZ", "UTC", "--"});
    append_limits(argv);
    return argv;
}

/// A temporary directory for one run, removed on destruction. It is in the build's slot of work/,
/// where the next build removes what a killed one left.
class WorkDirectory {
public:
    explicit WorkDirectory(const Context& ctx)
        : directory_(parent_of_work(ctx) / "edgegpu-tool"),
          handle_(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {
        if (!handle_) {
            throw errno_error(path().string(), errno);
        }
    }
    [[nodiscard]] const fs::path& path() const noexcept { return directory_.path(); }

    /// Reads a file that the program wrote to `out`; false if it does not exist or is not a regular
    /// file.
    [[nodiscard]] bool read(const std::string& name, std::uint64_t limit, std::string& out) const {
        const Fd file(
            ::openat(handle_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        struct stat status {};
        if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
            return false;
        }
        out = read_file(file.get(), name, limit);
        return true;
    }

private:
    static fs::path parent_of_work(const Context& ctx) {
        const fs::path parent = ctx.cache.empty() ? temporary_directory() : ctx.work();
        make_directories(parent);
        return fs::absolute(parent);
    }

    TemporaryDirectory directory_;
    Fd handle_;
};

/// The beginning of messages of the programs that start the tool.
constexpr std::string_view prlimit_failed = "prlimit: failed to execute ";
constexpr std::string_view bubblewrap_failed = "bwrap: ";

Error not_found(std::string_view program) {
    return error("{}: program not found", program)
        .hinted("install its package; scripts/setup installs everything that is needed");
}

Error no_sandbox(std::string_view program, std::string_view line) {
    return error("cannot run '{}' in a sandbox: {}", program, line.substr(bubblewrap_failed.size()))
        .hinted(line.find("Unknown option") != std::string_view::npos
                    ? "bubblewrap 0.5 or newer is needed: bwrap --version"
                    : "programs that read untrusted files run under bubblewrap, which needs user "
                      "namespaces (sysctl kernel.unprivileged_userns_clone=1); in a container: "
                      "docs/pipelines.md");
}

/// Throws if the program was not started.
void check_started(const ToolCommand& command, const ProcessResult& result) {
    const std::string_view output = result.output;
    const std::string_view line = output.substr(0, output.find('\n'));
    if (result.status == 127 && line.starts_with(prlimit_failed)) {
        throw not_found(command.argv.front());
    }
    if (result.status == 1 && line.starts_with(bubblewrap_failed)) {
        throw no_sandbox(command.argv.front(), line);
    }
}

/// How the program is called in the sandbox; adds its file if that is not in /usr. It keeps its
/// name, by which some decide what they are.
std::string place_program(const ToolCommand& command, Additions& additions) {
    if (command.program.empty()) {
        return command.argv.front();
    }
    std::error_code code;
    const fs::path real = fs::canonical(command.program, code);
    if (code) {
        throw error("{}: {}", command.program.string(), code.message());
    }
    if (command.program.string().starts_with("/usr/") && real.string().starts_with("/usr/")) {
        return command.program.string();
    }
    additions.program = real;
    additions.program_place = fs::path(program_place) / command.program.filename();
    return additions.program_place.string();
}

/// Writes ToolCommand::tree into a new directory.
void write_tree(const fs::path& top, const std::map<std::string, std::string>& files) {
    for (const auto& [name, content] : files) {
        const fs::path path(name);
        if (name.empty() || path.is_absolute() ||
            std::ranges::any_of(path, [](const fs::path& part) {
                return part.empty() || part == "." || part == "..";
            })) {
            throw error("'{}' is not the path of a file", name);
        }
        make_directories((top / path).parent_path());
        write_file(top / path, content, 0444);
    }
}

}  // namespace

ToolResult run_tool(const Context& ctx, const ToolCommand& command) {
    if (command.argv.empty()) {
        throw Error("no program to run in a sandbox");
    }
    const WorkDirectory directory(ctx);
    for (const auto& [name, content] : command.inputs) {
        if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
            throw error("'{}' is not the name of a file", name);
        }
        write_file(directory.path() / name, content, 0444);
    }
    std::optional<WorkDirectory> tree;
    if (!command.tree.empty()) {
        tree.emplace(ctx);
        write_tree(tree->path(), command.tree);
    }
    Additions additions;
    additions.tree = tree ? tree->path() : fs::path();
    const std::string program = place_program(command, additions);
    Words argv = sandbox(directory.path(), additions);
    argv.push_back(program);
    argv.insert(argv.end(), command.argv.begin() + 1, command.argv.end());
    ProcessRequest request;
    request.argv = std::move(argv);
    request.inner_argv = command.argv;
    request.inner_root = directory.path().string();
    request.limits.time = command.time;
    ProcessResult ended = run_bubblewrap(ctx, std::move(request));
    check_started(command, ended);
    ToolResult result{ended.status, ended.ended, std::move(ended.output), {}};
    for (const std::string& name : command.outputs) {
        std::string content;
        if (directory.read(name, command.output_limit, content)) {
            result.files.emplace(name, std::move(content));
        }
    }
    return result;
}

fs::path tool_file(std::string_view program) {
    return find_program(program, search_path);
}

}  // namespace edgegpu
