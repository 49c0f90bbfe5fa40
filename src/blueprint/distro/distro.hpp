#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "support/update_system.hpp"

namespace edgegpu {

/// Name and version of a distribution: {rhel, 9.4, 9} for "rhel-9.4".
struct DistroName {
    /// "rhel", "centos", "fedora", …
    std::string name;
    /// "9.4", "40"
    std::string version;
    /// "9", "40"
    std::string major;

    /// "rhel-9.4"
    [[nodiscard]] std::string text() const { return name + '-' + version; }
    /// One of SUSE's: its kernels are named by flavour ("kernel-default"), and modules for them are
    /// kernel module packages (KMP).
    [[nodiscard]] bool is_suse() const;
};

/// Names of distributions that edgegpu knows; any other is accepted as well.
[[nodiscard]] std::vector<std::string> known_distros();

/// Parses NAME-VERSION in all of image builder's spellings: "rhel-94" is rhel-9.4, "rhel-810" is
/// rhel-8.10, "centos-stream-9" is centos-9. Throws at `location` for anything else, and for a
/// known name in capitals ("SLES-15.6").
[[nodiscard]] DistroName split_distro(const SourceLocation& location, std::string_view distro);

/// Whether a blueprint's `distro` ("sles-15.6", or empty) is one of SUSE's.
[[nodiscard]] bool is_suse(std::string_view distro);
/// How devices with a blueprint's `distro` get their images: SUSE's by snapshots.
[[nodiscard]] UpdateSystem update_system(std::string_view distro);
/// Whether /bin, /lib and /sbin are links into /usr, as an image must have them: not so in SUSE's
/// versions before 16, SL Micro from 6.
[[nodiscard]] bool is_usr_merged(const DistroName& distro);
/// The version of a distribution that numbers its own as Enterprise Linux does ("9.4" of
/// "rhel-9.4"); empty for Fedora and the test lab, which count by themselves.
[[nodiscard]] std::string_view enterprise_version(std::string_view distro);

/// Image builder's default: "rhel/9/x86_64/edge", "fedora/40/x86_64/iot".
[[nodiscard]] std::string default_ref(const DistroName& distro, std::string_view architecture);

/// Whether version `left` ("9.4") is older than `right`, part by part. A missing part counts as
/// newer than any number: "9" is newer than "9.8".
[[nodiscard]] bool is_older_version(std::string_view left, std::string_view right);

}  // namespace edgegpu
