#include "sandbox/user_namespace.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sched.h>
#include <shadow/subid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "image/id_map.hpp"
#include "sandbox/limits.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

struct State {
    Fd image;
    std::string owner;
};

/// The state of the process: namespaces belong to the process as a whole.
State& state() {
    static State value;
    return value;
}

std::string user_name(uid_t uid) {
    const struct passwd* entry = ::getpwuid(uid);
    return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

/// The content of a file of /proc or /etc; empty if it cannot be read.
std::string read_small(const char* path) {
    const Handle<FILE, std::fclose> file(std::fopen(path, "re"));
    std::string text;
    std::array<char, 4096> buffer{};
    std::size_t got = 0;
    while (file && (got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
        text.append(buffer.data(), got);
    }
    return text;
}

// ---- which ids -----------------------------------------------------------------------------

enum class IdKind { user, group };

std::vector<IdRange> subordinate_ranges(const std::string& user, IdKind kind) {
    // A second call would leak what the first one allocated.
    [[maybe_unused]] static const bool initialised = subid_init("edgegpu", nullptr);
    struct subid_range* found = nullptr;
    const int count = kind == IdKind::user ? subid_get_uid_ranges(user.c_str(), &found)
                                           : subid_get_gid_ranges(user.c_str(), &found);
    const Handle<struct subid_range, std::free> owned(found);
    std::vector<IdRange> ranges;
    ranges.reserve(static_cast<std::size_t>(std::max(count, 0)));
    for (int i = 0; i < count; ++i) {
        ranges.push_back({static_cast<std::uint32_t>(found[i].start),
                          static_cast<std::uint32_t>(found[i].count)});
    }
    return ranges;
}

Error too_few_ids(const std::string& user, IdKind kind) {
    const char* file = kind == IdKind::user ? "/etc/subuid" : "/etc/subgid";
    return error(
               "{} gives user {} fewer than {} ids, which edgegpu needs for the owners of an "
               "image's files",
               file, user, image_ids)
        .hinted(fmt::format("sudo usermod --add-subuids 100000-165535 --add-subgids "
                            "100000-165535 {} (a range that no other line of {} has)",
                            user, file));
}

IdMap map_of(IdKind kind) {
    const bool users = kind == IdKind::user;
    if (::geteuid() != 0) {
        const std::string user = user_name(::getuid());
        IdMap map = map_for_user(subordinate_ranges(user, kind), users ? ::getuid() : ::getgid());
        if (map.empty()) {
            throw too_few_ids(user, kind);
        }
        return map;
    }
    const IdMap current =
        parse_id_map(read_small(users ? "/proc/self/uid_map" : "/proc/self/gid_map"));
    IdMap map = map_for_root(
        current, parse_subordinate_file(read_small(users ? "/etc/subuid" : "/etc/subgid")));
    if (map.empty()) {
        throw error(
            "the user namespace of this container has fewer than {} ids besides root's, which "
            "edgegpu needs for the owners of an image's files",
            image_ids)
            .hinted(
                "start the container with a range of 65536 ids or more, as rootless podman "
                "does with the user's range of /etc/subuid");
    }
    return map;
}

// ---- entering ------------------------------------------------------------------------------

Error namespace_error(int code) {
    Error problem = errno_error("cannot create the user namespace of the build", code);
    if (code == ENOSPC) {
        return problem.hinted("sudo sysctl user.max_user_namespaces=28633");
    }
    if (read_small("/proc/sys/kernel/unprivileged_userns_clone").starts_with('0')) {
        return problem.hinted("sudo sysctl kernel.unprivileged_userns_clone=1");
    }
    return problem.hinted(
        "inside a container, its seccomp profile has to allow unshare(2) and mount(2): "
        "docs/pipelines.md");
}

[[noreturn]] void run_program(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words) {
        argv.push_back(const_cast<char*>(word.c_str()));  // execv(3) does not change it
    }
    argv.push_back(nullptr);
    ::execvp(argv.front(), argv.data());
    ::_exit(errno == ENOENT ? 127 : 126);
}

/// Runs newuidmap(1) or newgidmap(1), which are set-id root and check the map against /etc/subuid;
/// returns the exit status.
int map_by_program(const char* program, const std::string& pid, const IdMap& map) {
    std::vector<std::string> words{program, pid};
    for (const IdExtent& extent : map) {
        for (const std::uint32_t number : {extent.inside, extent.outside, extent.count}) {
            words.push_back(std::to_string(number));
        }
    }
    const pid_t child = ::fork();
    if (child == 0) {
        run_program(words);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

/// 0 or errno.
int write_map(const std::string& path, const IdMap& map) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string text = format_id_map(map);
    return file && ::write(file.get(), text.data(), text.size()) ==
                       static_cast<ssize_t>(text.size())
               ? 0
               : errno;
}

/// How a map is written: to the file in /proc, or for an ordinary user by one of the programs.
enum class Mapper { proc, newuidmap, newgidmap };

const char* name_of(Mapper mapper) {
    return mapper == Mapper::newuidmap ? "newuidmap" : "newgidmap";
}

/// A failure to write the maps of a process.
struct MapFailure {
    Mapper mapper = Mapper::proc;
    /// exit status of the program, or errno
    int code = 0;
};

MapFailure write_maps(pid_t pid, const IdMap& users, const IdMap& groups, bool by_program) {
    const std::string number = std::to_string(pid);
    if (!by_program) {
        const int code = write_map("/proc/" + number + "/gid_map", groups);
        return {Mapper::proc, code != 0 ? code : write_map("/proc/" + number + "/uid_map", users)};
    }
    for (const auto& [mapper, map] :
         {std::pair{Mapper::newgidmap, &groups}, {Mapper::newuidmap, &users}}) {
        if (const int code = map_by_program(name_of(mapper), number, *map); code != 0) {
            return {mapper, code};
        }
    }
    return {};
}

Error map_error(const MapFailure& failure) {
    if (failure.mapper == Mapper::proc) {
        return errno_error("cannot map the ids of an image in a user namespace", failure.code)
            .hinted(
                "root of a container needs CAP_SETUID, CAP_SETGID and CAP_SETFCAP for that: "
                "docs/pipelines.md");
    }
    if (failure.code == 127) {
        return error("{} is not installed: it maps the ids of an image for ordinary users",
                     name_of(failure.mapper))
            .hinted(
                "sudo apt-get install uidmap (Debian, Ubuntu), or sudo dnf install "
                "shadow-utils");
    }
    return error("{} refused to map the ids of an image (exit status {}; its message is above)",
                 name_of(failure.mapper), failure.code)
        .hinted(fmt::format("it has to be set-id root or to have file capabilities, on a file "
                            "system without nosuid: ls -l $(command -v {})",
                            name_of(failure.mapper)));
}

/// The value that the other process of a pair writes; the default if it ended without one. A
/// signal, such as the user's interruption, must not be taken for its answer: the build ends where
/// stages ask for it.
template <typename T>
T value_from(const Fd& pipe, T otherwise) {
    T value{};
    ssize_t got = 0;
    while ((got = ::read(pipe.get(), &value, sizeof value)) < 0 && errno == EINTR) {
    }
    return got == static_cast<ssize_t>(sizeof value) ? value : otherwise;
}

/// Pipes carry so little at once or not at all; whom it does not reach has ended.
template <typename T>
void send_value(const Fd& pipe, const T& value) {
    [[maybe_unused]] const ssize_t put = ::write(pipe.get(), &value, sizeof value);
}

/// Calls unshare(2) in this process; a child, which stays outside, then writes its maps.
void enter_mapped(const IdMap& users, const IdMap& groups) {
    const bool by_program = ::geteuid() != 0;
    auto [ready_read, ready_write] = make_pipe();
    auto [done_read, done_write] = make_pipe();
    const pid_t own = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw errno_error("fork", errno);
    }
    if (child == 0) {
        ready_write.reset();
        if (value_from(ready_read, false)) {
            send_value(done_write, write_maps(own, users, groups, by_program));
        }
        ::_exit(0);
    }
    const int code = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno;
    if (code == 0) {
        send_value(ready_write, true);
    }
    ready_write.reset();
    done_write.reset();
    const MapFailure failure = value_from(done_read, MapFailure{Mapper::proc, EIO});
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (code != 0) {
        throw namespace_error(code);
    }
    if (failure.code != 0) {
        throw map_error(failure);
    }
}

/// Creates a nested user namespace that has only the image's ids.
Fd make_image_namespace() {
    auto [ready_read, ready_write] = make_pipe();
    auto [done_read, done_write] = make_pipe();
    const pid_t child = ::fork();
    if (child < 0) {
        throw errno_error("fork", errno);
    }
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        done_write.reset();
        // Since Linux 5.14, this limit applies to all ids of the new namespace together.
        const rlim_t most = processes_of_a_build();
        const struct rlimit processes { most, most };
        ::setrlimit(RLIMIT_NPROC, &processes);
        send_value(ready_write, ::unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
        value_from(done_read, false);  // not before its namespace is open there
        ::_exit(0);
    }
    ready_write.reset();
    const std::string process = fmt::format("/proc/{}/", child);
    const IdMap map{{0, 0, image_ids}};
    int code = value_from(ready_read, EIO);
    code = code == 0 ? write_map(process + "gid_map", map) : code;
    code = code == 0 ? write_map(process + "uid_map", map) : code;
    Fd made(::open((process + "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    done_write.reset();
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (code != 0 || !made) {
        throw namespace_error(code != 0 ? code : EIO);
    }
    return made;
}

}  // namespace

void enter_build_namespace() {
    if (state().image) {
        return;
    }
    const IdMap users = map_of(IdKind::user);
    const IdMap groups = map_of(IdKind::group);
    enter_mapped(users, groups);
    // Not private: mounts and unmounts of the user must be propagated to the build.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
        throw errno_error("cannot mount anything in a user namespace", errno)
            .hinted(
                "on Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an "
                "AppArmor profile for edgegpu that allows userns");
    }
    state().image = make_image_namespace();
    for (const IdMap* map : {&users, &groups}) {
        for (const IdExtent& extent : *map) {
            if (extent.inside < image_ids) {
                state().owner += fmt::format("{}+{} ", extent.outside, extent.count);
            }
        }
    }
}

int image_user_namespace() {
    if (!state().image) {
        throw Error("programs of an image run only in the build's namespace");
    }
    return state().image.get();
}

std::string image_owner() {
    return state().owner;
}

}  // namespace edgegpu
