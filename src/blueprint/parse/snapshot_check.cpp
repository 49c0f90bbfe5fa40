#include "blueprint/parse/snapshot_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/source_location.hpp"

namespace edgegpu {

namespace {

bool changes_policy(const SelinuxRequest& selinux) {
    return !selinux.modules.empty() || !selinux.booleans.empty() || !selinux.require.empty() ||
           !selinux.forbid.empty() || selinux.gpu_containers;
}

}  // namespace

void check_snapshot_system(const Blueprint& blueprint, Mistakes& mistakes,
                           std::vector<std::string>& warnings) {
    const SourceLocation whole{blueprint.path.string(), 0, 0};
    const auto refuse = [&](const SourceLocation& location, std::string_view what,
                            std::string_view why, std::string_view hint) {
        mistakes.add(error_at(location.file.empty() ? whole : location, "{} for {}: {}", what,
                              blueprint.distro, why)
                         .hinted(std::string(hint)));
    };
    if (changes_policy(blueprint.selinux)) {
        refuse(blueprint.selinux.location, "[selinux]",
               "devices keep their SELinux policy, which is in /etc and /var, when they take up an "
               "image",
               "remove [selinux]; load modules on devices (semodule -i)");
    }
    if (blueprint.updates) {
        refuse(blueprint.updates->location, "[updates]",
               "it drives ostree, and these devices have transactional-update",
               "remove [updates]; transactional-update has a timer of its own");
    }
    if (blueprint.parent) {
        refuse(blueprint.parent->location, "[parent]", "only commits of ostree can be layered on",
               "remove [parent]");
    }
    if (blueprint.openshift) {
        refuse(blueprint.openshift->location, "[openshift]",
               "nodes of OpenShift run images of ostree", "remove [openshift]");
    }
    if (blueprint.fips.enabled) {
        refuse(blueprint.fips.location, "fips",
               "it needs a kernel argument, and devices keep theirs",
               "remove it; on devices, fips-mode-setup --enable");
    }
    if (!blueprint.image.volumes.empty()) {
        refuse(whole, "file systems of the device",
               "edgegpu writes no disk images of it, and the device keeps its own",
               "remove customizations.disk and customizations.filesystem");
    }
    if (!blueprint.kernel.arguments.empty()) {
        warnings.push_back(fmt::format(
            "{}: kernel arguments do not come with an image of {}, which leaves the device's "
            "boot loader as it is: set them on devices (pbl --add-option ARGUMENT, then "
            "transactional-update grub.cfg)",
            blueprint.kernel.location.text(), blueprint.distro));
    }
}

}  // namespace edgegpu
