#include "resolve/metadata_download.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "resolve/librepo.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

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

/// A GnuPG home with exactly the repository's keys. `gpgme` is held meanwhile: whoever uses that
/// library first sets it up, which must not happen in two threads at once.
void import_keys(const Context& ctx, const Repository& repository, const fs::path& home,
                 std::mutex& gpgme) {
    make_directories(home);
    ::chmod(home.c_str(), 0700);
    const fs::path keys = home / "keys.asc";
    write_file(keys, key_material(ctx, repository), 0600);
    const std::lock_guard<std::mutex> alone(gpgme);
    GError* raw = nullptr;
    if (!lr_gpg_import_key(keys.c_str(), home.c_str(), &raw)) {
        const GErrorPtr problem(raw);
        throw error(ErrorKind::fetch, "repository '{}': its gpgkey cannot be imported: {}",
                    repository.id, problem ? problem->message : "unknown problem");
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

/// Downloads and verifies everything; returns the SHA-256 of its repomd.xml.
std::string download(const Context& ctx, const Repository& repository, const fs::path& base,
                     const RecordChoice& choose, const std::string& mark, std::mutex& gpgme) {
    const Scratch scratch(base / fmt::format("part.{}", ::getpid()));
    const Scratch home(base / fmt::format("gpg.{}", ::getpid()));
    const LrHandlePtr handle = make_handle(repository);
    if (repository.repo_gpgcheck) {
        import_keys(ctx, repository, home.path(), gpgme);
        lr_handle_setopt(handle.get(), nullptr, LRO_GNUPGHOMEDIR, home.path().c_str());
        lr_handle_setopt(handle.get(), nullptr, LRO_GPGCHECK, 1L);
    }
    const LrResultPtr result(lr_result_init());
    perform(ctx, repository, handle.get(), result.get(), scratch.path(), {});
    const fs::path repomd = scratch.path() / "repodata/repomd.xml";
    std::string digest = sha256_file(repomd);
    download_records(ctx, repository, scratch.path(), choose(repomd));
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

}  // namespace

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

void download_records(const Context& ctx, const Repository& repository, const fs::path& directory,
                      const std::vector<MetadataRecord>& records) {
    std::vector<std::string> types;
    for (const MetadataRecord& record : records) {
        if (!fs::exists(metadata_path(directory, record))) {
            types.push_back(record.type);
        }
    }
    if (types.empty()) {
        return;
    }
    const LrResultPtr result = open_local(ctx, repository, directory, {"primary"});
    const LrHandlePtr handle = make_handle(repository);
    lr_handle_setopt(handle.get(), nullptr, LRO_UPDATE, 1L);
    perform(ctx, repository, handle.get(), result.get(), directory, types);
    for (const MetadataRecord& record : records) {
        check_metadata_file(repository, record, metadata_path(directory, record));
    }
}

std::string refresh_metadata(const Context& ctx, const Repository& repository, const fs::path& base,
                             const RecordChoice& choose, std::mutex& gpgme) {
    const std::string mark = trust_mark(ctx, repository);
    if (ctx.offline && !is_local(repository)) {
        return cached_state(repository, base, mark);
    }
    make_directories(base);
    std::string digest = probe(ctx, repository, base);
    if (!is_verified(base / digest, mark)) {
        digest = download(ctx, repository, base, choose, mark, gpgme);
    } else {
        download_records(ctx, repository, base / digest,
                         choose(base / digest / "repodata/repomd.xml"));
    }
    const fs::path current = base / "current";
    if (!fs::exists(current) || read_file(current, 4096) != digest) {
        write_file(current, digest);
        remove_old_states(base, digest);
    }
    return digest;
}

}  // namespace edgegpu
