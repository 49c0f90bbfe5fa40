#pragma once

#include <string>

#include "support/text/enum_names.hpp"

namespace edgegpu {

/// Whether the build machine has what something needs.
enum class Readiness {
    good,
    /// images can be built, but not with everything that blueprints may ask for, or not everything
    /// can be made of them: Finding::purpose says what cannot
    limited,
    /// no image can be built
    broken
};

/// "ok", "limited", "broken"
[[nodiscard]] constexpr std::string_view text_of(Readiness readiness) noexcept {
    return nth_name(readiness, {"ok", "limited", "broken"});
}

/// A requirement of the build machine, as it was tried.
struct Finding {
    /// what was tried: "user namespace", "container images"
    std::string subject;
    Readiness readiness = Readiness::good;
    /// what was found, or what is wrong with it
    std::string found;
    /// what to do about it; empty if it is good
    std::string cure;
};

}  // namespace edgegpu
