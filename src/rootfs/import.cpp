#include "rootfs/import.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <numeric>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "rootfs/manifest.hpp"
#include "rootfs/unpack.hpp"
#include "support/entry_lock.hpp"
#include "support/file.hpp"
#include "support/last_use.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Whether a file is what unpacking left, as far as its inode tells: to read all content takes as
/// long as unpacking does. Who writes to a file, be it by mistake, gives it another time; what only
/// a broken disk changed is found when the content gets into an object, by its digest.
bool is_as_unpacked(const Entry& entry, const struct stat& status) {
    return S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == entry.size &&
           (status.st_mode & 07777U) == entry.mode && status.st_uid == 0 &&
           status.st_mtim.tv_sec == unpacked_time && status.st_mtim.tv_nsec == 0;
}

/// The cached import, or nothing where there is none or it is damaged (a machine that lost
/// power may leave files shorter than they were written).
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
                                                !is_as_unpacked(file.entry, status))) {
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

/// Where a package's import lies.
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

/// Unpacks a package, unless somebody did while its lock was waited for. Called with that lock.
ImportedPackage make_import(const Context& ctx, const PackageFile& package,
                            const fs::path& directory) {
    if (std::optional<ImportedPackage> cached = read_import(ctx, package, directory)) {
        return std::move(*cached);
    }
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
    return std::move(*made);
}

/// As import_package, but nothing where another build is unpacking it at the moment.
std::optional<ImportedPackage> import_unless_busy(const Context& ctx, const PackageFile& package) {
    const fs::path directory = import_directory(ctx, package);
    if (std::optional<ImportedPackage> cached = read_import(ctx, package, directory)) {
        return cached;
    }
    const auto lock = EntryLock::try_take(ctx, EntryKind::import, package.sha256);
    return lock ? std::optional(make_import(ctx, package, directory)) : std::nullopt;
}

}  // namespace

ImportedPackage import_package(const Context& ctx, const PackageFile& package) {
    const fs::path directory = import_directory(ctx, package);
    if (std::optional<ImportedPackage> cached = read_import(ctx, package, directory)) {
        return std::move(*cached);
    }
    const EntryLock lock(ctx, EntryKind::import, package.sha256,
                         "is unpacking package " + package.package.nevra.text());
    return make_import(ctx, package, directory);
}

std::vector<ImportedPackage> import_packages(const Context& ctx, const PackageFiles& packages) {
    const fs::path imports = ctx.cache / "imports";
    make_directories(imports);
    // Files below have setuid bits and capabilities: nobody but root may reach them.
    if (::chmod(imports.c_str(), 0700) != 0) {
        throw errno_error(imports.string(), errno);
    }
    std::vector<std::size_t> order(packages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
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
    // What another build unpacks at the moment comes last: it is done by then.
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
