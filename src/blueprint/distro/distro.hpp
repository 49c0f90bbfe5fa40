#pragma once

#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// A distribution taken apart: "rhel-9.4" gives {rhel, 9.4, 9}.
struct DistroName {
    /// "rhel", "centos", "fedora", …
    std::string name;
    /// "9.4", "40"
    std::string version;
    /// "9", "40"
    std::string major;

    /// "rhel-9.4"
    [[nodiscard]] std::string text() const { return name + '-' + version; }
};

/// Takes NAME-VERSION apart in all of image builder's spellings: "rhel-94" is rhel-9.4, "rhel-810"
/// is rhel-8.10, "centos-stream-9" is centos-9. Throws at `location` for anything else.
[[nodiscard]] DistroName split_distro(const SourceLocation& location, std::string_view distro);

/// Image builder's default: "rhel/9/x86_64/edge", "fedora/40/x86_64/iot".
[[nodiscard]] std::string default_ref(const DistroName& distro, std::string_view architecture);

/// Whether version `left` ("9.4") comes before `right`, part by part; a part that is missing counts
/// as newer than every other, so that "9" is after "9.8".
[[nodiscard]] bool is_older_version(std::string_view left, std::string_view right);

}  // namespace edgegpu
