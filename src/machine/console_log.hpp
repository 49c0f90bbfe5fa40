#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "machine/console_progress.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Reads the consoles of a guest as long as it lives, in a thread of its own, since a guest stops
/// where nobody reads its console; keeps what it writes in a file, and what it means in memory.
class ConsoleLog {
public:
    /// What is in the file at most; what comes later is read and forgotten.
    static constexpr std::uint64_t default_limit = 64ULL << 20U;

    /// `consoles`: sockets. Replaces `file`. Throws Error if it cannot be written.
    ConsoleLog(std::vector<Fd> consoles, const std::filesystem::path& file,
               std::uint64_t limit = default_limit);
    ConsoleLog(const ConsoleLog&) = delete;
    ConsoleLog& operator=(const ConsoleLog&) = delete;
    ~ConsoleLog();

    /// Where the guest is now.
    [[nodiscard]] ConsoleProgress progress() const;
    /// The guest was reset.
    void restart();

private:
    void read_all();
    /// False if the console is closed.
    bool read(int console);

    std::vector<Fd> consoles_;
    Fd file_;
    std::uint64_t left_;
    Fd stop_;
    mutable std::mutex mutex_;
    ConsoleProgress progress_;
    /// The last member, so that it ends before what it uses.
    std::jthread thread_;
};

}  // namespace edgegpu
