#include "blueprint/distro/distro.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// "9", "9.4", "12.1.3".
bool is_version(std::string_view text) {
    return is_plain_name(text, ".") && text.find("..") == std::string_view::npos &&
           text.back() != '.' && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Older versions of image builder wrote 9.4 as "rhel-94", 8.10 as "rhel-810" and 10.1 as
/// "rhel-101".
std::string with_dot(std::string_view name, std::string_view version) {
    const bool enterprise = name == "rhel" || name == "centos";
    if (!enterprise || version.find('.') != std::string_view::npos) {
        return std::string(version);
    }
    const std::size_t digits = version.front() == '1' ? 2 : 1;
    if (version.size() <= digits || version.size() > digits + 2) {
        return std::string(version);
    }
    return std::string(version.substr(0, digits)) + '.' + std::string(version.substr(digits));
}

/// Removes the first part of a version and returns it as a number; the maximum if there is none.
unsigned long take_part(std::string_view& version) {
    if (version.empty()) {
        return std::numeric_limits<unsigned long>::max();
    }
    const std::size_t end = std::min(version.find('.'), version.size());
    unsigned long number = 0;
    for (const char digit : version.substr(0, std::min<std::size_t>(end, 9))) {
        number = number * 10 + static_cast<unsigned long>(digit - '0');
    }
    version.remove_prefix(std::min(end + 1, version.size()));
    return number;
}

constexpr std::array<std::string_view, 6> suse_names{
    "sles", "sled", "sle-micro", "sl-micro", "opensuse-leap", "opensuse-leap-micro"};

/// Names are compared letter by letter, here, in repositories' paths and in package sets: "SLES"
/// would be a distribution of which nothing is known.
void require_known_case(const SourceLocation& location, std::string_view name,
                        std::string_view version) {
    const std::string plain = lower_case(name);
    const std::vector<std::string> known = known_distros();
    if (plain == name ||
        (plain != "centos-stream" && std::ranges::find(known, plain) == known.end())) {
        return;
    }
    throw error_at(location, "\"distro\" is written in lower case, not \"{}-{}\"", name, version)
        .hinted(fmt::format("write \"{}-{}\"", plain, version));
}

}  // namespace

std::vector<std::string> known_distros() {
    std::vector<std::string> known{"almalinux", "amzn", "centos", "eurolinux",
                                   "fedora",    "ol",   "rhel",   "rocky"};
    known.insert(known.end(), suse_names.begin(), suse_names.end());
    return known;
}

DistroName split_distro(const SourceLocation& location, std::string_view distro) {
    const std::size_t dash = distro.rfind('-');
    const std::string_view version =
        dash == std::string_view::npos ? std::string_view{} : distro.substr(dash + 1);
    if (distro.size() > 64 || !is_plain_name(distro, "_.-") || dash == 0 || !is_version(version)) {
        throw error_at(location, "\"distro\" must be NAME-VERSION, not \"{}\"",
                       clip(printable_line(distro), 40))
            .hinted("as in \"rhel-9.4\", \"centos-9\" or \"fedora-40\"");
    }
    require_known_case(location, distro.substr(0, dash), version);
    DistroName result;
    result.name = distro.substr(0, dash);
    if (result.name == "centos-stream") {
        result.name = "centos";
    }
    result.version = with_dot(result.name, version);
    result.major = result.version.substr(0, result.version.find('.'));
    return result;
}

bool DistroName::is_suse() const {
    return std::ranges::find(suse_names, name) != suse_names.end();
}

bool is_suse(std::string_view distro) {
    return !distro.empty() && split_distro({}, distro).is_suse();
}

UpdateSystem update_system(std::string_view distro) {
    return is_suse(distro) ? UpdateSystem::snapshots : UpdateSystem::ostree;
}

bool is_usr_merged(const DistroName& distro) {
    const bool micro = distro.name == "sl-micro" || distro.name == "opensuse-leap-micro";
    return !distro.is_suse() || !is_older_version(distro.version, micro ? "6.0" : "16.0");
}

std::string_view enterprise_version(std::string_view distro) {
    const bool own = distro.starts_with("fedora-") || distro.starts_with("lab-");
    return own ? std::string_view() : distro.substr(distro.find('-') + 1);
}

std::string default_ref(const DistroName& distro, std::string_view architecture) {
    return fmt::format("{}/{}/{}/{}", distro.name, distro.major, architecture,
                       distro.name == "fedora" ? "iot" : "edge");
}

bool is_older_version(std::string_view left, std::string_view right) {
    while (!left.empty() || !right.empty()) {
        const unsigned long one = take_part(left);
        const unsigned long other = take_part(right);
        if (one != other) {
            return one < other;
        }
    }
    return false;
}

}  // namespace edgegpu
