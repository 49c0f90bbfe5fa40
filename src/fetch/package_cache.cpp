#include "fetch/package_cache.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry_lock.hpp"
#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Digests of a file: with the algorithm of the repository's checksum, and SHA-256.
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
    each_piece(content.descriptor(), content.shown(), [&](std::string_view piece) {
        promised.update(piece);
        address.update(piece);
    });
    return {promised.hex(), address.hex()};
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

}  // namespace

std::string package_lock_key(const Checksum& checksum) {
    return fmt::format("{}-{}", checksum_name(checksum.algorithm), checksum.hex);
}

PackageCache::PackageCache(const Context& ctx) : ctx_(ctx), directory_(ctx.cache / "packages") {
    make_directories(directory_);
}

fs::path PackageCache::by_sha256(const std::string& sha256) const {
    return directory_ / (sha256 + ".rpm");
}

fs::path PackageCache::index_of(const Checksum& checksum) const {
    return directory_ / package_lock_key(checksum);
}

fs::path PackageCache::path_of(const Checksum& checksum) const {
    if (checksum.algorithm == ChecksumAlgorithm::sha256) {
        return by_sha256(checksum.hex);
    }
    const fs::path index = index_of(checksum);
    std::error_code code;
    if (fs::is_regular_file(index, code)) {
        const std::string sha256 = read_file(index, 4096);
        // If the index entry is damaged, the package is downloaded again.
        if (is_sha256(sha256) && mark_used(ctx_, index) && mark_used(ctx_, by_sha256(sha256)) &&
            digests_of(PackageContent(by_sha256(sha256)), checksum.algorithm).promised ==
                checksum.hex) {
            return by_sha256(sha256);
        }
        fs::remove(index, code);
    }
    return index.string() + ".rpm";
}

void PackageCache::open(PackageFile& file, const std::optional<fs::path>& local) const {
    if (file.path != index_of(file.package.checksum).concat(".rpm") && mark_used(ctx_, file.path)) {
        open_found(file, local);
        return;
    }
    // The file does not have its final name yet: another build may be about to rename it.
    const EntryLock lock(ctx_, EntryKind::package, package_lock_key(file.package.checksum),
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
        // The cached file is damaged; the repository still has the package.
        open_copy(file, *local);
    } else {
        throw wrong_content(file.package, *content, digests.promised);
    }
}

/// Hashes the copy: the original may be modified at any time.
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

/// Renames the file to `packages/<sha256>.rpm`, and records its SHA-256 if the repository uses
/// another algorithm.
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

}  // namespace edgegpu
