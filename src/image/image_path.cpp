#include "image/image_path.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace edgegpu {

std::string shown(std::string_view path) {
    constexpr std::size_t most = 300;
    return path.size() <= most ? fmt::format("{} of the image", path)
                               : fmt::format("{}… of the image", path.substr(0, most));
}

Error image_error(std::string_view path, int code) {
    return errno_error(shown(path), code);
}

std::string_view without_trailing_slashes(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path;
}

// glibc has no function for openat2(2). EAGAIN means that something on the machine was renamed
// while `..` was resolved.
Fd open_in_root(int root, std::string_view path, std::uint64_t flags) {
    constexpr int most_tries = 100000;
    if (path.find('\0') != std::string_view::npos) {
        errno = EINVAL;
        return {};
    }
    struct open_how how {};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    // With a slash at the end, a link would be followed.
    const std::string text = path.empty() ? "." : std::string(without_trailing_slashes(path));
    for (int tries = 0;; ++tries) {
        const long fd = ::syscall(SYS_openat2, root, text.c_str(), &how, sizeof how);
        if (fd >= 0 || (errno != EINTR && (errno != EAGAIN || tries > most_tries))) {
            return Fd(static_cast<int>(fd));
        }
        if (tries > 10) {
            ::sched_yield();
        }
    }
}

bool is_absent(int code) {
    return code == ENOENT || code == ENOTDIR;
}

void prepend_parts(std::deque<std::string>& rest, std::string_view path) {
    std::deque<std::string> parts;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        if (slash > 0) {
            parts.emplace_back(path.substr(0, slash));
        }
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    rest.insert(rest.begin(), parts.begin(), parts.end());
}

}  // namespace edgegpu
