#include "rootfs/lower.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/parallel.hpp"
#include "image/content.hpp"
#include "image/image_root.hpp"
#include "rootfs/unpack.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Path → `describe` of its entry.
using Index = std::map<std::string, std::string, std::less<>>;

/// Everything about an entry that is visible in the lower layer: "dMODE OWNER", "lTARGET" or
/// "fMODE OWNER CONTENT INODE".
std::string describe(const Entry& entry) {
    switch (entry.type) {
        case EntryType::directory:
            return fmt::format("d{:o} {}:{}", entry.mode, entry.uid, entry.gid);
        case EntryType::symlink:
            return "l" + entry.target;
        case EntryType::file:
            break;
    }
    // With the inode, so that files of a package that was imported again are linked again.
    struct stat status {};
    if (::stat(entry.content.c_str(), &status) != 0) {
        throw errno_error(entry.content.string(), errno);
    }
    return fmt::format("f{:o} {}:{} {} {}", entry.mode, entry.uid, entry.gid,
                       entry.content.string(), status.st_ino);
}

/// Reads an index file: path and description alternately, each terminated by a NUL.
Index read_index(const fs::path& file) {
    std::error_code code;
    Index index;
    if (!fs::exists(file, code)) {
        return index;
    }
    const std::string text = read_file(file);
    std::string_view rest(text);
    const auto next = [&rest]() {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        std::string word(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return word;
    };
    while (!rest.empty()) {
        std::string path = next();
        index.emplace_hint(index.end(), std::move(path), next());
    }
    return index;
}

std::string format_index(const Entries& entries) {
    std::string text;
    for (const auto& [path, entry] : entries) {
        text.append(path).push_back('\0');
        text.append(describe(entry)).push_back('\0');
    }
    return text;
}

/// Removes entries that `entries` does not have or that differ, children before parents, and clears
/// their descriptions in `index`; directories whose mode alone differs stay.
void remove_old(Index& index, const Entries& entries, const ImageRoot& lower) {
    for (auto item = index.rbegin(); item != index.rend(); ++item) {
        auto& [path, description] = *item;
        const auto wanted = entries.find(path);
        const bool was_directory = description.starts_with('d');
        if (wanted != entries.end() &&
            (describe(wanted->second) == description ||
             (was_directory && wanted->second.type == EntryType::directory))) {
            continue;
        }
        const std::optional<struct stat> found = lower.status(path);
        if (!found || S_ISDIR(found->st_mode) != was_directory ||
            (was_directory && !lower.list(path).empty())) {
            throw error("{}: not what an earlier build made", path);
        }
        lower.remove(path);
        description.clear();
    }
}

/// Whether the content in the cache is a file of a package as it was unpacked, with the entry's
/// owner and mode (and capabilities): a link to it looks like the entry.
bool is_linkable(const Entry& entry) {
    struct stat status {};
    return entry.uid == 0 && entry.gid == 0 && ::stat(entry.content.c_str(), &status) == 0 &&
           is_as_unpacked(status) && (status.st_mode & 07777U) == entry.mode;
}

void make_leaf(const Entry& entry, const ImageRoot& lower, const std::string& path) {
    if (entry.type == EntryType::symlink) {
        lower.make_link(path, entry.target);
    } else if (!is_linkable(entry) || !lower.link_in(path, entry.content)) {
        materialise(entry, lower, path);
    } else {
        return;
    }
    lower.set_time(path, unpacked_time);
}

void make_leaves(const Context& ctx, const std::vector<const Entries::value_type*>& leaves,
                 const ImageRoot& lower) {
    constexpr std::size_t batch = 256;
    parallel_for(ctx, (leaves.size() + batch - 1) / batch, [&](std::size_t number) {
        const std::size_t end = std::min(leaves.size(), (number + 1) * batch);
        for (std::size_t i = number * batch; i < end; ++i) {
            make_leaf(leaves[i]->second, lower, leaves[i]->first);
        }
    });
}

/// Whether the directory belongs to the image's root: not in a cache that was copied without
/// owners, in which the image's programs cannot write.
bool has_its_owner(const fs::path& lower) {
    struct stat status {};
    return ::lstat(lower.c_str(), &status) == 0 && status.st_uid == 0;
}

}  // namespace

void check_out(const Context& ctx, const Entries& entries, const fs::path& lower,
               const fs::path& index_file) {
    Index index = has_its_owner(lower) ? read_index(index_file) : Index();
    std::error_code code;
    fs::remove(index_file, code);
    try {
        if (!index.empty()) {
            remove_old(index, entries, ImageRoot(lower));
        }
    } catch (const Error&) {
        index.clear();  // The directory was changed from outside: start with an empty one.
    }
    if (index.empty()) {
        remove_tree(lower);
        make_directories(lower);
    }
    const ImageRoot root(lower);
    std::vector<const Entries::value_type*> leaves;
    for (const auto& item : entries) {  // sorted: parents come first
        const auto old = index.find(item.first);
        if (old != index.end() && old->second == describe(item.second)) {
            continue;
        }
        if (item.second.type == EntryType::directory) {
            root.make_directory(item.first,
                                {item.second.uid, item.second.gid, item.second.mode, {}});
        } else {
            leaves.push_back(&item);
        }
    }
    make_leaves(ctx, leaves, root);
    write_file(index_file, format_index(entries), 0600);
}

}  // namespace edgegpu
