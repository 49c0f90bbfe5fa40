#include "rootfs/import.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "rootfs/manifest.hpp"
#include "rootfs/unpack.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// The cached import, or nothing where there is none or it is damaged (a machine that lost
/// power may leave files shorter than they were written).
std::optional<ImportedPackage> read_import(const PackageFile& package, const fs::path& directory) {
    std::error_code code;
    if (!fs::exists(directory / "manifest", code)) {
        return std::nullopt;
    }
    try {
        ImportedPackage result;
        result.files = parse_manifest(read_file(directory / "manifest"), directory);
        result.header = load_header(read_file(directory / "header"), package.package.nevra.text());
        for (const ImportedFile& file : result.files) {
            struct stat status {};
            if (!file.entry.content.empty() &&
                (::lstat(file.entry.content.c_str(), &status) != 0 ||
                 static_cast<std::uint64_t>(status.st_size) != file.entry.size)) {
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

/// Directories that killed builds left behind: those whose maker is no longer alive.
void remove_stale_imports(const fs::path& imports) {
    for (const fs::directory_entry& entry : fs::directory_iterator(imports)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(".new-")) {
            continue;
        }
        const pid_t maker = std::atoi(name.c_str() + 5);
        if (maker <= 0 || (::kill(maker, 0) != 0 && errno == ESRCH) || maker == ::getpid()) {
            remove_tree(entry.path());
        }
    }
}

}  // namespace

ImportedPackage import_package(const Context& ctx, const PackageFile& package) {
    const std::string& sha256 = package.sha256;
    const std::string name = package.package.nevra.text();
    if (sha256.size() != 64 || sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw error("package {}: '{}' is not a SHA-256", name, sha256);
    }
    if (!package.content) {
        throw error("package {}: it was not verified", name);
    }
    const fs::path directory = ctx.cache / "imports" / sha256;
    if (std::optional<ImportedPackage> cached = read_import(package, directory)) {
        return std::move(*cached);
    }
    const fs::path temporary =
        ctx.cache / "imports" / fmt::format(".new-{}-{}", ::getpid(), sha256);
    try {
        remove_tree(directory);
        unpack_package(ctx, package, temporary, directory);
        package.content->require_unchanged(sha256);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw;
    }
    if (::rename(temporary.c_str(), directory.c_str()) != 0) {
        const int code = errno;
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        // Somebody else's import of the same RPM is as good.
        if (code != EEXIST && code != ENOTEMPTY) {
            throw errno_error(directory.string(), code);
        }
    }
    std::optional<ImportedPackage> made = read_import(package, directory);
    if (!made) {
        throw error("package {}: its import cannot be read back", name);
    }
    return std::move(*made);
}

std::vector<ImportedPackage> import_packages(const Context& ctx, const PackageFiles& packages) {
    const fs::path imports = ctx.cache / "imports";
    make_directories(imports);
    // Files below have setuid bits and capabilities: nobody but root may reach them.
    if (::chmod(imports.c_str(), 0700) != 0) {
        throw errno_error(imports.string(), errno);
    }
    remove_stale_imports(imports);
    std::vector<std::size_t> order(packages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return packages[a].package.size > packages[b].package.size;
    });
    std::vector<ImportedPackage> result(packages.size());
    std::atomic<std::size_t> finished{0};
    parallel_for(ctx, order.size(), [&](std::size_t i) {
        const std::size_t index = order[i];
        result[index] = import_package(ctx, packages[index]);
        if (ctx.console != nullptr) {
            ctx.console->progress(++finished, packages.size(), "packages imported");
        }
    });
    return result;
}

}  // namespace edgegpu
