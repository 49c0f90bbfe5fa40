#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/stage/explain_package.hpp"

namespace edgegpu {

/// A container image that the blueprint, one of its bundles or MicroShift names.
struct ImageReason {
    /// complete
    std::string name;
    /// Whether it is in the commit.
    bool in_image = false;
    /// "b.toml:3:1 [[containers]]", and as WantedImage.
    std::vector<std::string> wanted_by;
};

/// Whether an argument is a name of images rather than of packages: it has a slash inside.
[[nodiscard]] bool names_images(std::string_view spec);

/// `why_package`, with the parent of the blueprint. Throws as `open_parent` does, too.
[[nodiscard]] PackageAnswer why_package_of_image(const Context& ctx, const Blueprint& blueprint,
                                                 const std::string& spec);

/// The images that `spec` names, with or without their tag or digest (globs as in fnmatch(3)).
/// Resolves the packages, since microshift-release-info names images, but asks no registry. Throws
/// as `resolve_blueprint` does.
[[nodiscard]] std::vector<ImageReason> why_image(const Context& ctx, const Blueprint& blueprint,
                                                 const std::string& spec);

}  // namespace edgegpu
