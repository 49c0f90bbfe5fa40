#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/packages.hpp"
#include "resolve/resolution.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// What the components below are for: "boot as an ostree device", or what it is for SUSE.
[[nodiscard]] std::string_view purpose_of_image(const std::string& distro);

/// Why no package could make it an image: a distribution that is resolved alone, or a
/// transactional-update that takes no images (ErrorKind::usage).
[[nodiscard]] std::optional<Error> build_refusal(const std::string& distro,
                                                 const Resolution& resolution);

/// The components that an image lacks for its purpose, each with a package that contains it:
/// "dracut, which makes the initramfs (package dracut)". They are recognised by the names of
/// packages, before anything is downloaded; therefore always empty for an empty `distro`, whose
/// package names are unknown. The initramfs is checked in any case.
[[nodiscard]] std::vector<std::string> missing_boot_parts(const std::string& distro,
                                                          const Resolution& resolution);

/// Throws ErrorKind::usage if a component is missing, and `build_refusal`. `blueprint` is the file
/// that the message names; whether there is a package set decides what it suggests.
void require_boot_parts(const std::filesystem::path& blueprint, const std::string& distro,
                        const PackageSet& set, const Resolution& resolution);

}  // namespace edgegpu
