#pragma once

#include <optional>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "microshift/version.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// The MicroShift of an image, by its package; nothing without one, or if its version is none that
/// is known.
[[nodiscard]] std::optional<MicroshiftVersion> microshift_of(const Resolution& resolution);

/// Throws ErrorKind::usage if devices with the parent commit could not upgrade to the image's
/// MicroShift (check_microshift_upgrade). Nothing is checked unless both have one.
void check_microshift_version(const Blueprint& blueprint, const Resolution& resolution,
                              const Parent& parent);

/// Checks the configuration that MicroShift will read in the image, whatever brings its files:
/// `[microshift.config]` against the schema that the image's MicroShift has installed, and all of
/// it against the parent's: what MicroShift cannot change once it has started must stay. Throws
/// ErrorKind::usage; warns of files that MicroShift cannot read or would refuse, and of a parent
/// whose files cannot be read. Does nothing without MicroShift in the image.
void check_image_config(const Context& ctx, const Blueprint& blueprint,
                        const std::optional<Parent>& parent, const Tree& tree);

}  // namespace edgegpu
