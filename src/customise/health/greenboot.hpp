#pragma once

#include <string>
#include <vector>

#include "blueprint/device.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Which greenboot an image has: the shell programs of 0.14 and 0.15, or greenboot-rs (0.16).
enum class GreenbootKind { none, bash, rust };

struct Greenboot {
    GreenbootKind kind = GreenbootKind::none;
    /// Of the package, "0.15.8"; empty: no package brings it.
    std::string version;
};

/// The greenboot of an image: by the version of its package; without a package by its program,
/// which is an ELF file from 0.16 on, and by the units that each kind alone has.
[[nodiscard]] Greenboot greenboot_of(const Tree& tree);

/// `services` with greenboot's units enabled, without which no check runs and no bad upgrade is
/// taken back (osbuild's definitions of distributions), as far as the image has them; those for
/// which the blueprint sets a state itself keep it. `health` is where `[health.gpu]` is. Throws
/// ErrorKind::usage for a unit without which nothing is taken back and which the blueprint disables
/// or masks.
[[nodiscard]] ServicesRequest with_greenboot_units(const SystemdRequest& systemd,
                                                   ServicesRequest services,
                                                   const SourceLocation& health, const Tree& tree);

/// What is wrong with the rollback of a greenboot's version.
struct GreenbootFault {
    /// No bad upgrade is taken back, or there are no upgrades at all.
    bool fatal = false;
    std::string text;
    std::string hint;
};

/// The known faults of this version in this image. Sources: fedora-iot/greenboot 0.14.0 to 0.15.9
/// and fedora-iot/greenboot-rs 0.16.0 to 0.16.4.
[[nodiscard]] std::vector<GreenbootFault> faults_of_greenboot(const Greenboot& greenboot,
                                                              const Tree& tree);

/// GRUB's timer for users says that a boot has succeeded two minutes after a login, and ends the
/// counting of boots by that, on an image with greenboot as well: there it is not started, as in
/// image builder's edge commits (osbuild/images, pkg/distro/rhel/rhel9/edge.go).
void leave_boot_success(const Context& ctx, Tree& tree);

}  // namespace edgegpu
