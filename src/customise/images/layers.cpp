#include "customise/images/layers.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "cache/store.hpp"
#include "image/kept_entries.hpp"
#include "image/tree.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

constexpr StoreKind kept_images{"images", EntryKind::image};
constexpr const char* listing_name = "entries";

void add_missing(Entries& files, const std::string& path, const Entry& entry) {
    const std::size_t slash = path.rfind('/');
    const auto parent = files.find(slash == 0 ? "/" : path.substr(0, slash));
    if (parent != files.end() && parent->second.type == EntryType::directory) {
        files.try_emplace(path, entry);
    }
}

void add_mount_points(const Context& ctx, Entries& files) {
    for (const char* directory : {"/dev", "/etc", "/proc", "/run", "/sys"}) {
        add_missing(files, directory, directory_entry(0755));
    }
    const Entry empty = make_file_entry(ctx, "", 0644);
    for (const char* file :
         {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/run/.containerenv"}) {
        add_missing(files, file, empty);
    }
    add_missing(files, "/etc/mtab", link_to("/proc/mounts"));
}

/// The layers alone determine the files; the configuration, whether they are the right ones.
std::string files_key(const StoredImage& image) {
    Sha256 digest;
    for (const StoredFile& layer : image.layers) {
        digest.update_field(layer.digest);
    }
    for (const std::string& diff_id : image.diff_ids) {
        digest.update_field(diff_id);
    }
    return digest.hex();
}

}  // namespace

Entries unpack_image(const Context& ctx, const StoredImage& image, const UnpackLimits& limits) {
    return find_or_make(
        ctx, kept_images, files_key(image), "is unpacking image " + image.called,
        [&](const StoredEntry& entry) -> std::optional<Entries> {
            const std::string* listing = entry.find(listing_name);
            return listing == nullptr ? std::nullopt : parse_entries(ctx, *listing);
        },
        [&](NewEntry& entry) {
            Entries entries = apply_layers(ctx, image, limits, 0, {});
            add_mount_points(ctx, entries);
            if (const std::optional<std::string> listing = format_entries(ctx, entries)) {
                entry.add(listing_name, *listing);
            } else {
                entry.forget();
            }
            return entries;
        });
}

}  // namespace edgegpu
