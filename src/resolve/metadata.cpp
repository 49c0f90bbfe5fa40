#include "resolve/metadata.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "resolve/librepo.hpp"
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

const std::vector<std::string>& wanted_types() {
    static const std::vector<std::string> types{"primary", "group", "modules"};
    return types;
}

void check_digest_types(const Repository& repository, LrYumRepoMd* repomd) {
    for (const std::string& type : wanted_types()) {
        const LrYumRepoMdRecord* record = lr_yum_repomd_get_record(repomd, type.c_str());
        if (record == nullptr) {
            continue;
        }
        const std::string digest = record->checksum_type ? record->checksum_type : "none";
        if (digest != "sha256" && digest != "sha384" && digest != "sha512") {
            throw error(ErrorKind::fetch, "repository '{}': {} has only a checksum of type {}",
                        repository.id, type, digest)
                .hinted("metadata needs SHA-256 or stronger: createrepo_c --checksum sha256");
        }
    }
}

fs::path file_of(LrYumRepo* repo, const char* type) {
    const char* path = lr_yum_repo_path(repo, type);
    return path != nullptr ? fs::path(path) : fs::path();
}

/// librepo checks digests; a size that is another one still means that somebody lies or erred.
void check_sizes(const Repository& repository, LrYumRepo* repo, LrYumRepoMd* repomd) {
    for (const std::string& type : wanted_types()) {
        const LrYumRepoMdRecord* record = lr_yum_repomd_get_record(repomd, type.c_str());
        const fs::path path = file_of(repo, type.c_str());
        if (record == nullptr || record->size <= 0 || path.empty()) {
            continue;  // createrepo_c writes sizes, the format does not demand them
        }
        const auto size = static_cast<std::int64_t>(fs::file_size(path));
        if (size != record->size) {
            throw error(ErrorKind::fetch,
                        "repository '{}': {} has {} bytes, but repomd.xml promises {}",
                        repository.id, path.filename().string(), size, record->size)
                .hinted("have the repository's metadata made again");
        }
    }
}

RepositoryMetadata open_state(const Context& ctx, const Repository& repository,
                              const fs::path& directory) {
    std::vector<std::string> types = wanted_types();
    types.insert(types.end(), {"filelists", "updateinfo"});
    const LrResultPtr result = open_local(ctx, repository, directory, types);
    LrYumRepo* repo = nullptr;
    LrYumRepoMd* repomd = nullptr;
    GError* raw = nullptr;
    if (!lr_result_getinfo(result.get(), &raw, LRR_YUM_REPO, &repo) ||
        !lr_result_getinfo(result.get(), &raw, LRR_YUM_REPOMD, &repomd)) {
        const GErrorPtr problem(raw);
        throw error(ErrorKind::fetch, "repository '{}': unreadable metadata", repository.id);
    }
    check_digest_types(repository, repomd);
    check_sizes(repository, repo, repomd);
    RepositoryMetadata metadata;
    metadata.repository = &repository;
    metadata.directory = directory;
    metadata.resolved.id = repository.id;
    metadata.resolved.repomd_sha256 = directory.filename().string();
    metadata.resolved.revision_time = lr_yum_repomd_get_highest_timestamp(repomd, nullptr);
    metadata.primary = file_of(repo, "primary");
    metadata.filelists = file_of(repo, "filelists");
    metadata.comps = file_of(repo, "group");
    metadata.modules = file_of(repo, "modules");
    metadata.updateinfo = file_of(repo, "updateinfo");
    if (metadata.updateinfo.empty()) {
        const LrYumRepoMdRecord* record = lr_yum_repomd_get_record(repomd, "updateinfo");
        if (record != nullptr && record->location_href != nullptr) {
            // Only announced so far.
            metadata.updateinfo = directory / fs::path(record->location_href).filename();
        }
    }
    if (metadata.primary.empty()) {
        throw error(ErrorKind::fetch, "repository '{}': repomd.xml lists no primary metadata",
                    repository.id);
    }
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
    const RepositoryMetadata now = open_state(ctx, repository, metadata.directory);
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
    lr_global_init();
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
    std::mutex gpgme;
    parallel_for(waiting, enabled.size(), [&](std::size_t i) {
        const fs::path base = repository_directory(ctx, *enabled[i]);
        const RecordChoice choose = [&](const fs::path& repomd) {
            return choose_records(*enabled[i], repomd);
        };
        const std::string digest = refresh_metadata(ctx, *enabled[i], base, choose, gpgme);
        all[i] = open_state(ctx, *enabled[i], base / digest);
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
