#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/handles.hpp"

namespace edgegpu {

/// One of several builds: `edgegpu build` of one blueprint as a process of its own, so that its
/// signing process, user namespace and memory are what they are when it runs alone. It is in a
/// process group of its own: Ctrl-C reaches it through `interrupt` and not twice.
class BuildProcess {
public:
    /// Starts `argv`, whose "@progress" is replaced by the number of the descriptor for
    /// `--progress-fd`. Throws Error where it cannot be started. Call it from the main thread, at
    /// whose end the process is told to stop.
    explicit BuildProcess(std::vector<std::string> argv);
    BuildProcess(const BuildProcess&) = delete;
    BuildProcess& operator=(const BuildProcess&) = delete;
    /// Kills it if it still runs.
    ~BuildProcess();

    /// Descriptors to poll(2) for reading, until each is at its end.
    [[nodiscard]] std::vector<int> descriptors() const;
    /// Reads what there is without waiting.
    void read();
    /// The complete lines of progress that were read since the last call.
    [[nodiscard]] std::vector<std::string> take_progress();
    /// Whether all it could say was read; `wait` returns soon then.
    [[nodiscard]] bool ended() const;
    /// Asks it to stop, once.
    void interrupt();
    /// Its exit status, or 128 + signal number.
    [[nodiscard]] int wait();

    /// What it printed on its standard output; and on standard error, of which the end is kept.
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
