#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "upload/contents.hpp"
#include "upload/published_state.hpp"
#include "upload/rclone.hpp"

namespace edgegpu {

/// What a remote has.
struct RemoteState {
    /// all files
    FileSizes files;
    /// path → content of refs, config, summary and its signature, as far as they have a size that
    /// they may have
    std::map<std::string, std::string, std::less<>> heads;

    /// The content of one of `heads`, or nothing.
    [[nodiscard]] std::string head(std::string_view path) const;
};

/// Reads the heads of the listed files. `scratch` is a directory for temporary files.
[[nodiscard]] RemoteState read_heads(const RcloneRemote& remote, FileSizes files,
                                     const std::filesystem::path& scratch);

/// Gives these files of `local`, which are to be sent, the time of now, or a later one than those
/// there have. Where the server keeps the times of files, they say since when clients have had
/// them, and clients ask whether a file has changed since the time of theirs, in whole seconds.
void set_times_of_heads(const PublishedState& local, const RcloneRemote& remote,
                        const std::vector<std::string>& heads);

/// Warns of deltas of `local` that devices cannot get from Amazon's S3, which reads a "+" in the
/// path of a request as a space, if the remote is one of S3.
void warn_of_plus_in_deltas(const Context& ctx, const PublishedState& local,
                            const RcloneRemote& remote);

/// Throws Error for a remote that has files, and is no repository.
void require_repository(const RcloneRemote& remote, const RemoteState& there);

/// The same by its uppermost directory alone, before anything is written there.
void require_place(const RcloneRemote& remote);

/// Throws Error for a ref of the remote, in its file or in the summary, with a commit that `local`
/// never had, or that is newer than its own: somebody else has uploaded that.
void require_ours(const PublishedState& local, const RcloneRemote& remote,
                  const RemoteState& there);

}  // namespace edgegpu
