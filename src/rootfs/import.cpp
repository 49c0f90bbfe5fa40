#include "rootfs/import.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <numeric>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry_lock.hpp"
#include "cache/last_use.hpp"
#include "execution/parallel.hpp"
#include "rootfs/manifest.hpp"
#include "rootfs/unpack.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Whether a file is unchanged since it was unpacked, according to its inode: reading all content
/// would take as long as unpacking. Any write changes the modification time; disk corruption is
/// detected by the digest when an object is made of the content.
bool is_unchanged(const Entry& entry, const struct stat& status) {
    return S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == entry.size &&
           (status.st_mode & 07777U) == entry.mode && status.st_uid == 0 && is_as_unpacked(status);
}

/// The cached import, or nothing if there is none or it is damaged (for example truncated by a
/// power failure).
std::optional<ImportedPackage> read_import(const Context& ctx, const PackageFile& package,
                                           const fs::path& directory) {
    if (!mark_used(ctx, directory / "manifest")) {
        return std::nullopt;
    }
    try {
        ImportedPackage result;
        result.files = parse_manifest(read_file(directory / "manifest"), directory);
        result.header = load_header(read_file(directory / "header"), package.package.nevra.text());
        for (const ImportedFile& file : result.files) {
            struct stat status {};
            if (!file.entry.content.empty() && (::lstat(file.entry.content.c_str(), &status) != 0 ||
                                                !is_unchanged(file.entry, status))) {
                return std::nullopt;
            }
        }
        result.nevra = package.package.nevra;
        result.sha256 = package.sha256;
        result.rpm = package.content;
        return result;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// The directory of a package's import. Throws Error unless the package was verified.
fs::path import_directory(const Context& ctx, const PackageFile& package) {
    const std::string& sha256 = package.sha256;
    const std::string name = package.package.nevra.text();
    if (!is_sha256(sha256)) {
        throw error("package {}: '{}' is not a SHA-256", name, sha256);
    }
    if (!package.content) {
        throw error("package {}: it was not verified", name);
    }
    return ctx.cache / "imports" / sha256;
}

void record(const Context& ctx, const char* message, const PackageFile& package) {
    ctx.log.debug(
        message,
        {{"kind", "imports"}, {"key", package.sha256}, {"name", package.package.nevra.text()}});
}

/// The import of an earlier build, or of one that runs at the same time.
std::optional<ImportedPackage> find_import(const Context& ctx, const PackageFile& package,
                                           const fs::path& directory) {
    std::optional<ImportedPackage> cached = read_import(ctx, package, directory);
    if (cached) {
        record(ctx, "cache hit", package);
    }
    return cached;
}

/// Unpacks a package, unless another build did before the lock was taken. The caller holds the lock
/// of the import.
ImportedPackage make_import(const Context& ctx, const PackageFile& package,
                            const fs::path& directory) {
    if (std::optional<ImportedPackage> cached = find_import(ctx, package, directory)) {
        return std::move(*cached);
    }
    record(ctx, "cache miss", package);
    const fs::path temporary = directory.parent_path() / (".new-" + package.sha256);
    try {
        remove_tree(temporary);
        remove_tree(directory);
        unpack_package(ctx, package, temporary, directory);
        package.content->require_unchanged(package.sha256);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw;
    }
    if (::rename(temporary.c_str(), directory.c_str()) != 0) {
        const int code = errno;
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw errno_error(directory.string(), code);
    }
    std::optional<ImportedPackage> made = read_import(ctx, package, directory);
    if (!made) {
        throw error("package {}: its import cannot be read back", package.package.nevra.text());
    }
    record(ctx, "cache entry made", package);
    return std::move(*made);
}

/// Like import_package, but returns nothing if another build is unpacking the package.
std::optional<ImportedPackage> import_unless_busy(const Context& ctx, const PackageFile& package) {
    const fs::path directory = import_directory(ctx, package);
    if (std::optional<ImportedPackage> cached = find_import(ctx, package, directory)) {
        return cached;
    }
    const auto lock = EntryLock::try_take(ctx, EntryKind::import, package.sha256);
    return lock ? std::optional(make_import(ctx, package, directory)) : std::nullopt;
}

}  // namespace

ImportedPackage import_package(const Context& ctx, const PackageFile& package) {
    const fs::path directory = import_directory(ctx, package);
    if (std::optional<ImportedPackage> cached = find_import(ctx, package, directory)) {
        return std::move(*cached);
    }
    const EntryLock lock(ctx, EntryKind::import, package.sha256,
                         "is unpacking package " + package.package.nevra.text());
    return make_import(ctx, package, directory);
}

std::vector<ImportedPackage> import_packages(const Context& ctx, const PackageFiles& packages) {
    make_directories(ctx.cache / "imports");
    std::vector<std::size_t> order(packages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return packages[a].package.size > packages[b].package.size;
    });
    std::vector<ImportedPackage> result(packages.size());
    std::atomic<std::size_t> finished{0};
    const auto finish = [&](std::size_t index, ImportedPackage imported) {
        result[index] = std::move(imported);
        if (ctx.console != nullptr) {
            ctx.console->progress(++finished, packages.size(), "packages imported");
        }
    };
    // Packages that another build is unpacking come last, when they are probably done.
    std::mutex mutex;
    std::vector<std::size_t> busy;
    parallel_for(ctx, order.size(), [&](std::size_t i) {
        if (auto imported = import_unless_busy(ctx, packages[order[i]])) {
            finish(order[i], std::move(*imported));
            return;
        }
        const std::lock_guard lock(mutex);
        busy.push_back(order[i]);
    });
    parallel_for(ctx, busy.size(),
                 [&](std::size_t i) { finish(busy[i], import_package(ctx, packages[busy[i]])); });
    return result;
}

}  // namespace edgegpu
