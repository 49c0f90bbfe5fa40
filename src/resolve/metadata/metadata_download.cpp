#include "resolve/metadata/metadata_download.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_signature.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "transfer/mirrors.hpp"
#include "transfer/transfer.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_repomd = 16ULL << 20U;
constexpr std::uint64_t largest_signature = 1ULL << 20U;

/// What signatures are verified with: "unsigned", or a digest of the keys.
std::string trust_mark(const Context& ctx, const Repository& repository) {
    if (!repository.repo_gpgcheck) {
        return "unsigned";
    }
    if (repository.gpgkeys.empty()) {
        throw error(ErrorKind::fetch, "repository '{}': repo_gpgcheck is on, but it has no gpgkey",
                    repository.id)
            .traced(fmt::format("repository defined at {}", repository.location.text()))
            .hinted("set gpgkey to the key file that the vendor of the repository publishes");
    }
    // Increment the number when verification becomes stricter: cached states are then verified
    // again.
    return sha256_hex("rules 3\n" + key_material(ctx, repository));
}

/// Checks that the metalink, if there is one, lists this repomd.xml.
void check_promises(const Repository& repository, const MirrorList& list, const fs::path& repomd) {
    const std::uint64_t size = fs::file_size(repomd);
    const bool known =
        list.promises.empty() ||
        std::ranges::any_of(list.promises, [&](const RepomdPromise& promise) {
            return (promise.size == 0 || promise.size == size) &&
                   checksum_of_file(repomd, promise.checksum.algorithm) == promise.checksum;
        });
    if (!known) {
        throw error(ErrorKind::fetch,
                    "repository '{}': repomd.xml is not the one that the metalink promises",
                    repository.id)
            .hinted("the mirrors are stale, or being updated: try again later");
    }
}

/// Content of repodata/repomd.xml.asc of that mirror, or "" if it has none; then `why` is its
/// answer.
std::string get_signature(const Context& ctx, const Repository& repository,
                          const std::string& mirror, const fs::path& destination,
                          std::string& why) {
    WantedFile wanted;
    wanted.location = "repodata/repomd.xml.asc";
    wanted.destination = destination;
    wanted.promise.limit = largest_signature;
    const TransferResult result = transfer(ctx, repository, {mirror}, {wanted}).front();
    if (result.done) {
        return read_file(destination, largest_signature);
    }
    if (result.failures.front().kind != TransferFailureKind::missing) {
        throw transfer_error(repository, "repomd.xml.asc", result);
    }
    why = result.failures.front().url + ": " + result.failures.front().reason;
    return "";
}

void check_signature(const Context& ctx, const std::vector<Repository>& repositories,
                     const Repository& repository, const std::string& mirror,
                     const fs::path& repomd, const fs::path& directory) {
    std::string why;
    const std::string signature =
        get_signature(ctx, repository, mirror, directory / "repodata/repomd.xml.asc", why);
    try {
        check_repomd_signature(ctx, repositories, repository, read_file(repomd, largest_repomd),
                               signature);
    } catch (Error& problem) {
        if (!why.empty()) {
            problem.traced(why);
        }
        throw;
    }
}

/// `<base>/<digest>.lock`, on which readers of that state hold a shared lock.
fs::path state_lock(const fs::path& state) {
    return fs::path(state).concat(".lock");
}

bool is_verified(const fs::path& directory, const std::string& mark) {
    const fs::path file = directory / "verified";
    return fs::exists(file) && read_file(file, 4096) == mark;
}

/// Removes earlier states that no build is reading.
void remove_old_states(const fs::path& base, const std::string& digest) {
    for (const fs::directory_entry& entry : children_of(base)) {
        const fs::path& path = entry.path();
        const std::string name = path.filename().string();
        if (name.size() == 64 && name != digest) {
            const auto unused =
                FileLock::try_take(state_lock(path), LockMode::exclusive, LockFile::removed);
            if (unused) {
                remove_tree(path);
            }
        }
    }
}

std::string cached_state(const Repository& repository, const fs::path& base,
                         const std::string& mark) {
    const fs::path current = base / "current";
    if (fs::exists(current)) {
        std::string digest = read_file(current, 4096);
        if (is_verified(base / digest, mark)) {
            return digest;
        }
    }
    throw error(ErrorKind::fetch, "repository '{}' is not in the cache", repository.id)
        .traced(fmt::format("repository defined at {}", repository.location.text()))
        .hinted("run once without --offline");
}

/// A repomd.xml and the mirrors for its files.
struct FoundRepomd {
    std::string digest;
    /// The mirror that delivered it comes first.
    std::vector<std::string> mirrors;
};

WantedFile repomd_file(const fs::path& destination) {
    WantedFile wanted;
    wanted.location = "repodata/repomd.xml";
    wanted.destination = destination;
    wanted.promise.limit = largest_repomd;
    return wanted;
}

/// Downloads repomd.xml to `scratch`, from the first mirror with a valid one.
FoundRepomd find_repomd(const Context& ctx, const std::vector<Repository>& repositories,
                        const Repository& repository, const fs::path& base, const fs::path& scratch,
                        const std::string& mark) {
    MirrorList list = find_mirrors(ctx, repository);
    // Files of an earlier repomd.xml must not be taken for those of this one.
    remove_tree(scratch / "repodata");
    make_directories(scratch / "repodata");
    WantedFile wanted = repomd_file(scratch / "repodata/repomd.xml");
    wanted.accept = [&](const fs::path& file, const std::string& mirror) {
        check_promises(repository, list, file);
        if (is_verified(base / sha256_file(file), mark)) {
            return;  // nothing new
        }
        if (repository.repo_gpgcheck) {
            check_signature(ctx, repositories, repository, mirror, file, scratch);
        }
        (void)read_records(repository, file);
    };
    const TransferResult result = transfer(ctx, repository, list.mirrors, {wanted}).front();
    if (!result.done) {
        throw transfer_error(repository, "repomd.xml", result);
    }
    const auto first = list.mirrors.begin();
    const auto good = first + static_cast<std::ptrdiff_t>(result.mirror);
    std::rotate(first, good, good + 1);
    return {sha256_file(wanted.destination), std::move(list.mirrors)};
}

