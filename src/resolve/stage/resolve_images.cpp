#include "resolve/stage/resolve_images.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fnmatch.h>

#include "oci/blobs.hpp"
#include "oci/manifest.hpp"
#include "oci/reference.hpp"
#include "oci/skopeo.hpp"
#include "resolve/stage/drift.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

Error unfit_image(const ContainerRequest& request, std::string_view reason) {
    return error(ErrorKind::fetch, "{}: image {} {}", request.location.text(),
                 shown_image(request.source), reason);
}

/// "amd64, arm64" of an index.
std::string architectures_of(const ImageDocument& index) {
    std::set<std::string> names;
    for (const PlatformManifest& one : index.index) {
        // "unknown" are attestations.
        if (!one.architecture.empty() && one.architecture != "unknown") {
            names.insert(one.os == "linux" || one.os.empty() ? one.architecture
                                                             : one.os + '/' + one.architecture);
        }
    }
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// Looks up one image.
class ImageLookup {
public:
    ImageLookup(const Context& ctx, const ContainerRequest& request,
                const std::string& architecture)
        : ctx_(ctx),
          request_(request),
          architecture_(image_architecture(architecture)),
          access_{image_place(request.located).value(), request.tls_verify, architecture_} {}

    [[nodiscard]] ResolvedImage find() const {
        ResolvedImage image{request_.source, request_.name, "", "", 0};
        const std::string first = manifest_at_source();
        image.digest = sha256_hex(first);
        image.manifest = image.digest;
        ImageDocument document = parse_manifest(first, shown_image(request_.source));
        ImageAccess access = access_;
        if (document.is_index()) {
            image.manifest = choose(document);
            access = access_.pinned(image.manifest);
            const std::string text = manifest_of_index(image.manifest);
            document = parse_manifest(text, shown_image(request_.source));
            if (document.is_index()) {
                throw unfit_image(request_, "has an index of indexes, which no engine reads");
            }
        }
        check_architecture(access, document);
        for (const ImageBlob& layer : document.layers) {
            image.size += layer.size;
        }
        return image;
    }

private:
    /// What the source refers to, which is in the cache afterwards.
    [[nodiscard]] std::string manifest_at_source() const {
        const std::string wanted = access_.place.digest();
        if (!wanted.empty()) {
            if (std::optional<std::string> kept = find_blob_text(ctx_, wanted)) {
                return *std::move(kept);
            }
        }
        std::string text = read_image_manifest(ctx_, access_);
        require_digest(text, wanted);
        store_blob_text(ctx_, text);
        return text;
    }

    [[nodiscard]] std::string manifest_of_index(const std::string& digest) const {
        if (std::optional<std::string> kept = find_blob_text(ctx_, digest)) {
            return *std::move(kept);
        }
        std::string text = read_image_manifest(ctx_, access_, digest);
        store_blob_text(ctx_, text);
        return text;
    }

    void require_digest(const std::string& text, const std::string& wanted) const {
        if (!wanted.empty() && sha256_hex(text) != wanted) {
            throw unfit_image(request_, fmt::format("has a manifest with SHA-256 {} in place of {}",
                                                    sha256_hex(text), wanted))
                .hinted("the registry, or a mirror of it, sends other bytes than it was asked for");
        }
    }

    [[nodiscard]] std::string choose(const ImageDocument& index) const {
        const auto fits = [&](const PlatformManifest& one) {
            return one.architecture == architecture_ && (one.os.empty() || one.os == "linux");
        };
        const auto found = std::ranges::find_if(index.index, fits);
        if (found == index.index.end()) {
            throw wrong_architecture(architectures_of(index));
        }
        return found->manifest.digest;
    }

    [[nodiscard]] Error wrong_architecture(const std::string& has) const {
        return unfit_image(request_, fmt::format("is not built for {}, the architecture of this "
                                                 "blueprint's image; it is for: {}",
                                                 architecture_, has))
            .hinted("use an image that is built for it, or set 'architecture' of the blueprint");
    }

    void check_architecture(const ImageAccess& access, const ImageDocument& document) const {
        std::optional<std::string> text = find_blob_text(ctx_, document.config.digest);
        if (!text) {
            text = read_image_config(ctx_, access);
            require_digest(*text, document.config.digest);
            store_blob_text(ctx_, *text);
        }
        const ImageConfig config =
            parse_image_config(*text, document, shown_image(request_.source));
        if (config.architecture != architecture_ || (!config.os.empty() && config.os != "linux")) {
            throw wrong_architecture(config.os.empty() || config.os == "linux"
                                         ? config.architecture
                                         : config.os + '/' + config.architecture);
        }
    }

    const Context& ctx_;
    const ContainerRequest& request_;
    std::string architecture_;
    ImageAccess access_;
};

const ResolvedImage* locked_image(const std::vector<ResolvedImage>& locked,
                                  const ContainerRequest& request) {
    const auto found = std::ranges::find_if(
        locked, [&](const ResolvedImage& image) { return image.source == request.source; });
    return found == locked.end() ? nullptr : &*found;
}

/// By its name, with or without the tag, or by its source, with or without the transport.
template <typename Image>
bool image_matches(const Image& image, const std::string& pattern) {
    const std::string& source = image.source;
    const std::size_t colon = source.find(':');
    const std::string place = source.substr(source.find_first_not_of(":/", colon));
    const std::string repository = image.name.substr(0, image.name.find_last_of(":@"));
    const std::array<const std::string*, 4> names{&image.name, &repository, &source, &place};
    return std::ranges::any_of(names, [&](const std::string* name) {
        return ::fnmatch(pattern.c_str(), name->c_str(), 0) == 0;
    });
}

/// Another request for the same image with another tag, or for one with a similar name, since one
/// of both may be a typing mistake: "b.toml:7:1 has quay.io/x/app:2: did you mean that?"; or empty.
std::string similar_image(const std::vector<ContainerRequest>& requests,
                          const ContainerRequest& absent) {
    const std::vector<std::string> others = mapped_if(
        requests, [&](const ContainerRequest& other) { return other.name != absent.name; },
        &ContainerRequest::name);
    const std::string_view repository = parts_of_image_name(absent.name).repository;
    const auto tag = std::ranges::find_if(others, [&](const std::string& name) {
        return parts_of_image_name(name).repository == repository;
    });
    constexpr std::size_t most_edits = 4;
    const std::vector<std::string> near = tag != others.end()
                                              ? std::vector<std::string>{*tag}
                                              : nearest_names(absent.name, others, 1, most_edits);
    if (near.empty()) {
        return {};
    }
    const auto request = std::ranges::find_if(
        requests, [&](const ContainerRequest& other) { return other.name == near.front(); });
    return fmt::format("{} has {}: did you mean that?", request->location.text(), near.front());
}

void log_image(const Context& ctx, const ResolvedImage& image, std::string_view from) {
    ctx.log.info("container image", {{"source", image.source},
                                     {"name", image.name},
                                     {"digest", image.digest},
                                     {"manifest", image.manifest},
                                     {"from", from}});
}

}  // namespace

