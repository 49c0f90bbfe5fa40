#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "support/handles.hpp"

namespace edgegpu {

/// What a program may use with all that it starts; 0: as much as it likes.
struct ProcessLimits {
    /// from its start to its end
    std::chrono::seconds time{0};
    /// of all its processes together, resident, and the data segment of each; bytes
    std::uint64_t memory = 0;
    /// at the same time
    unsigned processes = 0;
    /// of one file that it writes, bytes
    std::uint64_t file_size = 0;
    /// the file system that must keep `disk_left` bytes free
    std::filesystem::path disk;
    std::uint64_t disk_left = 0;
};

/// What ended a program: itself, or the limit that it had reached.
enum class Ended { normally, time, memory, processes, file_size, disk };

/// Watches over a running program: ends what it has started, and tells when it uses too much. How
/// much memory and how many processes is known only of one that announces the first process of its
/// pid namespace, and has a /proc.
class ProcessWatch {
public:
    /// `announcement`: -1, or the end of a pipe, non-blocking, from which what
    /// `bwrap --json-status-fd` writes is read.
    ProcessWatch(const ProcessLimits& limits, int announcement);

    /// All of that, when `end_all` has returned.
    [[nodiscard]] const std::string& announced() const noexcept { return announced_; }
    /// To be polled for input before `listen`; -1: nothing will come any more.
    [[nodiscard]] int descriptor() const noexcept { return first_handle_ ? -1 : announcement_; }
    /// Reads what has been announced.
    void listen();
    /// Which limit is exceeded. Looks no more often than ten times a second.
    [[nodiscard]] Ended check();
    /// Kills all that runs in the announced pid namespace, and returns when no process of it is
    /// left: nothing holds or changes a file then. False if one did not go within half a minute.
    [[nodiscard]] bool end_all() noexcept;

private:
    [[nodiscard]] Ended exceeded() const;
    void adopt(pid_t pid, std::uint64_t pid_namespace);

    const ProcessLimits& limits_;
    int announcement_;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point looked_;
    std::string announced_;
    pid_t first_ = -1;
    Fd first_handle_;
};

}  // namespace edgegpu
