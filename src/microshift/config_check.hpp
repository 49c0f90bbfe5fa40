#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "blueprint/microshift.hpp"
#include "microshift/version.hpp"

namespace edgegpu {

/// Checks `[microshift.config]` without network, against the schema that edgegpu has of this
/// version of MicroShift (without a version: of the newest; of a newer one than that: none, since
/// the image brings its own) and check_config_values. Throws ErrorKind::usage with everything that
/// is wrong, each with the place of its key.
void check_microshift_config(const MicroshiftRequest& microshift,
                             std::optional<MicroshiftVersion> version);

/// Checks it against the schema that the image's MicroShift has installed. Throws ErrorKind::usage
/// as above, Error for a document that is no schema.
void check_microshift_config(const MicroshiftConfig& config, std::string_view published_schema,
                             MicroshiftVersion version);

/// Why MicroShift with a configuration (a JSON object) would never apply the blueprint's bundles:
/// its `manifests.kustomizePaths` do not lead to them. Empty if they do, or if it does not set
/// them.
[[nodiscard]] std::string bundles_not_applied(const MicroshiftRequest& microshift,
                                              const nlohmann::json& configuration);
inline constexpr const char* not_applied_hint =
    "add the place of the bundles to manifests.kustomizePaths, leave that out, or choose another "
    "place with manifests in [microshift]";

/// The place of a value in the blueprint: of the nearest one around it that has a place.
[[nodiscard]] SourceLocation place_in(const MicroshiftConfig& config, std::string_view pointer);

}  // namespace edgegpu
