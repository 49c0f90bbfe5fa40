#include "encapsulate/destination.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/glib.hpp"

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

/// A directory of a new name that is removed in the end.
class ImageScratch {
public:
    /// `beside`: a path in the directory in which it is made.
    explicit ImageScratch(const fs::path& beside) {
        const fs::path parent = beside.has_parent_path() ? beside.parent_path() : fs::path(".");
        std::string name =
            (parent / fmt::format(".{}.XXXXXX", beside.filename().string())).string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw write_error(parent.string(), beside.string(), errno);
        }
        path_ = name;
    }
    ImageScratch(const ImageScratch&) = delete;
    ImageScratch& operator=(const ImageScratch&) = delete;
    ~ImageScratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] fs::path layout() const { return path_ / "layout"; }
    [[nodiscard]] fs::path archive() const { return path_ / "archive"; }

private:
    fs::path path_;
};

void require_free(const fs::path& path) {
    std::error_code code;
    if (fs::symlink_status(path, code).type() != fs::file_type::not_found) {
        throw error(ErrorKind::usage, "{}: {}", path.string(),
                    code ? code.message() : "it exists already")
            .hinted("remove it, or choose another destination");
    }
}

/// Gives a finished file or directory its name.
void move_to(const fs::path& made, const fs::path& path) {
    require_free(path);
    std::error_code code;
    fs::rename(made, path, code);
    if (code) {
        throw write_error(path.parent_path().string(), path.string(), code.value());
    }
}

/// An image is too large for a /tmp in memory.
fs::path large_scratch() {
    const char* chosen = std::getenv("TMPDIR");
    return fs::path(chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp") / "edgegpu-image";
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
    return destination;
}

EncapsulatedImage deliver_image(const Context& ctx, const CommitView& commit,
                                EncapsulateRequest request, const ImageDestination& destination) {
    request.tag = destination.tag;
    const bool remote = destination.kind == ImageDestination::Kind::registry;
    if (!remote) {
        require_free(destination.path);
    }
    const ImageScratch scratch(remote ? large_scratch() : destination.path);
    EncapsulatedImage image = write_oci_layout(ctx, commit, request, scratch.layout());
    switch (destination.kind) {
        case ImageDestination::Kind::layout:
            move_to(scratch.layout(), destination.path);
            break;
        case ImageDestination::Kind::archive:
            write_oci_archive(ctx, scratch.layout(), scratch.archive());
            move_to(scratch.archive(), destination.path);
            break;
        case ImageDestination::Kind::registry:
            push_image(ctx, scratch.layout(), {destination.place, destination.tls_verify, {}});
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
