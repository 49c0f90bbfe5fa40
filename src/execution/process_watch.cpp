#include "execution/process_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/ranges.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::milliseconds look_interval{100};
constexpr std::size_t announcement_limit = 65536;
constexpr int end_patience_ms = 30'000;

/// The number after `key` and any separators; nothing if there is none.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    text.remove_prefix(at + key.size());
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    return take_number<std::uint64_t>(text);
}

/// A small file of /proc; empty if its process is gone.
std::string read_proc(int directory, const std::string& path) {
    const Fd file(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::array<char, 8192> buffer{};
    const ssize_t got = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

/// Bytes of the line "KEY:   N kB".
std::uint64_t kibibytes(std::string_view text, std::string_view key) {
    return number_after(text, key).value_or(0) * 1024;
}

/// The /proc of the pid namespace of `first`, as its own processes see it; nothing if it has
/// none, or none yet: bubblewrap begins with that of the build machine, in which this process has a
/// number, so that `self` leads somewhere. Nothing of process 1 is looked at: sandboxes hide it.
Handle<DIR, closedir> open_namespace(pid_t first) {
    const std::string process = fmt::format("/proc/{}", first);
    Fd directory(::open((process + "/root/proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct statfs system {};
    char number = '\0';
    if (!directory || ::fstatfs(directory.get(), &system) != 0 ||
        system.f_type != PROC_SUPER_MAGIC ||
        ::readlinkat(directory.get(), "self", &number, 1) >= 0 || errno != ENOENT) {
        return nullptr;
    }
    return Handle<DIR, closedir>(::fdopendir(directory.release()));
}

/// The names below a /proc that are numbers of processes, `most` at most.
std::vector<std::string> list_processes(DIR* directory, std::size_t most) {
    std::vector<std::string> names;
    ::rewinddir(directory);
    while (names.size() < most) {
        const dirent* const entry = ::readdir(directory);
        if (entry == nullptr) {
            break;
        }
        std::string name(static_cast<const char*>(entry->d_name));
        if (name.find_first_not_of("0123456789") == std::string::npos) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

/// Bytes; shared memory is counted for each process.
std::uint64_t memory_of(int directory, const std::vector<std::string>& processes) {
    std::uint64_t memory = 0;
    for (const std::string& process : processes) {
        const std::string status = read_proc(directory, process + "/status");
        memory += kibibytes(status, "\nRssAnon:") + kibibytes(status, "\nRssShmem:");
    }
    return memory;
}

/// Bytes; shared memory is counted once, which takes longer.
std::uint64_t memory_without_shares(int directory, const std::vector<std::string>& processes) {
    return sum_of(processes, [&](const std::string& process) {
        return kibibytes(read_proc(directory, process + "/smaps_rollup"), "\nPss:");
    });
}

bool disk_is_full(const ProcessLimits& limits) {
    struct statvfs status {};
    return limits.disk_left != 0 && ::statvfs(limits.disk.c_str(), &status) == 0 &&
           std::uint64_t{status.f_bavail} * status.f_frsize < limits.disk_left;
}

/// Bytes of all files below the directories. Files may come and go meanwhile.
std::uint64_t bytes_below(const std::vector<std::filesystem::path>& directories) {
    namespace fs = std::filesystem;
    std::uint64_t bytes = 0;
    for (const fs::path& directory : directories) {
        std::error_code code;
        for (fs::recursive_directory_iterator at(directory, code), end; !code && at != end;
             at.increment(code)) {
            struct stat status {};
            if (::lstat(at->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
                bytes += static_cast<std::uint64_t>(status.st_size);
            }
        }
    }
    return bytes;
}

}  // namespace

ProcessWatch::ProcessWatch(const ProcessLimits& limits, int announcement)
    : limits_(limits),
      announcement_(announcement),
      began_(std::chrono::steady_clock::now()),
      looked_(began_),
      grew_(began_) {}

void ProcessWatch::listen() {
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while (announcement_ >= 0 && announced_.size() < announcement_limit &&
           (got = ::read(announcement_, buffer.data(), buffer.size())) > 0) {
        announced_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    if (got == 0) {
        announcement_ = -1;
    }
    const std::optional<std::uint64_t> pid = number_after(announced_, "\"child-pid\"");
    if (first_ < 0 && pid && announced_.find('\n') != std::string::npos) {
        adopt(static_cast<pid_t>(*pid), number_after(announced_, "\"pid-namespace\"").value_or(0));
    }
}

void ProcessWatch::adopt(pid_t pid, std::uint64_t pid_namespace) {
    // By number: glibc 2.36 declares pidfd_open without C linkage.
    Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    struct stat status {};
    const bool known = ::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &status) == 0;
    // The number belongs to another process by now.
    if (known && pid_namespace != 0 && status.st_ino != pid_namespace) {
        return;
    }
    first_ = pid;
    first_handle_ = std::move(handle);
}

Ended ProcessWatch::exceeded() const {
    const auto now = std::chrono::steady_clock::now();
    if (limits_.time.count() != 0 && now - began_ >= limits_.time) {
        return Ended::time;
    }
    if (disk_is_full(limits_)) {
        return Ended::disk;
    }
    if (!first_handle_ || (limits_.memory == 0 && limits_.processes == 0)) {
        return Ended::normally;
    }
    const Handle<DIR, closedir> directory = open_namespace(first_);
    if (!directory) {
        return Ended::normally;
    }
    // Counted before anything is read about each: with thousands competing for the processors, that
    // takes minutes, during which they go on.
    const std::size_t most = limits_.processes != 0 ? limits_.processes : SIZE_MAX - 1;
    const std::vector<std::string> processes = list_processes(directory.get(), most + 1);
    if (processes.size() > most) {
        return Ended::processes;
    }
    // Forked processes share memory: what was counted twice is not really in use.
    const int proc = ::dirfd(directory.get());
    if (limits_.memory != 0 && memory_of(proc, processes) > limits_.memory &&
        memory_without_shares(proc, processes) > limits_.memory) {
        return Ended::memory;
    }
    return Ended::normally;
}

Ended ProcessWatch::check() {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < look_interval) {
        return Ended::normally;
    }
    looked_ = now;
    const Ended reason = exceeded();
    return reason == Ended::normally ? look_at_written() : reason;
}

Ended ProcessWatch::look_at_written() {
    if (limits_.idle.count() == 0 && limits_.most_written == 0) {
        return Ended::normally;
    }
    // Any change counts: what is complete may be moved elsewhere.
    const std::uint64_t bytes = bytes_below(limits_.written);
    if (bytes != written_) {
        written_ = bytes;
        grew_ = looked_;
    }
    if (limits_.most_written != 0 && bytes > limits_.most_written) {
        return Ended::written;
    }
    return limits_.idle.count() != 0 && looked_ - grew_ >= limits_.idle ? Ended::idle
                                                                        : Ended::normally;
}

bool ProcessWatch::end_all() noexcept {
    try {
        listen();
    } catch (const std::exception&) {
        return false;
    }
    const auto gone = [](const Fd& handle) {
        pollfd event{handle.get(), POLLIN, 0};
        int ended = 0;
        while ((ended = ::poll(&event, 1, end_patience_ms)) < 0 && errno == EINTR) {
        }
        return ended > 0;
    };
    if (!first_handle_) {
        return true;
    }
    // It is the first of its pid namespace, and ends after all others of it.
    ::syscall(SYS_pidfd_send_signal, first_handle_.get(), SIGKILL, nullptr, 0);
    const bool ended = gone(first_handle_);
    first_handle_.reset();
    return ended;
}

}  // namespace edgegpu
