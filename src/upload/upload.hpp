#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"

namespace edgegpu {

/// What is uploaded where.
struct UploadRequest {
    /// the published repository
    std::filesystem::path repository;
    /// as rclone names it: "NAME:BUCKET/PATH"
    std::string remote;
    /// what rclone takes for --bwlimit; empty: without limit
    std::string bandwidth;
    /// Compare everything that the remote has, not only names and sizes.
    bool verify = false;
    /// Upload although somebody else has uploaded there.
    bool overwrite = false;
    /// Remove what the repository does not have any more, once the remote has had the same refs and
    /// summary for so long; nothing: keep it.
    std::optional<std::chrono::seconds> delete_after;
    /// for what publishes or prunes, and for another upload (then nothing: 10 minutes)
    LockWait lock_wait = {};
};

/// A number of files, and their bytes.
struct FileCount {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
};

/// A ref that the remote has now.
struct UploadedRef {
    std::string ref;
    std::string commit;
    /// the commit that the remote had, or empty
    std::string before;
};

/// What an upload did.
struct UploadResult {
    /// for messages and documents, without parameters that may be secrets
    std::string remote;
    std::vector<UploadedRef> refs;
    FileCount uploaded;
    FileCount removed;
    /// what the remote has and the repository has not, and that was not removed
    FileCount left;
};

/// Makes a remote a copy of a published repository: in the order in which clients may read at any
/// instant, each step complete, compared, before the next one begins. Killed or interrupted at any
/// instant, it leaves a repository that clients can use, but for the moment between a summary and
/// its signature; the next call goes on. What the remote lacks, or has in another size, is found by
/// listing it, so that each call also heals.
///
/// Throws ErrorKind::usage and Error as PublishedState and require_ours do; ErrorKind::fetch for
/// what the server refuses or does not keep; interrupted if `ctx` is cancelled.
[[nodiscard]] UploadResult upload(const Context& ctx, Stages& stages, const UploadRequest& request);

}  // namespace edgegpu
