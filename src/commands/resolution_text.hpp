#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "report/diff_packages.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// The packages of a lockfile, or of a commit in the ostree repository `repo`: `name` is the path
/// of the former, or a ref or checksum of the latter. Throws ErrorKind::usage if it is neither.
[[nodiscard]] std::vector<Nevra> packages_of(const std::string& name,
                                             const std::filesystem::path& repo);

/// The result as text: kernel and driver, which newer ones were not chosen, what changed, then all
/// packages in columns, and what kernel modules are compiled with.
[[nodiscard]] std::string resolution_text(const Resolution& resolution, const Blueprint& blueprint,
                                          const std::optional<std::vector<PackageChange>>& changes);

/// The result as a JSON document "edgegpu-resolve/1" (docs/schemas/resolve.json).
[[nodiscard]] std::string resolution_json(const Resolution& resolution, const Blueprint& blueprint,
                                          const std::optional<std::vector<PackageChange>>& changes,
                                          const std::vector<std::string>& warnings);

}  // namespace edgegpu
