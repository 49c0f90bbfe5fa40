#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "support/error.hpp"
#include "support/path_glob.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

/// Checks everything about an overlay that does not depend on the image, member by member.
class OverlayChecker {
public:
    using Visit = std::function<void(const OverlayMember&)>;

    OverlayChecker(const OverlayRequest& overlay, const OverlayLimits& limits, const Visit& visit,
                   Mistakes* mistakes)
        : overlay_(overlay), limits_(limits), visit_(visit), mistakes_(mistakes) {
        for (const OverlayRule& rule : overlay.rules) {
            rules_.emplace_back(PathGlob(rule.path), false);
        }
    }

    /// Absolute path in the image of the member `name`; empty for the overlay's top and for names
    /// that strip_components removes.
    [[nodiscard]] std::string place(std::string_view name, std::string_view what = "") const;
    /// Counts a member towards the limits, before its content is read.
    void count(std::string_view name, std::uint64_t size);
    /// Checks and visits a member with a path in the image.
    void add(const OverlayMember& member);
    /// Throws if strip_components left nothing, or for a rule that matches nothing.
    void finish() const;
    /// Whether the Error about a member is noted, so that the visit goes on without it.
    [[nodiscard]] bool keeps(const Error& failure);
    /// Whether the member is below one that was refused.
    [[nodiscard]] bool is_below_refused(std::string_view path) const {
        return std::ranges::any_of(refused_,
                                   [&](const std::string& top) { return is_below(path, top); });
    }

    [[nodiscard]] const OverlayLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] bool has_file(const std::string& path) const {
        const auto found = seen_.find(path);
        return found != seen_.end() && found->second == MemberType::file;
    }
    [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
        return error_at(overlay_.location, "overlay {}: \"{}\" {}", overlay_.source.string(), name,
                        reason);
    }

private:
    void add_parents(const OverlayMember& member);
    void note(const OverlayMember& member);

    const OverlayRequest& overlay_;
    const OverlayLimits& limits_;
    const Visit& visit_;
    std::vector<std::pair<PathGlob, bool>> rules_;
    std::map<std::string, MemberType> seen_;
    std::uint64_t members_ = 0;
    std::uint64_t bytes_ = 0;
    Mistakes* mistakes_;
    bool beyond_limits_ = false;
    bool any_kept_ = false;
    /// Paths that no image can carry.
    std::set<std::string> refused_;
};

/// Why an overlay cannot contain an object of this type at `path`, or empty if it can:
/// `unfit_path_reason`, or that the path belongs to the device.
[[nodiscard]] std::string unfit_member_reason(std::string_view path, MemberType type);

/// A hint for such a path, or empty.
[[nodiscard]] std::string unfit_member_hint(std::string_view path);

}  // namespace edgegpu