std::vector<ResolvedImage> resolve_images(const Context& ctx,
                                          const std::vector<ContainerRequest>& requests,
                                          const std::string& architecture) {
    return update_images(ctx, requests, architecture, {}, {});
}

bool names_image(const std::vector<ResolvedImage>& locked, const std::string& pattern) {
    return std::ranges::any_of(
        locked, [&](const ResolvedImage& image) { return image_matches(image, pattern); });
}

bool names_request(const std::vector<ContainerRequest>& requests, const std::string& pattern) {
    return std::ranges::any_of(
        requests, [&](const ContainerRequest& request) { return image_matches(request, pattern); });
}

std::vector<ResolvedImage> update_images(const Context& ctx,
                                         const std::vector<ContainerRequest>& requests,
                                         const std::string& architecture,
                                         const std::vector<ResolvedImage>& locked,
                                         const std::vector<std::string>& patterns) {
    std::vector<ResolvedImage> result;
    for (const ContainerRequest& request : requests) {
        const ResolvedImage* kept = locked_image(locked, request);
        const bool moves =
            kept == nullptr || std::ranges::any_of(patterns, [&](const std::string& pattern) {
                return image_matches(*kept, pattern);
            });
        if (moves) {
            try {
                result.push_back(ImageLookup(ctx, request, architecture).find());
            } catch (Error& problem) {
                problem.traced("for " + request.location.text());
                const std::string similar = similar_image(requests, request);
                throw similar.empty() ? problem : problem.traced(similar);
            }
        } else {
            result.push_back(*kept);
            result.back().name = request.name;
        }
        log_image(ctx, result.back(), moves ? "source" : "lockfile");
    }
    return result;
}

std::vector<ResolvedImage> require_locked_images(const std::vector<ContainerRequest>& requests,
                                                 const std::vector<ResolvedImage>& locked) {
    Drift drift;
    std::vector<ResolvedImage> result;
    for (const ContainerRequest& request : requests) {
        if (const ResolvedImage* image = locked_image(locked, request)) {
            result.push_back(*image);
            result.back().name = request.name;
        } else {
            drift.push_back(fmt::format("{} requests image {}, which is not locked",
                                        request.location.text(), shown_image(request.source)));
        }
    }
    for (const ResolvedImage& image : locked) {
        const bool requested = std::ranges::any_of(requests, [&](const ContainerRequest& request) {
            return request.source == image.source;
        });
        if (!requested) {
            drift.push_back(fmt::format("image {} is locked, but nothing requests it any more",
                                        shown_image(image.source)));
        }
    }
    stop_at(drift);
    return result;
}

}  // namespace edgegpu
