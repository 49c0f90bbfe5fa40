#include "microshift/version.hpp"

#include <fmt/format.h>

#include "support/text/number.hpp"

namespace edgegpu {

namespace {

/// Minor versions of MicroShift 4, 4.0 to 4.22. What MicroShift calls 4.23 counts as 5.0, too.
constexpr unsigned minors_of_4 = 23;

/// Removes the number, of at most three digits, that `text` begins with.
std::optional<unsigned> take_part(std::string_view& text) {
    const auto number = take_number<unsigned>(text);
    return number && *number <= 999 ? number : std::nullopt;
}

}  // namespace

std::string MicroshiftVersion::text() const {
    return fmt::format("{}.{}", major, minor);
}

unsigned MicroshiftVersion::number() const {
    return major == 4 ? minor : minors_of_4 + minor;
}

MicroshiftVersion MicroshiftVersion::numbered(unsigned number) {
    return number < minors_of_4 ? MicroshiftVersion{4, number}
                                : MicroshiftVersion{5, number - minors_of_4};
}

std::optional<MicroshiftVersion> microshift_version(std::string_view text) {
    const std::optional<unsigned> major = take_part(text);
    if (!major || (*major != 4 && *major != 5) || !text.starts_with('.')) {
        return std::nullopt;
    }
    text.remove_prefix(1);
    const std::optional<unsigned> minor = take_part(text);
    // "4.1*" may be 4.18.
    if (!minor || !(text.empty() || text.front() == '.' || text.front() == '-' ||
                    text.front() == '~' || text.front() == '^')) {
        return std::nullopt;
    }
    return MicroshiftVersion{*major, *minor};
}

std::optional<MicroshiftVersion> requested_microshift(const std::vector<PackageRequest>& packages) {
    constexpr std::string_view prefix = "microshift-";
    std::optional<MicroshiftVersion> found;
    for (const PackageRequest& request : packages) {
        if (request.spec.starts_with(prefix)) {
            const auto version =
                microshift_version(std::string_view(request.spec).substr(prefix.size()));
            found = version ? version : found;
        }
    }
    return found;
}

}  // namespace edgegpu
