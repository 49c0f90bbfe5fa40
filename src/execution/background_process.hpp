#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "execution/program_record.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A program that runs beside its caller, which talks to it by descriptors that it inherits. It is
/// killed with its process group when the object goes, and by the kernel when the thread that
/// started it ends, for whatever reason. Its end and its output are logged.
class BackgroundProcess {
public:
    /// Starts it, with /dev/null as standard input. Of the limits, only those that the kernel
    /// enforces hold. `ctx` must outlive it. Throws Error if it cannot be started.
    BackgroundProcess(const Context& ctx, ProcessRequest request);
    BackgroundProcess(const BackgroundProcess&) = delete;
    BackgroundProcess& operator=(const BackgroundProcess&) = delete;
    ~BackgroundProcess();

    /// Exit status, or 128 + signal number, if it has ended; does not wait. Call it often: a
    /// program whose output is not read stops.
    [[nodiscard]] std::optional<int> status();
    /// Standard output and error so far, interleaved; the last 64 KiB.
    [[nodiscard]] const std::string& output();
    /// Its number, as long as it runs.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Kills it, with its group, and waits until it is gone.
    void kill() noexcept;

private:
    void read_output();
    void reaped(int status);

    ProcessRequest request_;
    ProgramRecord record_;
    pid_t pid_ = -1;
    Fd output_;
    std::string text_;
    std::optional<int> status_;
};

}  // namespace edgegpu
