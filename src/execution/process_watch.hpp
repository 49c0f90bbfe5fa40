#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/handles.hpp"

namespace edgegpu {

/// What a program may use, with all that it starts; 0: without limit.
struct ProcessLimits {
    /// of running
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
    /// without writing a byte below `written`
    std::chrono::seconds idle{0};
    /// of all files below `written` together, bytes
    std::uint64_t most_written = 0;
    /// directories in which it writes; they may not exist
    std::vector<std::filesystem::path> written;
};

/// How a program ended: normally, or because it had reached a limit.
enum class Ended { normally, time, memory, processes, file_size, disk, idle, written };

/// Watches a running program: reports which limit it exceeds, and kills what it has started. Memory
/// and number of processes are known only for a program that announces the first process of its pid
/// namespace, and if there is a /proc.
class ProcessWatch {
public:
    /// `announcement`: -1, or the non-blocking reading end of a pipe to which
    /// `bwrap --json-status-fd` writes.
    ProcessWatch(const ProcessLimits& limits, int announcement);

    /// Everything read from it; complete when `end_all` has returned.
    [[nodiscard]] const std::string& announced() const noexcept { return announced_; }
    /// To be polled for input before `listen`; -1: no more input will come.
    [[nodiscard]] int descriptor() const noexcept { return first_handle_ ? -1 : announcement_; }
    /// Reads what has been announced.
    void listen();
    /// The limit that is exceeded, if any. Checks at most ten times a second.
    [[nodiscard]] Ended check();
    /// Kills everything in the announced pid namespace, and returns when no process of it is left,
    /// so that none holds or changes a file. False if one is still there after half a minute.
    [[nodiscard]] bool end_all() noexcept;

private:
    [[nodiscard]] Ended exceeded() const;
    /// Whether too much has been written, or nothing for too long.
    [[nodiscard]] Ended look_at_written();
    void adopt(pid_t pid, std::uint64_t pid_namespace);

    const ProcessLimits& limits_;
    int announcement_;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point looked_;
    /// Bytes below ProcessLimits::written, and since when there are so many.
    std::uint64_t written_ = 0;
    std::chrono::steady_clock::time_point grew_;
    std::string announced_;
    pid_t first_ = -1;
    Fd first_handle_;
};

}  // namespace edgegpu
