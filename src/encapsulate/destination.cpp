#include "encapsulate/destination.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "oci/skopeo.hpp"
#include "support/directory.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view layout_prefix = "oci:";
constexpr std::string_view archive_prefix = "oci-archive:";
constexpr std::string_view registry_prefix = "docker://";

/// "DIR:TAG" → path and tag. Tags have no slash, so that a colon in a directory's name is no
/// separator.
void split_tag(std::string_view text, ImageDestination& destination) {
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos) {
        destination.tag = text.substr(colon + 1);
        text = text.substr(0, colon);
        // The rules for tags are those of a complete name.
        if (!complete_image_name("localhost/name:" + destination.tag)) {
            throw error(ErrorKind::usage, "\"{}\" is not a tag", destination.tag)
                .hinted("a tag has letters, digits, '_', '.' and '-': oci:DIR:1.2");
        }
    }
    destination.path = text;
    if (destination.path.filename().empty()) {
        destination.path = destination.path.parent_path();
    }
    if (destination.path.empty()) {
        throw error(ErrorKind::usage, "the destination has no path")
            .hinted("for example oci:DIR:TAG or oci-archive:FILE");
    }
}

/// Endings of files that are not written: programs go by them.
void refuse_other_forms(const ImageDestination& destination) {
    const std::string name = destination.path.filename().string();
    for (const std::string_view ending : {".gz", ".tgz", ".xz", ".zst", ".bz2", ".zip", ".iso",
                                          ".raw", ".img", ".qcow2", ".vmdk", ".vhd"}) {
        if (name.size() > ending.size() &&
            begins_with_any_case(std::string_view(name).substr(name.size() - ending.size()),
                                 ending)) {
            throw error(ErrorKind::usage,
                        "{}: a container image is a directory or a tar archive, not compressed, "
                        "which this name denies",
                        destination.path.string())
                .hinted("for example oci:DIR:TAG or oci-archive:FILE.tar");
        }
    }
}

void require_free(const fs::path& path) {
    std::error_code code;
    if (fs::symlink_status(path, code).type() != fs::file_type::not_found) {
        throw error(ErrorKind::usage, "{}: {}", path.string(),
                    code ? code.message() : "it exists already")
            .hinted("remove it, or choose another destination");
    }
}

/// Where an image is made: beside its destination, or for a registry where large files belong.
fs::path scratch_prefix(const ImageDestination& destination) {
    if (destination.kind == ImageDestination::Kind::registry) {
        return large_temporary_directory() / "edgegpu-image";
    }
    return destination.path.parent_path() / ('.' + destination.path.filename().string());
}

}  // namespace

ImageDestination parse_destination(std::string_view text) {
    ImageDestination destination;
    if (text.starts_with(registry_prefix)) {
        destination.kind = ImageDestination::Kind::registry;
        const auto place = image_place(text);
        if (!place || !complete_image_name(place->rest) || !place->digest().empty()) {
            throw error(ErrorKind::usage, "\"{}\" is not a name that an image can be pushed to",
                        shown_image(text))
                .hinted("for example docker://registry.example.com/edge/gpu:1.2");
        }
        destination.place = *place;
        return destination;
    }
    if (text.starts_with(archive_prefix)) {
        destination.kind = ImageDestination::Kind::archive;
        split_tag(text.substr(archive_prefix.size()), destination);
        refuse_other_forms(destination);
        return destination;
    }
    if (text.starts_with(layout_prefix)) {
        split_tag(text.substr(layout_prefix.size()), destination);
        return destination;
    }
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && text.substr(0, colon).find('/') == std::string::npos) {
        throw error(ErrorKind::usage, "\"{}\" is not a transport that images are written to",
                    text.substr(0, colon))
            .hinted("there are oci:DIR[:TAG], oci-archive:FILE[:TAG] and docker://HOST/NAME[:TAG]");
    }
    destination.kind = text.ends_with(".tar") || text.ends_with(".ociarchive")
                           ? ImageDestination::Kind::archive
                           : ImageDestination::Kind::layout;
    split_tag(text, destination);
    refuse_other_forms(destination);
    return destination;
}

EncapsulatedImage deliver_image(const Context& ctx, const CommitView& commit,
                                EncapsulateRequest request, const ImageDestination& destination) {
    request.tag = destination.tag;
    if (destination.kind != ImageDestination::Kind::registry) {
        require_free(destination.path);
    }
    const TemporaryDirectory scratch(scratch_prefix(destination));
    const fs::path layout = scratch / "layout";
    const fs::path archive = scratch / "archive";
    EncapsulatedImage image = write_oci_layout(ctx, commit, request, layout);
    switch (destination.kind) {
        case ImageDestination::Kind::layout:
            publish(layout, destination.path, Existing::refuse);
            break;
        case ImageDestination::Kind::archive:
            write_oci_archive(ctx, layout, archive);
            publish(archive, destination.path, Existing::refuse);
            break;
        case ImageDestination::Kind::registry:
            push_image(ctx, layout, {destination.place, destination.tls_verify, {}});
            break;
    }
    return image;
}

EarlierLayers read_earlier_layers(const Context& ctx, std::string_view text, bool tls_verify) {
    const auto place = image_place(text);
    const bool layout = place && place->transport == ImageTransport::oci;
    const bool remote = place && place->transport == ImageTransport::docker &&
                        text.starts_with(registry_prefix) && complete_image_name(place->rest);
    if (!layout && !remote) {
        throw error(ErrorKind::usage, "\"{}\" is not the place of an earlier image",
                    shown_image(text))
            .hinted("there are oci:DIR[:TAG] and docker://HOST/NAME[:TAG]");
    }
    return earlier_layers(read_image_manifest(ctx, {*place, tls_verify, {}}), shown_image(text));
}

}  // namespace edgegpu
