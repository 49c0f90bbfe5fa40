#include "upload/remote_state.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "repository/commit_view.hpp"
#include "repository/refs.hpp"
#include "signing/signing_keys.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_ref = 4096;
/// Of uploads that run, or were killed.
constexpr std::string_view locks_prefix = "edgegpu-locks/";
constexpr std::uint64_t largest_config = 1U << 20U;

std::uint64_t largest_of(UploadStep step) {
    switch (step) {
        case UploadStep::refs:
            return largest_ref;
        case UploadStep::config:
            return largest_config;
        case UploadStep::summary:
            return commit_limit;
        default:
            return 0;
    }
}

/// Checksums of the commit and of those before it, with the first that is not there any more.
std::set<std::string> history_of(const PublishedState& local, std::string checksum) {
    std::set<std::string> history;
    while (!checksum.empty() && history.insert(checksum).second && local.has_commit(checksum)) {
        checksum = local.view().commit_at(checksum, checksum).info().parent;
    }
    return history;
}

/// Why the remote's commit `there` of a ref is none that the repository has replaced by `here`
/// (empty: it has no such ref); empty if it is one.
std::string why_foreign(const PublishedState& local, const std::string& here,
                        const std::string& there) {
    if (!here.empty() && history_of(local, here).contains(there)) {
        return {};
    }
    if (!local.has_commit(there)) {
        return "which this repository does not have";
    }
    if (!here.empty() && local.view().commit_at(there, there).info().time >
                             local.view().commit_at(here, here).info().time) {
        return fmt::format("which is newer than {}, and devices refuse to go back", here);
    }
    return {};
}

}  // namespace

std::string RemoteState::head(std::string_view path) const {
    const auto found = heads.find(path);
    return found == heads.end() ? std::string() : found->second;
}

RemoteState read_heads(const RcloneRemote& remote, FileSizes files, const fs::path& scratch) {
    RemoteState state{std::move(files), {}};
    std::vector<std::string> names;
    for (const auto& [path, size] : state.files) {
        const std::optional<UploadStep> step = step_of(path);
        if (step && size > 0 && size <= largest_of(*step)) {
            names.push_back(path);
        }
    }
    const fs::path place = scratch / "there";
    remove_tree(place);
    make_directories(place);
    remote.fetch(names, place);
    for (const std::string& name : names) {
        if (fs::is_regular_file(place / name)) {
            state.heads.emplace(name, read_file(place / name, commit_limit));
        }
    }
    return state;
}

void set_times_of_heads(const PublishedState& local, const RcloneRemote& remote,
                        const std::vector<std::string>& heads) {
    // A machine whose clock is ahead may have uploaded them.
    const auto there = heads.empty() ? std::nullopt : remote.newest(heads);
    auto time = std::chrono::system_clock::now();
    if (there) {
        time = std::max(time, *there + std::chrono::seconds(1));
    }
    for (const std::string& path : heads) {
        fs::last_write_time(local.directory_of(UploadStep::summary) / path,
                            std::chrono::file_clock::from_sys(time));
    }
}

void warn_of_plus_in_deltas(const Context& ctx, const PublishedState& local,
                            const RcloneRemote& remote) {
    std::size_t deltas = 0;
    std::size_t unreachable = 0;
    for (const auto& [path, size] : local.files()) {
        if (step_of(path) == UploadStep::superblocks) {
            ++deltas;
            // The index of a delta has a part of its name.
            unreachable += path.find('+') != std::string::npos ? 1 : 0;
        }
    }
    if (unreachable != 0 && remote.is_s3()) {
        ctx.console->warn(fmt::format(
            "{}: {} of {} static deltas have a \"+\" in their names, which Amazon's S3 reads as a "
            "space: devices that ask a bucket there do not find them, and fetch objects. Its "
            "website endpoint has them, or a CDN that asks for %2B instead of +",
            remote.shown(), unreachable, deltas));
    }
}

void require_repository(const RcloneRemote& remote, const RemoteState& there) {
    // An upload that was interrupted has left files of steps.
    const auto other = std::ranges::find_if(there.files, [](const auto& file) {
        return !step_of(file.first) && !file.first.starts_with(locks_prefix);
    });
    if (!there.files.contains("config") && other != there.files.end()) {
        throw error(ErrorKind::usage, "{}: not an ostree repository, and not empty", remote.shown())
            .hinted(fmt::format("name a directory for the repository alone; this one has {}",
                                other->first));
    }
}

void require_place(const RcloneRemote& remote) {
    constexpr std::array<std::string_view, 9> known{
        "objects/", "deltas/", "delta-indexes/", "refs/",      "state/",
        "tmp/",     "summary", "summary.sig",    locks_prefix,
    };
    const FileSizes there = remote.list_directory("");
    const auto other = std::ranges::find_if(there, [&](const auto& entry) {
        return std::ranges::find(known, std::string_view(entry.first)) == known.end();
    });
    if (!there.contains("config") && other != there.end()) {
        throw error(ErrorKind::usage, "{}: not an ostree repository, and not empty", remote.shown())
            .hinted(fmt::format("name a directory for the repository alone; this one has {}",
                                other->first));
    }
}

void require_ours(const PublishedState& local, const RcloneRemote& remote,
                  const RemoteState& there) {
    const std::map<std::string, std::string> named = refs_in_summary(there.head("summary"));
    std::set<std::string> refs;
    for (const auto& [path, content] : there.heads) {
        if (path.starts_with(heads_prefix)) {
            refs.insert(path.substr(heads_prefix.size()));
        }
    }
    for (const auto& [ref, checksum] : local.refs()) {
        refs.insert(ref);
    }
    for (const std::string& ref : refs) {
        const auto own = local.refs().find(ref);
        const std::string here = own == local.refs().end() ? std::string() : own->second;
        const std::string file = there.head(std::string(heads_prefix) + ref);
        const auto in_summary = named.find(ref);
        for (const std::string& commit :
             {std::string(trim_end(file)),
              in_summary == named.end() ? std::string() : in_summary->second}) {
            // What is no checksum was interrupted while it was written.
            const std::string why =
                is_sha256(commit) && commit != here ? why_foreign(local, here, commit) : "";
            if (!why.empty()) {
                throw error("{}: its ref {} has commit {}, {}", remote.shown(), ref, commit, why)
                    .hinted(
                        "one directory is uploaded to a remote: has another one been, or has "
                        "this one been restored from an older copy, or pruned? To replace what "
                        "is there: --overwrite");
            }
        }
    }
}

}  // namespace edgegpu
