#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The commit that a ref has on a server.
struct RemoteCommit {
    std::string checksum;
    /// Unix time
    std::int64_t time = 0;
};

/// Asks the server from which devices pull (`[ostree] url`) which commit the ref has there, while
/// the build goes on. What it answers is not trusted, and enters no image: it is compared only.
/// Nobody is asked offline, or if the URL is not one of a server.
class RemoteQuestion {
public:
    /// `ctx` and `ostree` must outlive it.
    RemoteQuestion(const Context& ctx, const OstreeRequest& ostree);
    RemoteQuestion(const RemoteQuestion&) = delete;
    RemoteQuestion& operator=(const RemoteQuestion&) = delete;
    /// Does not wait for an answer.
    ~RemoteQuestion();

    /// Waits for the answer, a few seconds at most: nothing if the server has no such ref, or
    /// nobody was asked. Throws ErrorKind::fetch if it cannot be asked, or its answer is not one,
    /// ErrorKind::interrupted if the command is cancelled (`ctx.cancelled`) meanwhile. To be called
    /// once.
    [[nodiscard]] std::optional<RemoteCommit> answer();

private:
    std::atomic<bool> stop_{false};
    std::future<std::optional<RemoteCommit>> answer_;
};

}  // namespace edgegpu
