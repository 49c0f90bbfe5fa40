#include "fetch/fetch.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "fetch/download.hpp"
#include "fetch/identity.hpp"
#include "openpgp/package_signature.hpp"
#include "resolve/gpgkeys.hpp"
#include "resolve/metadata_records.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/parallel.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_scheme = "file://";

const Repository& repository_of(const Blueprint& blueprint, const ResolvedPackage& package) {
    const auto found = std::find_if(
        blueprint.repositories.begin(), blueprint.repositories.end(),
        [&](const Repository& repository) { return repository.id == package.repository; });
    if (found == blueprint.repositories.end()) {
        throw error(ErrorKind::fetch,
                    "package {} comes from repository '{}', which the blueprint does not have",
                    package.nevra.text(), package.repository)
            .hinted("resolve the blueprint again without --locked");
    }
    return *found;
}

/// The state of a repository that the packages were chosen from.
std::string repomd_of(const Resolution& resolution, const std::string& id) {
    for (const ResolvedRepository& repository : resolution.repositories) {
        if (repository.id == id) {
            return repository.repomd_sha256;
        }
    }
    return "";
}

/// The package inside a file:// repository, which is read in place; nothing for others.
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

Digests digests_of(const fs::path& path, ChecksumAlgorithm algorithm) {
    if (algorithm == ChecksumAlgorithm::sha256) {
        const std::string digest = sha256_file(path);
        return {digest, digest};
    }
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) {
        throw errno_error(path.string(), errno);
    }
    Digester promised(algorithm);
    Sha256 address;
    std::vector<char> buffer(1U << 18U);
    while (true) {
        const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw errno_error(path.string(), errno);
        }
        if (got == 0) {
            return {promised.hex(), address.hex()};
        }
        promised.update(buffer.data(), static_cast<std::size_t>(got));
        address.update(buffer.data(), static_cast<std::size_t>(got));
    }
}

/// "SHA-512"
std::string algorithm_text(ChecksumAlgorithm algorithm) {
    return "SHA-" + std::string(checksum_name(algorithm).substr(3));
}

Error wrong_content(const PackageFile& file, const std::string& digest) {
    const ResolvedPackage& package = file.package;
    std::error_code code;
    const std::uint64_t size = fs::file_size(file.path, code);
    const std::string promised =
        package.size != 0 ? fmt::format("{} bytes with {}", package.size, package.checksum.hex)
                          : package.checksum.hex;
    return error(ErrorKind::fetch,
                 "package {}: {} bytes with {} {}, but repository '{}' promises {}",
                 package.nevra.text(), size, algorithm_text(package.checksum.algorithm), digest,
                 package.repository, promised)
        .traced(fmt::format("file {}", file.path.string()))
        .hinted(
            "the file was truncated or changed after the repository's metadata were made; "
            "remove it from the cache if it lies there, or have the repository made again");
}

/// The packages in the cache, by SHA-256. Those of which a repository promises another checksum are
/// found through `packages/<algorithm>-<digits>`, which holds the SHA-256 of what was verified
/// once. That is a hint, never believed: the promised checksum is computed whenever a package is
/// used.
class PackageCache {
public:
    explicit PackageCache(const Context& ctx) : directory_(ctx.cache / "packages") {
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
            if (hex && fs::exists(by_sha256(sha256), code) &&
                digests_of(by_sha256(sha256), checksum.algorithm).promised == checksum.hex) {
                return by_sha256(sha256);
            }
            fs::remove(index, code);
        }
        return index.string() + ".rpm";
    }

    /// Moves what was just verified to its address.
    void keep(PackageFile& file) const {
        if (file.path.parent_path() != directory_ || file.path == by_sha256(file.sha256)) {
            return;
        }
        fs::rename(file.path, by_sha256(file.sha256));
        file.path = by_sha256(file.sha256);
        write_file(index_of(file.package.checksum), file.sha256);
    }

private:
    [[nodiscard]] fs::path by_sha256(const std::string& sha256) const {
        return directory_ / (sha256 + ".rpm");
    }
    [[nodiscard]] fs::path index_of(const Checksum& checksum) const {
        return directory_ / fmt::format("{}-{}", checksum_name(checksum.algorithm), checksum.hex);
    }

    fs::path directory_;
};

/// Verifies packages against their repositories' keys, and remembers what was verified, so
/// that the next build need not do it again for the same package and keys.
class SignatureCheck {
public:
    SignatureCheck(const Context& ctx, const Blueprint& blueprint) : ctx_(ctx) {
        make_directories(ctx.cache / "verified");
        for (const Repository& repository : blueprint.repositories) {
            if (repository.enabled && repository.gpgcheck) {
                keys_.emplace(repository.id, read_keys(repository));
            }
        }
    }

    void operator()(const Repository& repository, const PackageFile& file) const {
        if (!repository.gpgcheck) {
            return;
        }
        const PackageKeys& keys = keys_.at(repository.id);
        const fs::path mark = ctx_.cache / "verified" / (file.sha256 + "-" + keys.digest());
        if (fs::exists(mark)) {
            return;
        }
        keys.verify(file.path, file.package.nevra.text());
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

/// For each file the index of the first one that is the same: repositories may list one package
/// twice.
std::vector<std::size_t> first_of_each(const PackageFiles& files) {
    std::vector<std::size_t> firsts;
    std::map<std::pair<fs::path, std::string>, std::size_t> seen;
    for (const PackageFile& file : files) {
        const auto key = std::make_pair(file.path, file.package.checksum.text());
        firsts.push_back(seen.emplace(key, firsts.size()).first->second);
    }
    return firsts;
}

}  // namespace

PackageFiles fetch_packages(const Context& ctx, const Blueprint& blueprint,
                            const Resolution& resolution) {
    const PackageCache cache(ctx);
    PackageFiles files;
    std::map<std::string, std::vector<PackageFile>> missing;
    std::set<fs::path> wanted_paths;
    for (const ResolvedPackage& package : resolution.packages) {
        const Repository& repository = repository_of(blueprint, package);
        PackageFile file{package, cache.path_of(package.checksum), ""};
        if (!fs::exists(file.path)) {
            if (const auto local = local_path(repository, package)) {
                file.path = *local;
            } else if (wanted_paths.insert(file.path).second) {
                missing[repository.id].push_back(file);
            }
        }
        files.push_back(std::move(file));
    }
    for (const auto& [id, wanted] : missing) {
        download_packages(ctx, repository_of(blueprint, wanted.front().package), wanted,
                          repomd_of(resolution, id));
    }

    const SignatureCheck check_signature(ctx, blueprint);
    std::atomic<std::size_t> done{0};
    std::atomic<std::uint64_t> bytes{0};
    const auto checked = [&](const PackageFile& file) {
        check_signature(repository_of(blueprint, file.package), file);
        require_identity(file.path, file.package);
        bytes += file.package.size;
        ctx.console->progress(++done, files.size(), "packages, " + human_size(bytes));
    };
    const std::vector<std::size_t> firsts = first_of_each(files);
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        if (firsts[i] != i) {
            return;
        }
        PackageFile& file = files[i];
        Digests digests = digests_of(file.path, file.package.checksum.algorithm);
        if (digests.promised != file.package.checksum.hex) {
            throw wrong_content(file, digests.promised);
        }
        file.sha256 = std::move(digests.sha256);
        cache.keep(file);
        checked(file);
    });
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (firsts[i] != i) {
            files[i].path = files[firsts[i]].path;
            files[i].sha256 = files[firsts[i]].sha256;
            checked(files[i]);
        }
    }
    return files;
}

}  // namespace edgegpu