void download_from(const Context& ctx, const Repository& repository,
                   const std::vector<std::string>& mirrors, const fs::path& directory,
                   const std::vector<MetadataRecord>& records) {
    std::vector<WantedFile> files;
    for (const MetadataRecord& record : records) {
        WantedFile wanted;
        wanted.destination = metadata_path(directory, record);
        if (fs::exists(wanted.destination)) {
            continue;  // verified before it was renamed
        }
        wanted.location = record.base.empty() ? record.href : join_url(record.base, record.href);
        wanted.promise.size = record.size;
        wanted.promise.checksum = record.checksum;
        wanted.promise.promiser = "repomd.xml";
        files.push_back(std::move(wanted));
    }
    const std::vector<TransferResult> results = transfer(ctx, repository, mirrors, files);
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (results[i].given_up) {
            throw transfer_error(repository, files[i].destination.filename().string(), results[i]);
        }
    }
}

/// Creates `<base>/<digest>`: repomd.xml of `scratch`, and the records that `choose` selects.
void complete_state(const Context& ctx, const Repository& repository, const FoundRepomd& found,
                    const fs::path& base, const fs::path& scratch, const std::string& mark,
                    const RecordChoice& choose) {
    const fs::path state = base / found.digest;
    if (is_verified(state, mark)) {
        download_from(ctx, repository, found.mirrors, state, choose(state / "repodata/repomd.xml"));
        return;
    }
    download_from(ctx, repository, found.mirrors, scratch, choose(scratch / "repodata/repomd.xml"));
    write_file(scratch / "verified", mark);
    remove_tree(state);
    fs::rename(scratch, state);
}

}  // namespace

fs::path repository_directory(const Context& ctx, const Repository& repository) {
    Sha256 digest;
    for (const std::string& url : repository.baseurls) {
        digest.update_field(url);
    }
    digest.update_field(repository.metalink);
    digest.update_field(repository.mirrorlist);
    std::string name;
    for (const char c : repository.id) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ||
                           c == '_' || (c == '.' && !name.empty());
        name += plain ? c : '_';
    }
    return ctx.cache / "repos" / (name + "-" + digest.hex().substr(0, 16));
}

EntryLock lock_metadata(const Context& ctx, const Repository& repository) {
    return {ctx, EntryKind::repository, repository_directory(ctx, repository).filename().string(),
            fmt::format("is downloading the metadata of repository '{}'", repository.id)};
}

bool is_local(const Repository& repository) {
    return repository.metalink.empty() && repository.mirrorlist.empty() &&
           std::ranges::all_of(repository.baseurls,
                               [](const std::string& url) { return local_file(url).has_value(); });
}

FileLock use_state(const Context& ctx, const fs::path& state) {
    return FileLock::take(ctx, state_lock(state), LockMode::shared, "is removing old metadata");
}

void download_records(const Context& ctx, const Repository& repository, const fs::path& directory,
                      const std::vector<MetadataRecord>& records) {
    const bool complete = std::ranges::all_of(records, [&](const MetadataRecord& record) {
        return fs::exists(metadata_path(directory, record));
    });
    if (!complete) {
        const EntryLock lock = lock_metadata(ctx, repository);
        download_from(ctx, repository, find_mirrors(ctx, repository).mirrors, directory, records);
    }
}

std::string current_repomd(const Context& ctx, const Repository& repository,
                           const std::vector<std::string>& mirrors) {
    const fs::path base = repository_directory(ctx, repository);
    make_directories(base);
    const TemporaryDirectory scratch(base / "probe");
    const WantedFile wanted = repomd_file(scratch.path() / "repomd.xml");
    return transfer(ctx, repository, mirrors, {wanted}).front().done
               ? sha256_file(wanted.destination)
               : "";
}

std::string refresh_metadata(const Context& ctx, const std::vector<Repository>& repositories,
                             const Repository& repository, const fs::path& base,
                             const RecordChoice& choose) {
    const std::string mark = trust_mark(ctx, repository);
    if (ctx.offline && !is_local(repository)) {
        return cached_state(repository, base, mark);
    }
    make_directories(base);
    const TemporaryDirectory scratch(base / "part");
    // It becomes a directory of the cache.
    fs::permissions(scratch.path(), fs::perms(0755));
    const auto find = [&] {
        return find_repomd(ctx, repositories, repository, base, scratch.path(), mark);
    };
    FoundRepomd found = find();
    try {
        complete_state(ctx, repository, found, base, scratch.path(), mark, choose);
    } catch (const Error& problem) {
        if (problem.kind() != ErrorKind::fetch) {
            throw;
        }
        // A missing or different file: the repository may have just been updated.
        FoundRepomd now = find();
        if (now.digest == found.digest) {
            throw;
        }
        found = std::move(now);
        complete_state(ctx, repository, found, base, scratch.path(), mark, choose);
    }
    const fs::path current = base / "current";
    if (!fs::exists(current) || read_file(current, 4096) != found.digest) {
        write_file(current, found.digest);
        remove_old_states(base, found.digest);
    }
    return found.digest;
}

}  // namespace edgegpu
