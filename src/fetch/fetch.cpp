#include "fetch/fetch.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/download.hpp"
#include "fetch/identity.hpp"
#include "openpgp/package_signature.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "support/digest.hpp"
#include "support/entry_lock.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/last_use.hpp"
#include "support/parallel.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_scheme = "file://";

/// The package inside a file:// repository; nothing for others.
std::optional<fs::path> local_path(const Repository& repository, const ResolvedPackage& package) {
    const std::vector<std::string> own{package.base};
    for (const std::string& url : package.base.empty() ? repository.baseurls : own) {
        // A lockfile may say what it likes.
        if (url.starts_with(file_scheme) &&
            !file_place(repository, "package " + package.nevra.text(), package.base,
                        package.location)
                 .location.empty()) {
            fs::path path = fs::path(url.substr(file_scheme.size())) / package.location;
            std::error_code code;
            if (fs::is_regular_file(path, code)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

/// The promised checksum of a file, and its SHA-256.
struct Digests {
    std::string promised;
    std::string sha256;
};

Digests digests_of(const PackageContent& content, ChecksumAlgorithm algorithm) {
    if (algorithm == ChecksumAlgorithm::sha256) {
        const std::string digest = sha256_file(content.path());
        return {digest, digest};
    }
    Digester promised(algorithm);
    Sha256 address;
    std::vector<char> buffer(1U << 18U);
    off_t at = 0;
    while (true) {
        const ssize_t got = ::pread(content.descriptor(), buffer.data(), buffer.size(), at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw errno_error(content.shown(), errno);
        }
        if (got == 0) {
            return {promised.hex(), address.hex()};
        }
        promised.update(buffer.data(), static_cast<std::size_t>(got));
        address.update(buffer.data(), static_cast<std::size_t>(got));
        at += got;
    }
}

/// "SHA-512"
std::string algorithm_text(ChecksumAlgorithm algorithm) {
    return "SHA-" + std::string(checksum_name(algorithm).substr(3));
}

Error wrong_content(const ResolvedPackage& package, const PackageContent& content,
                    const std::string& digest) {
    const std::string promised =
        package.size != 0 ? fmt::format("{} bytes with {}", package.size, package.checksum.hex)
                          : package.checksum.hex;
    return error(ErrorKind::fetch,
                 "package {}: {} bytes with {} {}, but repository '{}' promises {}",
                 package.nevra.text(), content.size(), algorithm_text(package.checksum.algorithm),
                 digest, package.repository, promised)
        .traced(fmt::format("file {}", content.shown()))
        .hinted(
            "the file was truncated or changed after the repository's metadata were made; "
            "remove it if it is in the cache, or have the repository metadata regenerated");
}

/// Names the package in EntryLock.
std::string lock_key(const Checksum& checksum) {
    return fmt::format("{}-{}", checksum_name(checksum.algorithm), checksum.hex);
}

/// The packages in the cache, by SHA-256. Those of which a repository promises another checksum are
/// found through `packages/<algorithm>-<digits>`, which holds the SHA-256 of what was verified
/// once. That is a hint, never believed: the promised checksum is computed whenever a package is
/// used.
class PackageCache {
public:
    explicit PackageCache(const Context& ctx) : ctx_(ctx), directory_(ctx.cache / "packages") {
        make_directories(directory_);
    }

    /// Where the package is, or where it is to be downloaded to.
    [[nodiscard]] fs::path path_of(const Checksum& checksum) const {
        if (checksum.algorithm == ChecksumAlgorithm::sha256) {
            return by_sha256(checksum.hex);
        }
        const fs::path index = index_of(checksum);
        std::error_code code;
        if (fs::is_regular_file(index, code)) {
            const std::string sha256 = read_file(index, 4096);
            const bool hex = sha256.size() == 64 &&
                             sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
            // A damaged hint is no hint: the package is downloaded again.
            if (hex && mark_used(ctx_, index) && mark_used(ctx_, by_sha256(sha256)) &&
                digests_of(PackageContent(by_sha256(sha256)), checksum.algorithm).promised ==
                    checksum.hex) {
                return by_sha256(sha256);
            }
            fs::remove(index, code);
        }
        return index.string() + ".rpm";
    }

    /// Opens a package where it lies in the cache, copied there from `local` first if it is absent
    /// or damaged, and gives it its address there. Throws where it has not the promised checksum.
    void open(PackageFile& file, const std::optional<fs::path>& local) const;

private:
    void open_found(PackageFile& file, const std::optional<fs::path>& local) const;
    [[nodiscard]] fs::path by_sha256(const std::string& sha256) const {
        return directory_ / (sha256 + ".rpm");
    }
    [[nodiscard]] fs::path index_of(const Checksum& checksum) const {
        return directory_ / lock_key(checksum);
    }
    void open_copy(PackageFile& file, const fs::path& local) const;
    void keep(PackageFile& file, std::shared_ptr<PackageContent> content) const;

    const Context& ctx_;
    fs::path directory_;
};

void PackageCache::open(PackageFile& file, const std::optional<fs::path>& local) const {
    if (file.path != index_of(file.package.checksum).concat(".rpm") && mark_used(ctx_, file.path)) {
        open_found(file, local);
        return;
    }
    // It is still to be given its address: another build may do that at the same moment.
    const EntryLock lock(ctx_, EntryKind::package, lock_key(file.package.checksum),
                         "is checking package " + file.package.nevra.text());
    file.path = path_of(file.package.checksum);
    open_found(file, local);
}

void PackageCache::open_found(PackageFile& file, const std::optional<fs::path>& local) const {
    if (local && !fs::exists(file.path)) {
        open_copy(file, *local);
        return;
    }
    auto content = std::make_shared<PackageContent>(file.path);
    Digests digests = digests_of(*content, file.package.checksum.algorithm);
    if (digests.promised == file.package.checksum.hex) {
        file.sha256 = std::move(digests.sha256);
        keep(file, std::move(content));
    } else if (local) {
        // What the cache lost, the repository still has.
        open_copy(file, *local);
    } else {
        throw wrong_content(file.package, *content, digests.promised);
    }
}

/// The copy is what is hashed: the original may be written to at any moment.
void PackageCache::open_copy(PackageFile& file, const fs::path& local) const {
    const PackageContent original(local);
    std::string temporary = file.path.string() + ".XXXXXX";
    const Fd copy(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!copy) {
        throw errno_error(file.path.string(), errno);
    }
    try {
        copy_content(original.descriptor(), copy.get(), temporary, original.size());
        if (::fchmod(copy.get(), 0644) != 0) {
            throw errno_error(temporary, errno);
        }
        auto content = std::make_shared<PackageContent>(temporary, local.string());
        Digests digests = digests_of(*content, file.package.checksum.algorithm);
        if (digests.promised != file.package.checksum.hex) {
            throw wrong_content(file.package, *content, digests.promised);
        }
        file.sha256 = std::move(digests.sha256);
        file.path = temporary;
        keep(file, std::move(content));
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}

/// Moves what was just opened to its address.
void PackageCache::keep(PackageFile& file, std::shared_ptr<PackageContent> content) const {
    const fs::path address = by_sha256(file.sha256);
    if (file.path != address) {
        if (::rename(file.path.c_str(), address.c_str()) != 0) {
            throw errno_error(address.string(), errno);
        }
        content->renamed();
        file.path = address;
        if (file.package.checksum.algorithm != ChecksumAlgorithm::sha256) {
            write_file(index_of(file.package.checksum), file.sha256);
        }
    }
    file.content = std::move(content);
}

/// Verifies packages against their repositories' keys, and remembers what was verified, so
/// that the next build need not do it again for the same package and keys.
class SignatureCheck {
public:
    SignatureCheck(const Context& ctx, const Plan& plan) : ctx_(ctx) {
        make_directories(ctx.cache / "verified");
        for (const auto& [id, source] : plan.sources) {
            if (source.repository.gpgcheck) {
                keys_.emplace(id, read_keys(source.repository));
            }
        }
    }

    void operator()(const Repository& repository, const PackageFile& file) const {
        if (!repository.gpgcheck) {
            return;
        }
        const PackageKeys& keys = keys_.at(repository.id);
        const fs::path mark = ctx_.cache / "verified" / (file.sha256 + "-" + keys.digest());
        if (mark_used(ctx_, mark)) {
            return;
        }
        keys.verify(file.content->path(), file.content->shown(), file.package.nevra.text());
        write_file(mark, "");
    }

private:
    PackageKeys read_keys(const Repository& repository) const {
        if (repository.gpgkeys.empty()) {
            throw error(ErrorKind::fetch,
                        "repository '{}' has no gpgkey to check its packages with", repository.id)
                .traced("at " + repository.location.text())
                .hinted("add gpgkey, or set gpgcheck = false");
        }
        std::vector<std::string> armored;
        std::vector<std::string> origins;
        for (const std::string& url : repository.gpgkeys) {
            armored.push_back(read_key(ctx_, repository, url));
            origins.push_back(
                fmt::format("gpgkey {} of repository '{}'", redacted(url), repository.id));
        }
        return {armored, origins};
    }

    const Context& ctx_;
    std::map<std::string, PackageKeys> keys_;
};

/// For each file the index of the first one that is the same: two roots may have the same package,
/// and repositories may list one twice.
std::vector<std::size_t> first_of_each(const PackageFiles& files) {
    std::vector<std::size_t> firsts;
    std::map<std::pair<fs::path, std::string>, std::size_t> seen;
    for (const PackageFile& file : files) {
        const auto key = std::make_pair(file.path, file.package.checksum.text());
        firsts.push_back(seen.emplace(key, firsts.size()).first->second);
    }
    return firsts;
}

/// One count and one total of bytes for packages of all repositories and roots.
class Progress {
public:
    /// `what`: what happens to each package. Without `bytes` no total is shown.
    Progress(const Context& ctx, std::string what, std::size_t packages, std::uint64_t bytes = 0)
        : ctx_(ctx),
          what_(std::move(what)),
          packages_(packages),
          of_bytes_(bytes > 0 ? " of " + human_size(bytes) : "") {}

    /// May be called from any thread.
    void count(const ResolvedPackage& package) {
        bytes_ += package.size;
        ctx_.console->progress(++done_, packages_,
                               fmt::format("{}, {}{}", what_, human_size(bytes_), of_bytes_));
    }

private:
    const Context& ctx_;
    std::string what_;
    std::size_t packages_;
    std::string of_bytes_;
    std::atomic<std::size_t> done_{0};
    std::atomic<std::uint64_t> bytes_{0};
};

/// Everything in the plan, root after root: `split` takes it apart again.
std::vector<ResolvedPackage> all_packages(const Plan& plan) {
    std::vector<ResolvedPackage> all = plan.image;
    all.insert(all.end(), plan.policy_root.begin(), plan.policy_root.end());
    if (plan.module_build) {
        all.insert(all.end(), plan.module_build->packages.begin(),
                   plan.module_build->packages.end());
        all.push_back(plan.module_build->source);
    }
    return all;
}

FetchedPackages split(const Plan& plan, PackageFiles files) {
    auto next = std::make_move_iterator(files.begin());
    const auto take = [&](std::size_t count) {
        const auto begin = next;
        next += static_cast<std::ptrdiff_t>(count);
        return PackageFiles(begin, next);
    };
    FetchedPackages result;
    result.image = take(plan.image.size());
    result.policy_root = take(plan.policy_root.size());
    if (plan.module_build) {
        result.module_build.emplace();
        result.module_build->packages = take(plan.module_build->packages.size());
        result.module_build->source = *next;
    }
    return result;
}

/// Downloads packages of one repository. What another build downloads at the moment is waited for,
/// and is downloaded here where that one did not succeed.
void download_from(const Context& ctx, const Plan::Source& source, const PackageCache& cache,
                   PackageFiles missing, Progress& progress) {
    while (!missing.empty()) {
        PackageFiles own;
        std::vector<std::optional<EntryLock>> locks;
        PackageFiles busy;
        for (PackageFile& file : missing) {
            auto lock =
                EntryLock::try_take(ctx, EntryKind::package, lock_key(file.package.checksum));
            if (!lock) {
                busy.push_back(std::move(file));
            } else if (mark_used(ctx, cache.path_of(file.package.checksum))) {
                progress.count(file.package);
            } else {
                own.push_back(std::move(file));
                locks.push_back(std::move(lock));
            }
        }
        if (!own.empty()) {
            download_packages(ctx, source.repository, own, source.repomd_sha256,
                              [&](std::size_t i) {
                                  locks[i].reset();
                                  progress.count(own[i].package);
                              });
        }
        locks.clear();
        missing.clear();
        for (PackageFile& file : busy) {
            const EntryLock wait(ctx, EntryKind::package, lock_key(file.package.checksum),
                                 "is downloading package " + file.package.nevra.text());
            if (mark_used(ctx, cache.path_of(file.package.checksum))) {
                progress.count(file.package);
            } else {
                missing.push_back(std::move(file));
            }
        }
    }
}

/// Downloads those of the files that neither the cache nor a repository of this machine has.
void download_missing(const Context& ctx, const Plan& plan, const PackageCache& cache,
                      const PackageFiles& files,
                      const std::vector<std::optional<fs::path>>& locals) {
    std::map<std::string, PackageFiles> missing;
    std::set<fs::path> paths;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const PackageFile& file = files[i];
        if (!mark_used(ctx, file.path) && !locals[i] && paths.insert(file.path).second) {
            missing[file.package.repository].push_back(file);
            bytes += file.package.size;
        }
    }
    Progress progress(ctx, "downloaded", paths.size(), bytes);
    for (auto& [id, wanted] : missing) {
        download_from(ctx, plan.sources.at(id), cache, std::move(wanted), progress);
    }
}

}  // namespace

FetchedPackages fetch_packages(const Context& ctx, const Plan& plan) {
    const PackageCache cache(ctx);
    PackageFiles files;
    std::vector<std::optional<fs::path>> locals;
    for (ResolvedPackage& package : all_packages(plan)) {
        const Repository& repository = plan.sources.at(package.repository).repository;
        locals.push_back(local_path(repository, package));
        fs::path path = cache.path_of(package.checksum);
        files.push_back({std::move(package), std::move(path), "", nullptr});
    }
    download_missing(ctx, plan, cache, files, locals);

    const SignatureCheck check_signature(ctx, plan);
    const auto check = [&](const PackageFile& file) {
        check_signature(plan.sources.at(file.package.repository).repository, file);
        require_identity(file);
    };
    const std::vector<std::size_t> firsts = first_of_each(files);
    Progress progress(ctx, "packages", std::set(firsts.begin(), firsts.end()).size());
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        if (firsts[i] == i) {
            cache.open(files[i], locals[i]);
            check(files[i]);
            progress.count(files[i].package);
        }
    });
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (firsts[i] != i) {
            files[i].path = files[firsts[i]].path;
            files[i].sha256 = files[firsts[i]].sha256;
            files[i].content = files[firsts[i]].content;
            check(files[i]);
        }
    }
    return split(plan, std::move(files));
}

}  // namespace edgegpu
