#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/packages.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// The components that an image lacks to boot as an ostree device, each with a package that
/// contains it: "dracut, which makes the initramfs (package dracut)". They are recognised by the
/// names of packages, before anything is downloaded; therefore always empty for an empty `distro`,
/// whose package names are unknown. The initramfs is checked in any case.
[[nodiscard]] std::vector<std::string> missing_boot_parts(const std::string& distro,
                                                          const Resolution& resolution);

/// Throws ErrorKind::usage if a component is missing. `blueprint` is the file that the message
/// names; whether there is a package set decides what it suggests.
void require_boot_parts(const std::filesystem::path& blueprint, const std::string& distro,
                        const PackageSet& set, const Resolution& resolution);

}  // namespace edgegpu
