#include "image/tree.hpp"

#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/content.hpp"
#include "image/image_path.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

std::string parent_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

void check_tree_path(std::string_view path) {
    const bool normal = path.starts_with('/') && path.find('\0') == std::string_view::npos &&
                        (path == "/" || (!path.ends_with('/') &&
                                         fs::path(path).lexically_normal() == fs::path(path)));
    if (!normal) {
        throw error("'{}' is not an absolute, normal path", path);
    }
}

/// The directory in which programs of the image run, if it exists.
std::optional<ImageRoot> root_of(const Tree& tree) {
    std::error_code code;
    if (tree.root.empty() || !fs::is_directory(tree.root, code)) {
        return std::nullopt;
    }
    return ImageRoot(tree.root);
}

/// Creates missing parents of `path` as root:root 0755.
void make_parents(Tree& tree, const std::optional<ImageRoot>& root, const std::string& path) {
    const std::string parent = parent_of(path);
    const auto found = tree.entries.find(parent);
    if (found != tree.entries.end()) {
        if (found->second.type != EntryType::directory) {
            throw error("{} cannot be created: {} is not a directory", path, parent);
        }
        return;
    }
    make_parents(tree, root, parent);
    Entry directory;
    directory.type = EntryType::directory;
    directory.mode = 0755;
    tree.entries.emplace(parent, directory);
    if (root) {
        materialise(directory, *root, parent);
    }
}

}  // namespace

std::string resolve_in_tree(const Tree& tree, std::string_view path, bool follow_last) {
    return resolve_in_entries(tree.entries, path, follow_last);
}

std::string resolve_in_entries(const Entries& entries, std::string_view path, bool follow_last) {
    return resolve_links(path, follow_last, [&](const std::string& next) {
        const auto found = entries.find(next);
        const bool is_link = found != entries.end() && found->second.type == EntryType::symlink;
        return is_link ? std::optional(found->second.target) : std::nullopt;
    });
}

void put_entry(Tree& tree, std::string_view path, const Entry& entry) {
    check_tree_path(path);
    std::string real = resolve_in_tree(tree, path, false);
    const auto old = tree.entries.find(real);
    // A directory does not replace a link to a directory.
    if (entry.type == EntryType::directory && old != tree.entries.end() &&
        old->second.type == EntryType::symlink) {
        real = resolve_in_tree(tree, real, true);
    }
    const std::optional<ImageRoot> root = root_of(tree);
    if (real != "/") {
        make_parents(tree, root, real);
    }
    if (entry.type != EntryType::directory) {
        erase_below(tree.entries, real);
    }
    tree.entries[real] = entry;
    if (root) {
        materialise(entry, *root, real);
    }
}

void remove_entry(Tree& tree, std::string_view path) {
    check_tree_path(path);
    if (path == "/") {
        throw Error("the root of the image cannot be removed");
    }
    const std::string real = resolve_in_tree(tree, path, false);
    erase_subtree(tree.entries, real);
    if (const std::optional<ImageRoot> root = root_of(tree)) {
        root->remove(real);
    }
}

const Entry* find_entry(const Tree& tree, std::string_view path) {
    const auto found = tree.entries.find(resolve_in_tree(tree, path, true));
    return found != tree.entries.end() ? &found->second : nullptr;
}

std::string read_entry(const Tree& tree, std::string_view path) {
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr) {
        throw error("{}: the image has no such file", path);
    }
    if (entry->type != EntryType::file) {
        throw error("{}: not a regular file in the image", path);
    }
    return read_file(entry->content);
}

}  // namespace edgegpu
