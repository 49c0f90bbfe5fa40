#include "resolve/metadata.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include "resolve/librepo.hpp"
#include "resolve/metadata_signature.hpp"
#include "resolve/solv.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/parallel.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_signature = 1ULL << 20U;
constexpr std::uint64_t largest_repomd = 64ULL << 20U;

const std::vector<std::string>& wanted_types() {
    static const std::vector<std::string> types{"primary", "group", "modules"};
    return types;
}

/// `<cache>/repos/<id>-<digest>`: the digest keeps two blueprints apart that give one id to
/// different repositories.
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

bool is_local(const Repository& repository) {
    return repository.metalink.empty() && repository.mirrorlist.empty() &&
           std::all_of(repository.baseurls.begin(), repository.baseurls.end(),
                       [](const std::string& url) {
                           return url.starts_with("file://") || url.starts_with('/');
                       });
}

/// A scratch directory that is removed unless it was renamed away.
class Scratch {
public:
    explicit Scratch(fs::path path) : path_(std::move(path)) {
        remove_tree(path_);
        make_directories(path_);
    }
    ~Scratch() {
        try {
            remove_tree(path_);
        } catch (const Error&) {
            // Left-overs in the cache do no harm; the next run removes them.
            return;
        }
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

/// Digest of what a signature was checked with: "unsigned", or that of the key material.
std::string trust_mark(const Context& ctx, const Repository& repository) {
    if (!repository.repo_gpgcheck) {
        return "unsigned";
    }
    if (repository.gpgkeys.empty()) {
        throw error(ErrorKind::fetch, "repository '{}': repo_gpgcheck is on, but it has no gpgkey",
                    repository.id)
            .traced(fmt::format("repository defined at {}", repository.location.text()))
            .hinted("give gpgkey, or repo_gpgcheck = false to accept unsigned metadata");
    }
    return sha256_hex(key_material(ctx, repository));
}

/// repodata/repomd.xml.asc from where repomd.xml came, or "" where there is none; `why` then
/// receives the transfer's words.
std::string fetch_signature(const Repository& repository, LrResult* result, const fs::path& file,
                            std::string& why) {
    LrYumRepo* repo = nullptr;
    if (!lr_result_getinfo(result, nullptr, LRR_YUM_REPO, &repo) || repo->url == nullptr) {
        throw error(ErrorKind::fetch, "repository '{}': unreadable metadata", repository.id);
    }
    std::string url = repo->url;
    url += url.ends_with('/') ? "repodata/repomd.xml.asc" : "/repodata/repomd.xml.asc";
    const Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) {
        throw errno_error(file.string(), errno);
    }
    const LrHandlePtr handle = make_handle(repository);
    GError* raw = nullptr;
    const bool good = lr_download_url(handle.get(), url.c_str(), fd.get(), &raw) != FALSE;
    const GErrorPtr problem(raw);
    if (good) {
        return read_file(file, largest_signature);
    }
    why = problem ? problem->message : "unknown problem";
    const bool absent = why.find("Status code: 404") != std::string::npos ||
                        why.find("Curl error (37)") != std::string::npos;
    if (!absent) {
        throw error(ErrorKind::fetch, "repository '{}': cannot get repodata/repomd.xml.asc",
                    repository.id)
            .traced(why)
            .traced("repository defined at " + repository.location.text())
            .hinted("try again, then another mirror");
    }
    return "";
}

/// Checks the repomd.xml that lies in `directory` against its signature.
void verify_repomd(const Context& ctx, const Blueprint& blueprint, const Repository& repository,
                   LrResult* result, const fs::path& directory) {
    std::string why;
    const std::string signature =
        fetch_signature(repository, result, directory / "repodata/repomd.xml.asc", why);
    ctx.check_cancelled();
    try {
        check_repomd_signature(ctx, blueprint, repository,
                               read_file(directory / "repodata/repomd.xml", largest_repomd),
                               signature);
    } catch (Error& problem) {
        if (!why.empty()) {
            problem.traced(why);
        }
        throw problem.traced("repository defined at " + repository.location.text());
    }
}

/// SHA-256 of the repomd.xml that the repository has now.
std::string probe(const Context& ctx, const Repository& repository, const fs::path& base) {
    const Scratch scratch(base / fmt::format("probe.{}", ::getpid()));
    const LrHandlePtr handle = make_handle(repository);
    const LrResultPtr result(lr_result_init());
    perform(ctx, repository, handle.get(), result.get(), scratch.path(), {});
    return sha256_file(scratch.path() / "repodata/repomd.xml");
}

/// Downloads and verifies everything; returns the SHA-256 of its repomd.xml. What repomd.xml says
/// is believed only once its signature was checked.
std::string download(const Context& ctx, const Blueprint& blueprint, const Repository& repository,
                     const fs::path& base, const std::string& mark) {
    const Scratch scratch(base / fmt::format("part.{}", ::getpid()));
    const LrHandlePtr handle = make_handle(repository);
    const LrResultPtr result(lr_result_init());
    perform(ctx, repository, handle.get(), result.get(), scratch.path(), {});
    if (repository.repo_gpgcheck) {
        verify_repomd(ctx, blueprint, repository, result.get(), scratch.path());
    }
    lr_handle_setopt(handle.get(), nullptr, LRO_UPDATE, 1L);
    perform(ctx, repository, handle.get(), result.get(), scratch.path(), wanted_types());
    std::string digest = sha256_file(scratch.path() / "repodata/repomd.xml");
    write_file(scratch.path() / "verified", mark);
    const fs::path final_place = base / digest;
    remove_tree(final_place);
    fs::rename(scratch.path(), final_place);
    return digest;
}

bool is_verified(const fs::path& directory, const std::string& mark) {
    const fs::path file = directory / "verified";
    return fs::exists(file) && read_file(file, 4096) == mark;
}

/// Removes the metadata of earlier states; keys and files of running processes stay.
void remove_old_states(const fs::path& base, const std::string& digest) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.size() == 64 && name != digest) {
            remove_tree(entry.path());
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

std::string refresh(const Context& ctx, const Blueprint& blueprint, const Repository& repository,
                    const fs::path& base) {
    const std::string mark = trust_mark(ctx, repository);
    if (ctx.offline && !is_local(repository)) {
        return cached_state(repository, base, mark);
    }
    make_directories(base);
    std::string digest = probe(ctx, repository, base);
    if (!is_verified(base / digest, mark)) {
        digest = download(ctx, blueprint, repository, base, mark);
    }
    const fs::path current = base / "current";
    if (!fs::exists(current) || read_file(current, 4096) != digest) {
        write_file(current, digest);
        remove_old_states(base, digest);
    }
    return digest;
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
void download_more(const Context& ctx, RepositoryMetadata& metadata, const char* type) {
    const Repository& repository = *metadata.repository;
    // The verified repomd.xml stays; only the record's file is added to it.
    const LrResultPtr result = open_local(ctx, repository, metadata.directory, wanted_types());
    const LrHandlePtr handle = make_handle(repository);
    lr_handle_setopt(handle.get(), nullptr, LRO_UPDATE, 1L);
    perform(ctx, repository, handle.get(), result.get(), metadata.directory, {type});
    const RepositoryMetadata now = open_state(ctx, repository, metadata.directory);
    metadata.filelists = now.filelists;
    metadata.updateinfo = now.updateinfo;
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
    parallel_for(waiting, enabled.size(), [&](std::size_t i) {
        const fs::path base = repository_directory(ctx, *enabled[i]);
        const std::string digest = refresh(ctx, blueprint, *enabled[i], base);
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
    download_more(ctx, metadata, "filelists");
}

bool load_updateinfo(const Context& ctx, RepositoryMetadata& metadata) {
    if (metadata.updateinfo.empty() || fs::exists(metadata.updateinfo)) {
        return true;
    }
    if (ctx.offline && !is_local(*metadata.repository)) {
        return false;
    }
    download_more(ctx, metadata, "updateinfo");
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
