#include "image/image_path.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <linux/openat2.h>

#include "support/files/file.hpp"

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

Fd open_in_root(int root, std::string_view path, std::uint64_t flags) {
    // With a slash at the end, a link would be followed.
    return open_at(root, path.empty() ? "." : std::string(without_trailing_slashes(path)), flags,
                   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
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

std::string resolve_links(std::string_view path, bool follow_last, const LinkTarget& target_of) {
    constexpr int max_links = 40;
    std::deque<std::string> rest;
    prepend_parts(rest, path);
    std::string done;
    for (int links = 0; !rest.empty();) {
        const std::string part = rest.front();
        rest.pop_front();
        if (part == ".") {
            continue;
        }
        if (part == "..") {
            done.resize(std::min(done.rfind('/'), done.size()));
            continue;
        }
        const std::string next = done + "/" + part;
        const std::optional<std::string> target = target_of(next);
        if (!target || (rest.empty() && !follow_last)) {
            done = next;
            continue;
        }
        if (++links > max_links) {
            throw error("{}: too many levels of symbolic links", shown(path));
        }
        if (target->starts_with('/')) {
            done.clear();
        }
        prepend_parts(rest, *target);
    }
    return done.empty() ? "/" : done;
}

}  // namespace edgegpu
