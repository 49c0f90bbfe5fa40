#include "commit/upgrade_limit.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "commit/object.hpp"
#include "repository/tree_objects.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {
namespace {

/// Number of objects that the error names.
constexpr std::size_t objects_shown = 8;

/// The objects of a commit but itself, as object_path names them.
std::unordered_set<std::string> objects_of(const Context& ctx, const CommitView& commit) {
    std::unordered_set<std::string> names;
    const TreeObjects objects = list_objects(ctx, commit);
    for (const TreeObject& object : objects.files) {
        names.insert(object_path(object.checksum, "filez"));
    }
    for (const TreeObject& object : objects.directories) {
        names.insert(object_path(
            object.checksum, object.type == OSTREE_OBJECT_TYPE_DIR_META ? "dirmeta" : "dirtree"));
    }
    return names;
}

struct DownloadedFile {
    std::string_view path;
    std::uint64_t bytes = 0;
};

/// What a device downloads.
struct Download {
    std::uint64_t bytes = 0;
    std::vector<DownloadedFile> files;
};

Download download_of(const StagedCommit& commit, const Staging& staging,
                     std::unordered_set<std::string> known) {
    Download download{commit.commit_bytes, {}};
    for (const NamedFile& file : commit.files) {
        if (known.insert(file.object).second) {
            download.files.push_back({file.path, staging.size_of(file.object)});
            download.bytes += download.files.back().bytes;
        }
    }
    for (const auto& [object, bytes] : commit.directories.objects) {
        download.bytes += known.contains(object) ? 0 : bytes.size();
    }
    return download;
}

/// "36 MiB  /usr/lib/…/initramfs.img (35 MiB in the parent)"
std::string line_of(const DownloadedFile& file, const CommitView& parent) {
    const std::optional<CommitNode> before = parent.find(file.path);
    return fmt::format("{}  {} ({})", human_size(file.bytes), file.path,
                       before && !before->directory
                           ? human_size(parent.stored_size(before->checksum)) + " in the parent"
                           : "new");
}

}  // namespace

void require_small_upgrade(const Context& ctx, const Repo::Impl& repo, const Parent& parent,
                           const StagedCommit& commit, const Staging& staging,
                           std::uint64_t limit) {
    const CommitView before = repo.view().commit_at(parent.checksum, parent.checksum);
    std::unordered_set<std::string> known;
    try {
        known = objects_of(ctx, before);
    } catch (Error& failure) {
        throw failure.traced("while comparing with the parent for --max-upgrade-bytes");
    }
    Download download = download_of(commit, staging, std::move(known));
    ctx.log.info("the size of the upgrade", {{"bytes", download.bytes}, {"limit", limit}});
    if (download.bytes <= limit) {
        return;
    }
    std::ranges::stable_sort(download.files, std::ranges::greater(), &DownloadedFile::bytes);
    Error failure = error(
        "{}: ref {} is not set: devices with the parent, {}, would download {} ({} bytes, {}) for "
        "the new commit, more than the {} ({} bytes) of --max-upgrade-bytes",
        repo.path.string(), repo.ref, parent.checksum, human_size(download.bytes), download.bytes,
        counted(download.files.size(), "file"), human_size(limit), limit);
    for (std::size_t i = 0; i < std::min(download.files.size(), objects_shown); ++i) {
        failure.traced(line_of(download.files[i], before));
    }
    if (download.files.size() > objects_shown) {
        failure.traced(fmt::format("… {} more", download.files.size() - objects_shown));
    }
    throw failure.hinted(
        fmt::format("leave out what is not needed, or raise the limit; to see what has changed, "
                    "build without it into a copy of the repository, then: edgegpu diff {} --repo "
                    "COPY",
                    repo.ref));
}

}  // namespace edgegpu
