#include "resolve/metadata/metadata.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <glib.h>

#include "cache/last_use.hpp"
#include "execution/parallel.hpp"
#include "resolve/metadata/metadata_download.hpp"
#include "resolve/metadata/solv.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

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

/// A file name from which libsolv derives the compression. It depends on the first bytes of the
/// file: its own name comes from the repository and may be wrong.
std::string true_name(const fs::path& path) {
    constexpr std::array<std::pair<std::string_view, const char*>, 5> magics{{
        {"\x1f\x8b", ".gz"},
        {"\xfd"
         "7zXZ",
         ".xz"},
        {"BZh", ".bz2"},
        {"\x28\xb5\x2f\xfd", ".zst"},
        {std::string_view("\0ZCK1", 5), ".zck"},
    }};
    std::array<char, 8> head{};
    const Handle<FILE, std::fclose> file(std::fopen(path.c_str(), "re"));
    const std::size_t got = file ? std::fread(head.data(), 1, head.size(), file.get()) : 0;
    const std::string_view begin(head.data(), got);
    for (const auto& [magic, extension] : magics) {
        if (begin.starts_with(magic)) {
            return std::string("metadata") + extension;
        }
    }
    return "metadata";
}

/// Suppresses warnings about repomd.xml that librepo prints to stderr; real problems are reported
/// as Error.
void quiet_librepo() {
    const auto ignore = [](const char*, GLogLevelFlags, const char*, void*) {};
    g_log_set_handler("librepo", static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING), ignore, nullptr);
}

}  // namespace

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

MetadataStream open_metadata_file(const std::string& repository, const fs::path& path) {
    const std::string name = true_name(path);
    if (name.ends_with(".zck")) {
        throw error(ErrorKind::fetch,
                    "repository '{}': {} is a zchunk file, which edgegpu cannot read", repository,
                    path.filename().string())
            .hinted("have the repository made with createrepo_c --compress-type gz, xz or zstd");
    }
    // If it succeeds, the stream owns the descriptor.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    MetadataStream file(fd >= 0 ? solv_xfopen_fd(name.c_str(), fd, "r") : nullptr);
    if (!file) {
        if (fd >= 0) {
            ::close(fd);
        }
        throw error(ErrorKind::fetch, "repository '{}': cannot read {}", repository, path.string());
    }
    return file;
}

std::string read_metadata_file(const std::string& repository, const fs::path& path) {
    constexpr std::size_t limit = 256U << 20U;
    const MetadataStream file = open_metadata_file(repository, path);
    std::string content;
    std::array<char, 65536> buffer;
    std::size_t got = 0;
    while ((got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
        content.append(buffer.data(), got);
        if (content.size() > limit) {
            throw error(ErrorKind::fetch, "repository '{}': {} is larger than {} MiB", repository,
                        path.filename().string(), limit >> 20U);
        }
    }
    if (std::ferror(file.get()) != 0) {
        throw error(ErrorKind::fetch, "repository '{}': {} cannot be uncompressed", repository,
                    path.filename().string());
    }
    return content;
}

}  // namespace edgegpu
