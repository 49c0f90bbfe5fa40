#include "resolve/metadata/repo_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

extern "C" {
#include <solv/repo_updateinfoxml.h>
}

#include "resolve/metadata/metadata_file.hpp"
#include "support/error.hpp"
#include "support/files/build_id.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

using FilePtr = Handle<FILE, std::fclose>;
using Writer = Handle<Repowriter, repowriter_free>;

/// "primary-0123456789abcdef.solv": what libsolv makes of metadata, and what this program adds to
/// that, is found by the same build of both only.
fs::path cache_of(const RepositoryMetadata& metadata, std::string_view kind) {
    return metadata.directory / fmt::format("{}-{}.solv", kind, program_identity());
}

bool load_cache(Repo* repo, const fs::path& path, int flags) {
    const FilePtr file(std::fopen(path.c_str(), "re"));
    return file && repo_add_solv(repo, file.get(), flags) == 0;
}

/// Id of the repodata with primary metadata, the first one loaded.
constexpr Id primary_data = 1;

/// Writes the data of primary metadata with all dependencies, or without `primary` the data loaded
/// last. Failures are not reported: they only cost time.
void save_cache(Repo* repo, const fs::path& path, bool primary) {
    std::string part = path.string() + ".XXXXXX";
    const int descriptor = ::mkostemp(part.data(), O_CLOEXEC);
    FilePtr file(descriptor >= 0 ? ::fdopen(descriptor, "w") : nullptr);
    if (!file) {
        return;
    }
    const Writer writer(repowriter_create(repo));
    if (primary && repo->nrepodata > primary_data) {
        repowriter_set_repodatarange(writer.get(), primary_data, primary_data + 1);
    } else if (!primary) {
        repowriter_set_repodatarange(writer.get(), repo->nrepodata - 1, repo->nrepodata);
        repowriter_set_flags(writer.get(), REPOWRITER_NO_STORAGE_SOLVABLE);
    }
    bool good = repowriter_write(writer.get(), file.get()) == 0;
    good = std::fclose(file.release()) == 0 && good;
    if (!good || std::rename(part.c_str(), path.c_str()) != 0) {
        std::remove(part.c_str());
    }
}

/// One kind of metadata, as it is loaded.
struct MetadataPart {
    std::string_view kind;
    const fs::path& file;
    std::uint64_t open_size = 0;
    /// in messages
    std::string_view what;
    /// of the loaded data
    int flags = 0;
};

/// Loads it from the cache, else from the repository's file with `read`, and writes the cache.
void load_part(const RepositoryMetadata& metadata, Repo* repo, const MetadataPart& part,
               const std::function<int(FILE*)>& read) {
    const fs::path cache = cache_of(metadata, part.kind);
    if (fs::exists(cache)) {
        if (load_cache(repo, cache, part.flags)) {
            return;
        }
        if (part.flags == 0) {
            repo_empty(repo, 1);
        }
    }
    const MetadataStream file(metadata.resolved.id, part.file, part.open_size);
    const bool good = read(file.get()) == 0;
    file.check();
    if (!good) {
        throw error(ErrorKind::fetch, "repository '{}': invalid {}: {}", metadata.resolved.id,
                    part.what, pool_errstr(repo->pool));
    }
    save_cache(repo, cache, part.flags == 0);
}

}  // namespace

void load_primary(const RepositoryMetadata& metadata, Repo* repo) {
    load_part(metadata, repo,
              {"primary", metadata.primary, metadata.open_size(MetadataKind::primary),
               "primary metadata"},
              [&](FILE* file) { return repo_add_rpmmd(repo, file, nullptr, 0); });
}

void load_file_lists(const RepositoryMetadata& metadata, Repo* repo) {
    constexpr int flags = REPO_EXTEND_SOLVABLES | REPO_LOCALPOOL;
    load_part(metadata, repo,
              {"filelists", metadata.filelists, metadata.open_size(MetadataKind::filelists),
               "file lists", flags},
              [&](FILE* file) { return repo_add_rpmmd(repo, file, nullptr, flags); });
}

void load_advisories(const RepositoryMetadata& metadata, Repo* repo) {
    load_part(metadata, repo,
              {"updateinfo", metadata.updateinfo, metadata.open_size(MetadataKind::updateinfo),
               "advisories"},
              [&](FILE* file) { return repo_add_updateinfoxml(repo, file, 0); });
}

std::set<Id> provided_paths(Repo* repo) {
    IdQueue paths;
    repo_lookup_idarray(repo, SOLVID_META, REPOSITORY_ADDEDFILEPROVIDES, paths.get());
    return {paths.begin(), paths.end()};
}

void save_provided_paths(const RepositoryMetadata& metadata, Repo* repo,
                         const std::set<Id>& paths) {
    std::set<Id> all = provided_paths(repo);
    const std::size_t before = all.size();
    all.insert(paths.begin(), paths.end());
    Repodata* data = repo_id2repodata(repo, primary_data);
    if (all.size() == before || data == nullptr) {
        return;
    }
    IdQueue queue;
    for (const Id path : all) {
        queue_push(queue.get(), path);
    }
    repodata_set_idarray(data, SOLVID_META, REPOSITORY_ADDEDFILEPROVIDES, queue.get());
    repodata_internalize(data);
    save_cache(repo, cache_of(metadata, "primary"), true);
}

}  // namespace edgegpu
