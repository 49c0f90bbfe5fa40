#include "oci/blobs.hpp"

#include <sys/stat.h>

#include "cache/last_use.hpp"
#include "image/tree.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

std::optional<std::string> find_blob_text(const Context& ctx, const std::string& digest) {
    const std::filesystem::path path = content_path(ctx, digest);
    if (!mark_used(ctx, path)) {
        return std::nullopt;
    }
    std::string text = read_file(path, largest_manifest);
    if (sha256_hex(text) != digest) {
        remove_tree(path);
        return std::nullopt;
    }
    return text;
}

std::string store_blob_text(const Context& ctx, std::string_view text) {
    return make_file_entry(ctx, text, 0644).digest;
}

std::optional<StoredFile> find_layer(const Context& ctx, const ImageBlob& layer) {
    const std::filesystem::path path = content_path(ctx, layer.digest);
    struct stat status {};
    if (!mark_used(ctx, path) || ::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) != layer.size) {
        return std::nullopt;
    }
    return StoredFile{path, layer.digest, layer.size};
}

}  // namespace edgegpu
