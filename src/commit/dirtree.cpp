#include "commit/dirtree.hpp"

#include <utility>

#include "commit/object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

std::string_view parent_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

void check_parent(const Entries& entries, std::string_view path) {
    const auto parent = entries.find(parent_of(path));
    if (!path.starts_with('/') || parent == entries.end() ||
        parent->second.type != EntryType::directory) {
        throw error("{}: its parent is not a directory of the image", path);
    }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the bytes are moved into the result
std::string add_object(DirectoryObjects& result, std::string bytes, std::string_view extension) {
    std::string checksum = sha256_hex(bytes);
    result.objects.try_emplace(object_path(checksum, extension), std::move(bytes));
    return checksum;
}

}  // namespace

DirectoryObjects make_directory_objects(
    const Entries& entries, const std::unordered_map<std::string_view, std::string>& checksums) {
    DirectoryObjects result;
    std::unordered_map<std::string_view, DirectoryContent> open;
    // From the last path to the first, each directory comes after its content.
    for (auto item = entries.rbegin(); item != entries.rend(); ++item) {
        const auto& [path, entry] = *item;
        const bool is_root = path == "/";
        if (!is_root) {
            check_parent(entries, path);
        }
        std::string name = path.substr(path.rfind('/') + 1);
        if (entry.type != EntryType::directory) {
            open[parent_of(path)].files.emplace_back(std::move(name), checksums.at(path));
            continue;
        }
        DirectoryContent content = std::move(open[path]);
        open.erase(path);
        std::string tree = add_object(result, dirtree_object(std::move(content), path), "dirtree");
        std::string meta = add_object(result, dirmeta_object(entry), "dirmeta");
        if (is_root) {
            result.root_tree = std::move(tree);
            result.root_meta = std::move(meta);
        } else {
            open[parent_of(path)].directories.push_back(
                {std::move(name), std::move(tree), std::move(meta)});
        }
    }
    if (result.root_tree.empty()) {
        throw Error("the image has no root directory");
    }
    return result;
}

}  // namespace edgegpu
