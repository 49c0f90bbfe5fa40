#include "resolve/metadata/metadata.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <glib.h>

#include "cache/last_use.hpp"
#include "execution/parallel.hpp"
#include "resolve/metadata/metadata_download.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Metadata that every resolve needs: packages, and the modules that filter them.
constexpr std::array always_read{MetadataKind::primary, MetadataKind::modules};

/// The records of the metadata in `always_read`.
std::vector<MetadataRecord> choose_records(const Repository& repository, const fs::path& repomd) {
    const MetadataRecords records = read_records(repository, repomd);
    std::vector<MetadataRecord> chosen;
    for (const MetadataKind kind : always_read) {
        if (const MetadataRecord* record = records.find(kind)) {
            chosen.push_back(*record);
        }
    }
    return chosen;
}

/// Path of the metadata of one kind, downloaded if they are not in the cache; empty if the
/// repository has none.
fs::path bring(const Context& ctx, const RepositoryMetadata& metadata, MetadataKind kind) {
    const MetadataRecord* record = metadata.records.find(kind);
    if (record == nullptr) {
        return {};
    }
    fs::path path = metadata_path(metadata.directory, *record);
    if (fs::exists(path)) {
        return path;
    }
    const Repository& repository = *metadata.repository;
    if (ctx.offline && !is_local(repository)) {
        throw error(ErrorKind::fetch, "repository '{}': its {} metadata are not in the cache",
                    repository.id, record->type)
            .traced(fmt::format("repository defined at {}", repository.location.text()))
            .hinted("run once without --offline");
    }
    download_records(ctx, repository, metadata.directory, {*record});
    return path;
}

RepositoryMetadata open_state(const Context& ctx, const Repository& repository,
                              const fs::path& directory) {
    RepositoryMetadata metadata;
    metadata.repository = &repository;
    metadata.directory = directory;
    metadata.records = read_records(repository, directory / "repodata/repomd.xml");
    metadata.resolved.id = repository.id;
    metadata.resolved.repomd_sha256 = directory.filename().string();
    metadata.resolved.revision_time = metadata.records.revision_time;
    metadata.primary = bring(ctx, metadata, MetadataKind::primary);
    metadata.modules = bring(ctx, metadata, MetadataKind::modules);
    return metadata;
}

/// Suppresses warnings about repomd.xml that librepo prints to stderr; real problems are reported
/// as Error.
void quiet_librepo() {
    const auto ignore = [](const char*, GLogLevelFlags, const char*, void*) {};
    g_log_set_handler("librepo", static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING), ignore, nullptr);
}

}  // namespace

std::uint64_t RepositoryMetadata::open_size(MetadataKind kind) const {
    const MetadataRecord* record = records.find(kind);
    return record != nullptr ? record->open_size : 0;
}

std::vector<RepositoryMetadata> load_metadata(const Context& ctx,
                                              const std::vector<Repository>& repositories) {
    quiet_librepo();
    std::vector<const Repository*> enabled;
    for (const Repository& repository : repositories) {
        if (repository.enabled) {
            enabled.push_back(&repository);
        }
    }
    // Mostly waiting for servers, not computing.
    constexpr unsigned least_jobs = 6;
    Context waiting = ctx;
    waiting.jobs = std::max(ctx.jobs, least_jobs);
    std::vector<RepositoryMetadata> all(enabled.size());
    parallel_for(waiting, enabled.size(), [&](std::size_t i) {
        const fs::path base = repository_directory(ctx, *enabled[i]);
        const RecordChoice choose = [&](const fs::path& repomd) {
            return choose_records(*enabled[i], repomd);
        };
        std::optional<EntryLock> lock = lock_metadata(ctx, *enabled[i]);
        const fs::path state =
            base / refresh_metadata(ctx, repositories, *enabled[i], base, choose);
        auto in_use = std::make_shared<const FileLock>(use_state(ctx, state));
        static_cast<void>(mark_used(ctx, base / "current"));
        lock.reset();
        all[i] = open_state(ctx, *enabled[i], state);
        all[i].in_use = std::move(in_use);
    });
    return all;
}

void load_filelists(const Context& ctx, RepositoryMetadata& metadata) {
    metadata.filelists = bring(ctx, metadata, MetadataKind::filelists);
    if (metadata.filelists.empty()) {
        ctx.console->note(fmt::format(
            "repository '{}' has no file lists: only paths that its packages list themselves "
            "can be required",
            metadata.repository->id));
    }
}

void load_comps(const Context& ctx, RepositoryMetadata& metadata) {
    metadata.comps = bring(ctx, metadata, MetadataKind::comps);
}

bool load_updateinfo(const Context& ctx, RepositoryMetadata& metadata) {
    const MetadataRecord* record = metadata.records.find(MetadataKind::updateinfo);
    if (record != nullptr && ctx.offline && !is_local(*metadata.repository) &&
        !fs::exists(metadata_path(metadata.directory, *record))) {
        return false;
    }
    metadata.updateinfo = bring(ctx, metadata, MetadataKind::updateinfo);
    return true;
}

}  // namespace edgegpu
