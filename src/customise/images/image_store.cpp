#include "customise/images/image_store.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "customise/images/layers.hpp"
#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// For images that do not say when they were made. No time of the build: the same image is the same
/// file in every commit.
constexpr const char* no_time = "1970-01-01T00:00:00Z";

/// The file of a piece of an image's data: containers/storage encodes keys with other characters
/// than lower-case letters, digits and dots.
std::string data_file(const std::string& key) {
    const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    });
    return plain ? key : '=' + to_base64(key);
}

/// The name under `l/`, of 26 characters of base32, by which mounts refer to a layer: the options
/// of a mount are short.
std::string link_of_layer(const std::string& layer) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    constexpr std::size_t length = 26;
    const std::string digits = sha256_hex(layer);
    std::string link;
    for (std::size_t i = 0; i < length; ++i) {
        const auto value = [&](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
        link +=
            letters[static_cast<std::size_t>(value(digits[2 * i]) * 16 + value(digits[2 * i + 1])) %
                    letters.size()];
    }
    return link;
}

/// The id of the one layer that has an image's files: those of the layers that it is made of.
std::string layer_id(const StoredImage& image) {
    Sha256 digest;
    digest.update_field("edgegpu layer 1");
    for (const StoredFile& layer : image.layers) {
        digest.update_field(layer.digest);
    }
    return digest.hex();
}

/// Images with one id, which is the digest of their configuration: the same image under several
/// names, or with its layers compressed in several ways.
struct StoreImage {
    std::string layer;
    std::string created;
    std::set<std::string> names;
    /// SHA-256 of the manifest that engines take
    std::string digest;
    /// key → bytes
    std::map<std::string, std::string> data;
};

std::map<std::string, StoreImage> collect(const std::vector<StoredImage>& images) {
    std::vector<const StoredImage*> sorted;
    sorted.reserve(images.size());
    for (const StoredImage& image : images) {
        sorted.push_back(&image);
    }
    std::sort(sorted.begin(), sorted.end(), [](const StoredImage* left, const StoredImage* right) {
        return std::tie(left->digest, left->index_digest, left->names) <
               std::tie(right->digest, right->index_digest, right->names);
    });
    std::map<std::string, StoreImage> result;
    for (const StoredImage* image : sorted) {
        StoreImage& entry = result[image->document.config.digest];
        if (entry.digest.empty()) {
            const std::string created =
                parse_image_config(image->config, image->document, image->called).created;
            entry.layer = layer_id(*image);
            entry.created = created.empty() ? no_time : created;
            entry.digest = image->digest;
            entry.data = {{"manifest", image->manifest},
                          {"sha256:" + image->document.config.digest, image->config}};
        }
        entry.names.insert(image->names.begin(), image->names.end());
        entry.data["manifest-sha256:" + image->digest] = image->manifest;
        if (!image->index_digest.empty()) {
            entry.data["manifest-sha256:" + image->index_digest] = image->index;
        }
    }
    return result;
}

json index_entry(const std::string& id, const StoreImage& image) {
    json names = json::array();
    json sizes = json::object();
    json digests = json::object();
    for (const auto& [key, bytes] : image.data) {
        names.push_back(key);
        sizes[key] = bytes.size();
        digests[key] = "sha256:" + sha256_hex(bytes);
    }
    return {{"id", id},
            {"digest", "sha256:" + image.digest},
            {"names", image.names},
            {"layer", image.layer},
            {"metadata", "{}"},
            {"big-data-names", names},
            {"big-data-sizes", sizes},
            {"big-data-digests", digests},
            {"created", image.created}};
}

/// Puts files into a store.
class StoreWriter {
public:
    StoreWriter(const Context& ctx, const std::string& store, Tree& tree)
        : ctx_(ctx), store_(store), tree_(tree) {}

    void add_file(const std::string& name, std::string_view content) {
        put_entry(tree_, store_ + '/' + name, make_file_entry(ctx_, content, 0644));
    }

    /// The directory of a layer; returns the size of its files.
    std::uint64_t add_layer(const std::string& id, const Entries& files) {
        const std::string directory = "overlay/" + id;
        const std::string link = link_of_layer(id);
        add_file(directory + "/link", link);
        put_entry(tree_, store_ + "/overlay/l/" + link, link_to("../" + id + "/diff"));
        const std::string top = store_ + '/' + directory + "/diff";
        std::uint64_t size = 0;
        // Only in the commit: no program of the image needs them while it is made, and owners may
        // be such that the build has no ids for.
        for (const auto& [path, entry] : files) {
            tree_.entries[path == "/" ? top : top + path] = entry;
            size += entry.size;
        }
        return size;
    }

private:
    const Context& ctx_;
    const std::string& store_;
    Tree& tree_;
};

}  // namespace

void add_images(const Context& ctx, const std::vector<StoredImage>& images,
                const std::string& store, Tree& tree) {
    if (images.empty()) {
        return;
    }
    const std::string index = store + "/overlay-images/images.json";
    if (find_entry(tree, index) != nullptr) {
        throw error(ErrorKind::usage, "[[containers]]: the image has an image store at {} already",
                    store)
            .hinted(
                "let the overlay bring it to another directory, or name another one in "
                "customizations.containers-storage");
    }
    StoreWriter writer(ctx, store, tree);
    std::map<std::string, std::uint64_t> layers;
    for (const StoredImage& image : images) {
        ctx.check_cancelled();
        const std::string id = layer_id(image);
        if (!layers.contains(id)) {
            layers[id] = writer.add_layer(id, unpack_image(ctx, image));
        }
    }
    json image_list = json::array();
    std::map<std::string, std::string> times;
    for (const auto& [id, image] : collect(images)) {
        image_list.push_back(index_entry(id, image));
        times.emplace(image.layer, image.created);
        for (const auto& [key, bytes] : image.data) {
            writer.add_file("overlay-images/" + id + '/' + data_file(key), bytes);
        }
    }
    json layer_list = json::array();
    for (const auto& [id, size] : layers) {
        // The digest of a tar archive, in engines; here it only has to be one that no other layer
        // has.
        layer_list.push_back({{"id", id},
                              {"created", times.contains(id) ? times.at(id) : no_time},
                              {"diff-digest", "sha256:" + id},
                              {"diff-size", size}});
    }
    writer.add_file("overlay-images/images.json", image_list.dump());
    writer.add_file("overlay-layers/layers.json", layer_list.dump());
}

}  // namespace edgegpu
