#include "resolve/solve/boot_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

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
constexpr std::array<BootPart, 4> parts{{
    {"systemd", {"systemd"}, {}, "systemd"},
    {"dracut, which makes the initramfs", {"dracut"}, {}, "dracut"},
    {"ostree and dracut's ostree module",
     {"ostree", "rpm-ostree", "ostree-boot"},
     {},
     "ostree, or rpm-ostree"},
    {"an SELinux policy", {}, "selinux-policy-", "selinux-policy-targeted"},
}};

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

}  // namespace

std::vector<std::string> missing_boot_parts(const std::string& distro,
                                            const Resolution& resolution) {
    std::vector<std::string> missing;
    if (distro.empty()) {
        return missing;
    }
    for (const BootPart& part : parts) {
        if (std::none_of(
                resolution.packages.begin(), resolution.packages.end(),
                [&](const ResolvedPackage& package) { return brings(package.nevra.name, part); })) {
            missing.push_back(fmt::format("{} (package {})", part.what, part.package));
        }
    }
    return missing;
}

void require_boot_parts(const std::filesystem::path& blueprint, const std::string& distro,
                        const PackageSet& set, const Resolution& resolution) {
    const std::vector<std::string> missing = missing_boot_parts(distro, resolution);
    if (missing.empty()) {
        return;
    }
    Error failure = error(ErrorKind::usage, "{}: the image would not boot as an ostree device",
                          blueprint.string());
    for (const std::string& part : missing) {
        failure.traced("it lacks " + part);
    }
    throw failure.hinted(set.name.empty()
                             ? "add these packages to the blueprint; for rhel, centos and fedora "
                               "[image] package_set = \"edge-commit\" adds them"
                             : "remove these packages from excludes");
}

}  // namespace edgegpu
