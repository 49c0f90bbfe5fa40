#include "cache/cache_directory.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/foreign_access.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* why_alone =
    "what is in a cache runs in images and is signed, so only its user may write to it";

Error not_alone(const fs::path& path, const std::string& how) {
    Error problem = error(ErrorKind::usage, "the cache {} {}", path.string(), how);
    return problem.traced(why_alone);
}

std::string removal(const fs::path& cache) {
    return fmt::format("choose another --cache-dir, or remove this one: sudo rm -rf {}",
                       shell_word(cache.string()));
}

void check_alone(const fs::path& cache, const fs::path& path) {
    const std::string how = foreign_access(path);
    if (how.empty()) {
        return;
    }
    if (how.starts_with("belongs")) {
        throw not_alone(path, how).hinted(removal(cache));
    }
    throw not_alone(path, how).hinted(
        fmt::format("{} {}, if nobody else has written to it; else {}",
                    how.ends_with("list names") ? "setfacl -b" : "chmod go-w",
                    shell_word(path.string()), removal(cache)));
}

/// Checks everything in `directory`; of what is below, with `deep`, links and directories. Nothing
/// else has to be: in a directory that is the user's alone, nobody else can replace a file.
void check_children(const fs::path& cache, const fs::path& directory, bool deep) {
    for (const fs::directory_entry& entry : children_of(directory)) {
        std::error_code code;
        const fs::path& path = entry.path();
        if (entry.is_symlink(code)) {
            throw not_alone(path, "is a symbolic link, which edgegpu does not make there")
                .hinted(removal(cache));
        }
        const bool is_directory = entry.is_directory(code);
        if (deep || is_directory) {
            check_alone(cache, path);
        }
        if (deep && is_directory) {
            check_children(cache, path, false);
        }
    }
}

/// The directory itself, where `wanted` may be a link to it.
fs::path resolved(const fs::path& wanted) {
    std::error_code code;
    struct stat status {};
    const fs::path path = fs::absolute(wanted).lexically_normal();
    const fs::path named = path.has_filename() ? path : path.parent_path();
    if (::lstat(named.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
        if (status.st_uid != 0) {
            check_alone(named, named);
        }
        if (!fs::is_directory(named, code)) {
            throw error(ErrorKind::usage, "the cache {} is a link to {}, which is not a directory",
                        named.string(), fs::read_symlink(named, code).string())
                .hinted("choose another --cache-dir, or create that directory");
        }
    }
    if (!fs::exists(named, code)) {
        make_directories(named);
        if (::chmod(named.c_str(), 0700) != 0) {
            throw errno_error(named.string(), errno);
        }
    }
    fs::path real = fs::canonical(named, code);
    if (code) {
        throw errno_error(named.string(), code.value());
    }
    return real;
}

}  // namespace

fs::path open_cache(const fs::path& wanted, CacheAccess access) {
    fs::path cache = resolved(wanted);
    check_alone(cache, cache);
    if (access == CacheAccess::write &&
        ::faccessat(AT_FDCWD, cache.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
        throw error(ErrorKind::usage, "the cache {} cannot be written: {}", cache.string(),
                    std::strerror(errno))
            .hinted("choose another --cache-dir");
    }
    check_children(cache, cache, true);
    return cache;
}

}  // namespace edgegpu
