#include "resolve/solve/boot_parts.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "blueprint/distro/distro.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// A component that every ostree device needs, and the packages that contain it.
struct BootPart {
    const char* what;
    /// Names of packages that contain it.
    std::array<std::string_view, 3> names;
    /// Or a prefix of their names; -devel, -doc and the like do not count.
    std::string_view prefix;
    const char* package;
};

// The kernel is not listed: no image is resolved without one. dracut's ostree module is part of
// ostree in Enterprise Linux and Fedora, and of ostree-boot in Debian and the test lab.
constexpr std::array<BootPart, 4> parts_of_ostree{{
    {"systemd", {"systemd"}, {}, "systemd"},
    {"dracut, which makes the initramfs", {"dracut"}, {}, "dracut"},
    {"ostree and dracut's ostree module",
     {"ostree", "rpm-ostree", "ostree-boot"},
     {},
     "ostree, or rpm-ostree"},
    {"an SELinux policy", {}, "selinux-policy-", "selinux-policy-targeted"},
}};

/// The device makes its initramfs with the image's dracut, and the next image is taken up with this
/// one's transactional-update and podman.
constexpr std::array<BootPart, 5> parts_of_snapshots{{
    {"systemd", {"systemd"}, {}, "systemd"},
    {"dracut, with which the device makes its initramfs", {"dracut"}, {}, "dracut"},
    {"transactional-update, with which the device takes up images",
     {"transactional-update"},
     {},
     "transactional-update"},
    {"podman, which transactional-update runs", {"podman"}, {}, "podman"},
    {"rsync, which transactional-update runs", {"rsync"}, {}, "rsync"},
}};

std::span<const BootPart> parts_of(const std::string& distro) {
    if (update_system(distro) == UpdateSystem::snapshots) {
        return parts_of_snapshots;
    }
    return parts_of_ostree;
}

bool is_policy(std::string_view name, std::string_view prefix) {
    constexpr std::array<std::string_view, 4> no_policies{"devel", "doc", "sandbox", "extra"};
    return !prefix.empty() && name.starts_with(prefix) &&
           std::find(no_policies.begin(), no_policies.end(), name.substr(prefix.size())) ==
               no_policies.end();
}

bool brings(const std::string& name, const BootPart& part) {
    return std::find(part.names.begin(), part.names.end(), name) != part.names.end() ||
           is_policy(name, part.prefix);
}

/// The first transactional-update that takes images.
constexpr const char* first_with_apply_oci = "5.0";

}  // namespace

std::vector<std::string> missing_boot_parts(const std::string& distro,
                                            const Resolution& resolution) {
    std::vector<std::string> missing;
    if (distro.empty()) {
        return missing;
    }
    for (const BootPart& part : parts_of(distro)) {
        if (std::none_of(
                resolution.packages.begin(), resolution.packages.end(),
                [&](const ResolvedPackage& package) { return brings(package.nevra.name, part); })) {
            missing.push_back(fmt::format("{} (package {})", part.what, part.package));
        }
    }
    return missing;
}

std::string_view purpose_of_image(const std::string& distro) {
    return update_system(distro) == UpdateSystem::snapshots ? "do for transactional-update"
                                                            : "boot as an ostree device";
}

std::optional<Error> build_refusal(const std::string& distro, const Resolution& resolution) {
    if (update_system(distro) == UpdateSystem::ostree) {
        return std::nullopt;
    }
    if (!is_usr_merged(split_distro({}, distro))) {
        return error(ErrorKind::usage, "edgegpu resolves {}, and cannot build an image of it",
                     distro)
            .traced("it is not usr-merged, and its transactional-update has no apply-oci")
            .hinted("SL Micro 6, SLES 16 and openSUSE Leap 16 have both");
    }
    for (const ResolvedPackage& package : resolution.packages) {
        if (package.nevra.name == "transactional-update" &&
            is_older_version(package.nevra.version, first_with_apply_oci)) {
            return error(ErrorKind::usage, "{} cannot take up images: it has no apply-oci",
                         package.nevra.text())
                .hinted(fmt::format("take version {} or newer", first_with_apply_oci));
        }
    }
    return std::nullopt;
}

void require_boot_parts(const std::filesystem::path& blueprint, const std::string& distro,
                        const PackageSet& set, const Resolution& resolution) {
    if (std::optional<Error> refusal = build_refusal(distro, resolution)) {
        throw *std::move(refusal);
    }
    const std::vector<std::string> missing = missing_boot_parts(distro, resolution);
    if (missing.empty()) {
        return;
    }
    Error failure = error(ErrorKind::usage, "{}: the image would not {}", blueprint.string(),
                          purpose_of_image(distro));
    for (const std::string& part : missing) {
        failure.traced("it lacks " + part);
    }
    throw failure.hinted(set.name.empty()
                             ? "add these packages to the blueprint; for rhel, centos and fedora "
                               "[image] package_set = \"edge-commit\" adds them"
                             : "remove these packages from excludes");
}

}  // namespace edgegpu
