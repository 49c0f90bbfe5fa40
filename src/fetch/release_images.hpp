#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/repository.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// An image that MicroShift itself starts.
struct ReleaseImage {
    /// The package that lists it: "microshift-release-info".
    std::string package;
    /// By digest: "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:…".
    std::string reference;
};

/// Reads a list of images as microshift-release-info has it (`release-x86_64.json`): a JSON object
/// whose "images" maps names of components to references by digest. Throws ErrorKind::fetch, with
/// `called` first, for anything else and for more than 4096 images.
[[nodiscard]] std::vector<std::string> parse_release_images(std::string_view text,
                                                            const std::string& called);

/// Whether a package lists images of MicroShift or of an optional part of it:
/// "microshift-release-info", "microshift-olm-release-info".
[[nodiscard]] bool is_release_info(std::string_view package);

/// Where release-info packages have their lists.
inline constexpr std::string_view release_directory = "/usr/share/microshift/release";

/// Whether a file of `release_directory` lists the images for an architecture (RPM's name).
[[nodiscard]] bool is_release_list(std::string_view file, std::string_view architecture);

/// The images that the resolution's release-info packages list for an architecture (RPM's name).
/// These packages are fetched first, which `fetch_packages` then finds in the cache. Empty if the
/// image has none of them. Throws as `fetch_packages` and `parse_release_images`.
[[nodiscard]] std::vector<ReleaseImage> release_images(const Context& ctx,
                                                       const Resolution& resolution,
                                                       const std::vector<Repository>& repositories,
                                                       const std::string& architecture);

}  // namespace edgegpu
