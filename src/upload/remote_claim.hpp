#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "execution/context.hpp"
#include "upload/published_state.hpp"
#include "upload/rclone.hpp"

namespace edgegpu {

/// Where uploads say that they run: `edgegpu-locks/upload-ID` of the remote.
inline constexpr std::string_view claims_directory = "edgegpu-locks";

/// Keeps uploads of other directories, from wherever they run, away from a remote, as far as a
/// server can that only stores files: each upload writes a file of its own there and then lists all
/// of them, and goes on only if it sees no other one. So no two go on beside each other, on a
/// server that lists what has been written. Whoever sees others waits, and tries again; all but the
/// first by name withdraw meanwhile.
///
/// The file is written anew each half minute. One that has not changed for some minutes, by the
/// clock of whoever waits, is that of an upload that was killed, and is removed; that of an earlier
/// upload of the same directory is known by its name, since the directory is locked.
class RemoteClaim {
public:
    /// Waits for `wait`, or 10 minutes. Throws Error, with who uploads, if that time is over,
    /// and the errors of RcloneRemote. What it is given must outlive it.
    RemoteClaim(const Context& ctx, const PublishedState& local, const std::string& remote,
                const LockWait& wait);
    RemoteClaim(const RemoteClaim&) = delete;
    RemoteClaim& operator=(const RemoteClaim&) = delete;
    /// Gives it up; if the server cannot be reached, it ends by itself.
    ~RemoteClaim();

    /// Throws Error if it has not been renewed for so long that somebody else may have taken it for
    /// that of a killed upload: this process, or its machine, was stopped meanwhile, or the server
    /// took nothing.
    void require_held() const;

private:
    /// What others have written, and since when that has been the same.
    struct Other {
        std::string text;
        std::chrono::steady_clock::time_point since;
    };
    [[nodiscard]] bool may_be_lost() const;
    void wait(std::chrono::seconds limit);
    [[nodiscard]] std::optional<RcloneProblem> write();
    [[nodiscard]] std::map<std::string, std::string> read_others() const;
    void withdraw();
    void keep_alive();

    const Context& ctx_;
    std::filesystem::path scratch_;
    /// Also when the user has asked to stop, for a moment.
    Context patient_;
    RcloneRemote remote_;
    std::string name_;
    unsigned beat_ = 0;
    /// When it was last renewed.
    std::atomic<std::chrono::seconds> renewed_{};
    std::atomic<bool> lost_ = false;
    bool is_there_ = false;
    std::mutex mutex_;
    std::condition_variable ended_signal_;
    bool ended_ = false;
    std::thread keeper_;
};

}  // namespace edgegpu
