#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "support/handles.hpp"

namespace edgegpu {

/// One of several builds: `edgegpu build` of one blueprint in a process of its own, so that it has
/// its own signing process, user namespace and memory, as when it runs alone. It has its own
/// process group: Ctrl-C reaches it only through `interrupt`, and not twice.
class BuildProcess {
public:
    /// Starts `argv`, whose "@progress" is replaced by the number of the descriptor for
    /// `--progress-fd`. Throws Error if it cannot be started. Call it from the main thread: when
    /// that ends, the process is told to stop.
    explicit BuildProcess(std::vector<std::string> argv);
    BuildProcess(const BuildProcess&) = delete;
    BuildProcess& operator=(const BuildProcess&) = delete;
    /// Kills it if it is still running.
    ~BuildProcess();

    /// Descriptors to poll(2) for reading, as long as they are open.
    [[nodiscard]] std::vector<int> descriptors() const;
    /// Reads what is available, without waiting.
    void read();
    /// The complete lines of progress that were read since the last call.
    [[nodiscard]] std::vector<std::string> take_progress();
    /// Whether all its output was read; `wait` then returns soon.
    [[nodiscard]] bool ended() const;
    /// Asks it to stop, once.
    void interrupt();
    /// Its exit status, or 128 + signal number.
    [[nodiscard]] int wait();

    /// What it printed on standard output, and the end of what it printed on standard error.
    [[nodiscard]] const std::string& output() const { return output_.text; }
    [[nodiscard]] const std::string& messages() const { return messages_.text; }

private:
    /// One end of a pipe with what came out of it.
    struct Stream {
        Fd file;
        std::string text;
    };
    static void read(Stream& stream);

    pid_t pid_ = -1;
    bool interrupted_ = false;
    Stream output_;
    Stream messages_;
    Stream progress_;
};

}  // namespace edgegpu
