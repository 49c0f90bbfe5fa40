#include "commit/naming.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "commit/index.hpp"
#include "commit/object.hpp"
#include "execution/parallel.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

struct Header {
    std::string bytes;
    std::string digest;
};

/// Headers of regular files. They do not depend on the content, so thousands of files share a few
/// hundred headers.
class Headers {
public:
    const Header& of_file(const Entry& entry, std::string_view path) {
        const std::uint64_t numbers[] = {entry.mode, entry.uid, entry.gid, entry.label.size()};
        std::string attributes(reinterpret_cast<const char*>(numbers), sizeof numbers);
        attributes += entry.label;
        attributes += entry.capabilities;
        const auto [place, is_new] = headers_.try_emplace(std::move(attributes));
        if (is_new) {
            place->second.bytes = object_header(entry, path);
            place->second.digest = sha256_hex(place->second.bytes);
        }
        return place->second;
    }

private:
    std::unordered_map<std::string, Header> headers_;
};

}  // namespace

std::vector<NamedFile> name_objects(const Context& ctx, const Entries& entries) {
    std::vector<NamedFile> files;
    std::vector<const Header*> headers;
    files.reserve(entries.size());
    headers.reserve(entries.size());
    Headers known;
    for (const auto& [path, entry] : entries) {
        if (entry.type != EntryType::directory) {
            files.push_back({path, &entry, {}, {}});
            headers.push_back(entry.type == EntryType::file ? &known.of_file(entry, path)
                                                            : nullptr);
        }
    }
    ObjectIndex index(ctx.cache / "objects-index");
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        NamedFile& file = files[i];
        if (headers[i] == nullptr) {
            file.checksum = content_checksum(*file.entry, object_header(*file.entry, file.path));
        } else {
            const std::string key = ObjectIndex::key(file.entry->digest, headers[i]->digest);
            file.checksum = index.find(key);
            if (file.checksum.empty()) {
                file.checksum = content_checksum(*file.entry, headers[i]->bytes);
                index.add(key, file.checksum);
            }
        }
        file.object = object_path(file.checksum, "filez");
    });
    index.save(ctx);
    return files;
}

}  // namespace edgegpu
