#include "fetch/images.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cache/entry_lock.hpp"
#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

std::uint64_t size_of(const std::vector<ImageBlob>& layers) {
    return std::accumulate(
        layers.begin(), layers.end(), std::uint64_t{0},
        [](std::uint64_t sum, const ImageBlob& layer) { return sum + layer.size; });
}

/// Fetches one image.
class ImageFetch {
public:
    ImageFetch(const Context& ctx, const ResolvedImage& image, ImageAccess access)
        : ctx_(ctx), image_(image), access_(std::move(access)) {}

    [[nodiscard]] StoredImage fetch() const {
        StoredImage result;
        result.called = shown_image(image_.source);
        result.names = {image_.name};
        result.digest = image_.manifest;
        result.manifest = text_of_digest(image_.manifest, "manifest", [&] {
            return read_image_manifest(ctx_, access_, image_.manifest);
        });
        if (image_.digest != image_.manifest) {
            result.index_digest = image_.digest;
            result.index = text_of_digest(image_.digest, "index", [&] {
                return read_image_manifest(ctx_, access_, image_.digest);
            });
        }
        result.document = parse_manifest(result.manifest, result.called);
        if (result.document.is_index()) {
            throw error(ErrorKind::fetch, "image {}: {} is an index, not a manifest",
                        shown_image(image_.source), image_.manifest)
                .hinted("resolve the blueprint again without --locked");
        }
        result.config = text_of_digest(result.document.config.digest, "configuration", [&] {
            return read_image_config(ctx_, access_.pinned(image_.manifest));
        });
        result.diff_ids =
            parse_image_config(result.config, result.document, result.called).diff_ids;
        result.layers = fetch_layers(result.document.layers);
        return result;
    }

private:
    [[nodiscard]] Error wrong_blob(std::string_view what, const std::string& digest,
                                   const std::string& got) const {
        return error(ErrorKind::fetch, "image {}: its {} has SHA-256 {} in place of {}",
                     shown_image(image_.source), what, got, digest)
            .hinted(access_.place.transport == ImageTransport::docker
                        ? "the registry, or a mirror of it, sends other bytes than the image has"
                        : "the image was changed since it was resolved: build without --locked");
    }

    template <typename Read>
    std::string text_of_digest(const std::string& digest, std::string_view what,
                               const Read& read) const {
        if (std::optional<std::string> kept = find_blob_text(ctx_, digest)) {
            return *std::move(kept);
        }
        std::string text = read();
        if (sha256_hex(text) != digest) {
            throw wrong_blob(what, digest, sha256_hex(text));
        }
        store_blob_text(ctx_, text);
        return text;
    }

    [[nodiscard]] std::vector<StoredFile> fetch_layers(const std::vector<ImageBlob>& layers) const {
        if (std::optional<std::vector<StoredFile>> kept = kept_layers(layers)) {
            return *std::move(kept);
        }
        const EntryLock lock(ctx_, EntryKind::image, "fetch-" + image_.manifest,
                             "is downloading image " + shown_image(image_.source));
        if (std::optional<std::vector<StoredFile>> kept = kept_layers(layers)) {
            return *std::move(kept);
        }
        const fs::path blobs = ctx_.work() / ("image-" + image_.manifest);
        require_space(ctx_.cache, size_of(layers), "image " + shown_image(image_.source),
                      ErrorKind::fetch);
        copy_missing(layers, blobs);
        std::vector<StoredFile> result = mapped(layers, [&](const ImageBlob& layer) {
            return take(layer, blobs / "sha256" / layer.digest);
        });
        remove_tree(blobs);
        return result;
    }

    [[nodiscard]] std::optional<std::vector<StoredFile>> kept_layers(
        const std::vector<ImageBlob>& layers) const {
        std::vector<StoredFile> result;
        for (const ImageBlob& layer : layers) {
            const std::optional<StoredFile> kept = find_layer(ctx_, layer);
            if (!kept) {
                return std::nullopt;
            }
            result.push_back(*kept);
        }
        return result;
    }

    /// Lets skopeo copy the layers that are not in the cache: it leaves alone those that it finds.
    /// What has arrived before a failure is kept for the next build.
    void copy_missing(const std::vector<ImageBlob>& layers, const fs::path& blobs) const {
        remove_tree(blobs);
        make_directories(blobs / "sha256");
        for (const ImageBlob& layer : layers) {
            std::error_code code;
            if (const std::optional<StoredFile> kept = find_layer(ctx_, layer)) {
                fs::create_hard_link(kept->path, blobs / "sha256" / layer.digest, code);
            }
        }
        try {
            copy_image_layers(ctx_, access_.pinned(image_.manifest), size_of(layers), blobs);
        } catch (const Error&) {
            for (const ImageBlob& layer : layers) {
                std::error_code code;
                const fs::path file = blobs / "sha256" / layer.digest;
                if (fs::is_regular_file(file, code)) {
                    static_cast<void>(store_file(ctx_, file));
                }
            }
            remove_tree(blobs);
            throw;
        }
    }

    [[nodiscard]] StoredFile take(const ImageBlob& layer, const fs::path& file) const {
        std::error_code code;
        if (!fs::is_regular_file(file, code)) {
            throw error(ErrorKind::fetch, "image {}: skopeo did not copy layer {}",
                        shown_image(image_.source), layer.digest)
                .hinted("layers must be compressed with gzip or zstd, or not at all");
        }
        StoredFile stored = store_file(ctx_, file);
        if (stored.digest != layer.digest || stored.size != layer.size) {
            throw wrong_blob("layer", layer.digest, stored.digest);
        }
        return stored;
    }

    const Context& ctx_;
    const ResolvedImage& image_;
    ImageAccess access_;
};

/// How the blueprint says to reach an image.
ImageAccess access_to(const ResolvedImage& image, const std::vector<ContainerRequest>& requests,
                      const std::string& architecture) {
    const auto request = std::ranges::find_if(requests, [&](const ContainerRequest& one) {
        return one.source == image.source && one.name == image.name;
    });
    if (request == requests.end()) {
        throw error(ErrorKind::fetch, "the blueprint does not request image {}",
                    shown_image(image.source))
            .hinted("resolve it again without --locked");
    }
    return {image_place(request->located).value(), request->tls_verify,
            image_architecture(architecture)};
}

}  // namespace

std::vector<StoredImage> fetch_images(const Context& ctx, const std::vector<ResolvedImage>& images,
                                      const std::vector<ContainerRequest>& requests,
                                      const std::string& architecture) {
    std::vector<StoredImage> result;
    for (const ResolvedImage& image : images) {
        ctx.check_cancelled();
        result.push_back(ImageFetch(ctx, image, access_to(image, requests, architecture)).fetch());
        ctx.console->progress(result.size(), images.size(), "images");
    }
    return result;
}

}  // namespace edgegpu
