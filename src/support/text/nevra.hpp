#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace edgegpu {

/// Name, epoch, version, release and architecture of a package.
struct Nevra {
    std::string name;
    std::uint32_t epoch = 0;
    std::string version;
    std::string release;
    std::string arch;

    /// "name-[epoch:]version-release.arch"; epoch 0 is left out.
    [[nodiscard]] std::string text() const;
    /// "[epoch:]version-release"
    [[nodiscard]] std::string evr() const;
    // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
    auto operator<=>(const Nevra&) const = default;
};

}  // namespace edgegpu
