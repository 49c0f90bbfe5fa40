#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/microshift.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "microshift/effective_config.hpp"

namespace edgegpu {

/// The file of `[microshift.config]`. MicroShift merges the files of the directory in the order of
/// their names: this one overrides 00-enable-multus.yaml of the package microshift-multus, and is
/// overridden by files of administrators, which customarily begin with higher numbers.
inline constexpr std::string_view config_drop_in = "/etc/microshift/config.d/10-edgegpu.yaml";

/// Writes `[microshift.config]` as YAML; of a layer on a parent that has such a file, to the next
/// one, "11-edgegpu.yaml", which overrides that. Throws ErrorKind::usage with its place if the
/// image has no MicroShift, or if something else brings the file.
void add_microshift_config(const Context& ctx, const std::optional<MicroshiftConfig>& config,
                           bool on_parent, Tree& tree);

/// Whether the package microshift is in the image.
[[nodiscard]] bool has_microshift(const Tree& tree);

/// The files that the image's MicroShift reads its configuration from.
[[nodiscard]] ConfigFiles config_files_of(const Tree& tree);

/// The sources that firewalld has to trust for MicroShift's pods: their networks, as configured in
/// the image, and the address at which they reach the node. None without MicroShift, or with
/// `microshift.firewall = false`.
[[nodiscard]] std::vector<std::string> trusted_sources_of(const MicroshiftRequest& microshift,
                                                          const Tree& tree);

}  // namespace edgegpu
