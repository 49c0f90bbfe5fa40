#include "commit/small_tree.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "commit/dirtree.hpp"
#include "commit/object.hpp"
#include "execution/context.hpp"
#include "image/deflate_call.hpp"
#include "image/entries.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

SmallTree make_small_tree(const std::map<std::string, std::string>& files) {
    Entries entries;
    Entry& root = entries["/"];
    root.type = EntryType::directory;
    root.mode = 0755;
    SmallTree tree;
    const CompressorHandle compressor = new_compressor(default_deflate_level);
    std::unordered_map<std::string_view, std::string> checksums;
    for (const auto& [name, content] : files) {
        const auto place = entries.emplace("/" + name, Entry{}).first;
        const std::string& path = place->first;
        Entry& entry = place->second;
        entry.mode = 0644;
        entry.size = content.size();
        std::string checksum = sha256_hex(object_header(entry, path) + content);
        tree.objects.emplace(
            object_path(checksum, "filez"),
            archive_header(entry, path) + deflate_whole(compressor.get(), content));
        checksums.emplace(path, std::move(checksum));
    }
    DirectoryObjects directories = make_directory_objects(entries, checksums);
    tree.objects.merge(directories.objects);
    tree.root_tree = std::move(directories.root_tree);
    tree.root_meta = std::move(directories.root_meta);
    return tree;
}

}  // namespace edgegpu
