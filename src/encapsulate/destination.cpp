#include "encapsulate/destination.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"
#include "support/text/text.hpp"

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
        if (text.find(':', text.rfind('/') + 1) != std::string_view::npos) {
            throw error(ErrorKind::usage, "\"{}:{}\" has two tags", text, destination.tag)
                .hinted("there is one: oci:DIR:TAG or oci-archive:FILE:TAG");
        }
    }
    destination.path = text;
    check_output_name(destination.path);
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
                        "{}: the name promises compression, but a container image is a directory "
                        "or an uncompressed tar archive",
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

EncapsulatedImage write_to_path(const Context& ctx, const CommitView& commit,
                                const EncapsulateRequest& request,
                                const ImageDestination& destination) {
    require_free(destination.path);
    try {
        const Unfinished scratch(destination.path);
        const fs::path layout = scratch.file("layout");
        EncapsulatedImage image = write_oci_layout(ctx, commit, request, layout);
        if (destination.kind == ImageDestination::Kind::layout) {
            publish(layout, destination.path, Existing::refuse);
        } else {
            write_oci_archive(ctx, layout, scratch.file("archive"));
            publish(scratch.file("archive"), destination.path, Existing::refuse);
        }
        return image;
    } catch (Error& failure) {
        hint_at_full_disk(failure);
        throw;
    }
}

/// Before the image is in the registry, without its signature.
void require_writable(const fs::path& signatures) {
    make_directories(signatures);
    if (::access(signatures.c_str(), W_OK | X_OK) != 0) {
        throw errno_error(signatures.string(), errno);
    }
}

EncapsulatedImage push_to_registry(const Context& ctx, const CommitView& commit,
                                   const EncapsulateRequest& request,
                                   const ImageDestination& destination) {
    const fs::path place = large_temporary_directory();
    if (destination.signing) {
        require_writable(destination.signing->signatures);
    }
    try {
        const TemporaryDirectory scratch(place / "edgegpu-image");
        EncapsulatedImage image = write_oci_layout(ctx, commit, request, scratch / "layout");
        const fs::path layout = scratch / "layout";
        push_image(ctx, layout, {destination.place, destination.tls_verify, {}},
                   destination.signing);
        if (destination.signing) {
            add_image_signature(ctx, *destination.signing, signature_store(layout),
                                destination.place, layout / "blobs/sha256" / image.digest,
                                image.digest);
        }
        return image;
    } catch (Error& failure) {
        if (is_disk_full(failure)) {
            failure.hinted(
                fmt::format("free some space in {}, or set TMPDIR to a directory that has more",
                            place.string()));
        }
        throw;
    }
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
    return destination.kind == ImageDestination::Kind::registry
               ? push_to_registry(ctx, commit, request, destination)
               : write_to_path(ctx, commit, request, destination);
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
