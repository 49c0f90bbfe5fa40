#include "resolve/metadata.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "resolve/metadata_download.hpp"
#include "resolve/metadata_records.hpp"
#include "resolve/solv.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/parallel.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

RepositoryMetadata open_state(const Repository& repository, const fs::path& directory) {
    const MetadataRecords records = read_records(repository, directory / "repodata/repomd.xml");
    const auto path = [&](MetadataKind kind) {
        const MetadataRecord* record = records.find(kind);
        return record != nullptr ? metadata_path(directory, *record) : fs::path();
    };
    RepositoryMetadata metadata;
    metadata.repository = &repository;
    metadata.directory = directory;
    metadata.resolved.id = repository.id;
    metadata.resolved.repomd_sha256 = directory.filename().string();
    metadata.resolved.revision_time = records.revision_time;
    metadata.primary = path(MetadataKind::primary);
    metadata.filelists = path(MetadataKind::filelists);
    metadata.comps = path(MetadataKind::comps);
    metadata.modules = path(MetadataKind::modules);
    metadata.updateinfo = path(MetadataKind::updateinfo);
    return metadata;
}

/// Downloads one more kind of file into a repository's state and takes over all paths.
void download_more(const Context& ctx, RepositoryMetadata& metadata, MetadataKind kind) {
    const Repository& repository = *metadata.repository;
    const MetadataRecords records =
        read_records(repository, metadata.directory / "repodata/repomd.xml");
    if (const MetadataRecord* record = records.find(kind)) {
        download_records(ctx, repository, metadata.directory, {*record});
    }
    const RepositoryMetadata now = open_state(repository, metadata.directory);
    metadata.filelists = now.filelists;
    metadata.updateinfo = now.updateinfo;
}

/// What every resolution needs.
std::vector<MetadataRecord> choose_records(const Repository& repository, const fs::path& repomd) {
    const MetadataRecords records = read_records(repository, repomd);
    std::vector<MetadataRecord> chosen;
    for (const MetadataKind kind :
         {MetadataKind::primary, MetadataKind::comps, MetadataKind::modules}) {
        if (const MetadataRecord* record = records.find(kind)) {
            chosen.push_back(*record);
        }
    }
    return chosen;
}

}  // namespace

std::vector<RepositoryMetadata> load_metadata(const Context& ctx, const Blueprint& blueprint) {
    std::vector<const Repository*> enabled;
    for (const Repository& repository : blueprint.repositories) {
        if (repository.enabled) {
            enabled.push_back(&repository);
        }
    }
    // They wait for servers more than they compute.
    constexpr unsigned least_jobs = 6;
    Context waiting = ctx;
    waiting.jobs = std::max(ctx.jobs, least_jobs);
    std::vector<RepositoryMetadata> all(enabled.size());
    parallel_for(waiting, enabled.size(), [&](std::size_t i) {
        const fs::path base = repository_directory(ctx, *enabled[i]);
        const RecordChoice choose = [&](const fs::path& repomd) {
            return choose_records(*enabled[i], repomd);
        };
        const std::string digest = refresh_metadata(ctx, blueprint, *enabled[i], base, choose);
        all[i] = open_state(*enabled[i], base / digest);
    });
    return all;
}

void load_filelists(const Context& ctx, RepositoryMetadata& metadata) {
    if (!metadata.filelists.empty() && fs::exists(metadata.filelists)) {
        return;
    }
    const Repository& repository = *metadata.repository;
    if (ctx.offline && !is_local(repository)) {
        throw error(ErrorKind::fetch, "repository '{}': its file lists are not in the cache",
                    repository.id)
            .hinted("run once without --offline");
    }
    download_more(ctx, metadata, MetadataKind::filelists);
}

bool load_updateinfo(const Context& ctx, RepositoryMetadata& metadata) {
    if (metadata.updateinfo.empty() || fs::exists(metadata.updateinfo)) {
        return true;
    }
    if (ctx.offline && !is_local(*metadata.repository)) {
        return false;
    }
    download_more(ctx, metadata, MetadataKind::updateinfo);
    return true;
}

std::string read_metadata_file(const fs::path& path) {
    constexpr std::size_t limit = 256U << 20U;
    const Handle<FILE, std::fclose> file(solv_xfopen(path.c_str(), "r"));
    if (!file) {
        throw error(ErrorKind::fetch, "{}: cannot be read", path.string());
    }
    std::string content;
    std::array<char, 65536> buffer;
    std::size_t got = 0;
    while ((got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
        content.append(buffer.data(), got);
        if (content.size() > limit) {
            throw error(ErrorKind::fetch, "{}: larger than {} MiB", path.string(), limit >> 20U);
        }
    }
    if (std::ferror(file.get()) != 0) {
        throw error(ErrorKind::fetch, "{}: cannot be uncompressed", path.string());
    }
    return content;
}

}  // namespace edgegpu
