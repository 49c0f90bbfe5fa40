#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// The parts of an image's name "quay.io/x/app:1@sha256:…", which need not be valid; views of it.
struct ImageNameParts {
    /// "quay.io/x/app"
    std::string_view repository;
    /// "1"
    std::optional<std::string_view> tag;
    /// "sha256:…"
    std::optional<std::string_view> digest;
};

/// Splits a name at "@", and at the colon behind its last slash: a colon before that belongs to a
/// port.
[[nodiscard]] ImageNameParts parts_of_image_name(std::string_view name);

/// Where skopeo finds an image: a registry, or files of the build machine.
enum class ImageTransport {
    docker,         ///< "docker://quay.io/x/app:1": a registry
    oci,            ///< "oci:/images/app:1": an OCI image layout
    dir,            ///< "dir:/images/app": one image as skopeo copies it to a directory
    docker_archive  ///< "docker-archive:/images/app.tar": what docker save writes
};

/// A place of an image, in containers-transports(5)'s notation.
struct ImagePlace {
    ImageTransport transport = ImageTransport::docker;
    /// Without the transport's prefix: "quay.io/x/app:1", "/images/app:1".
    std::string rest;

    /// With the prefix, as skopeo takes it.
    [[nodiscard]] std::string text() const;
    /// In a registry: the same repository, and the content with this SHA-256. Elsewhere the place
    /// itself, as files have no such names.
    [[nodiscard]] ImagePlace pinned(const std::string& sha256) const;
    /// In a registry: the SHA-256 of "…@sha256:…"; else empty.
    [[nodiscard]] std::string digest() const;
};

/// A source as messages show it: without "docker://", since what follows, "NAME@sha256:…", would
/// look like a password in a URL and be hidden.
[[nodiscard]] std::string shown_image(std::string_view source);

/// Splits a source of the blueprint: a prefix of a transport, or a name in a registry without one.
/// Paths stay as they are. Nothing for transports that are not supported.
[[nodiscard]] std::optional<ImagePlace> image_place(std::string_view source);

/// The complete name that engines give an image called `name`: with domain and tag, as
/// "docker.io/library/busybox:latest" for "busybox"; a name with a digest keeps it and gets no tag.
/// Of a tag and a digest only the digest stays with `by_digest`, else only the tag. Nothing if it
/// is not a valid name.
[[nodiscard]] std::optional<std::string> complete_image_name(std::string_view name,
                                                             bool by_digest = false);

}  // namespace edgegpu
