#include "gpu/mig.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "support/text/number.hpp"

namespace edgegpu {

namespace {

// Profiles by the memory of the GPU.
constexpr auto gb24 = std::to_array<MigCapacity>({{{1, 6}, 4}, {{2, 12}, 2}, {{4, 24}, 1}});
constexpr auto gb40 = std::to_array<MigCapacity>(
    {{{1, 5}, 7}, {{1, 10}, 4}, {{2, 10}, 3}, {{3, 20}, 2}, {{4, 20}, 1}, {{7, 40}, 1}});
constexpr auto gb80 = std::to_array<MigCapacity>(
    {{{1, 10}, 7}, {{1, 20}, 4}, {{2, 20}, 3}, {{3, 40}, 2}, {{4, 40}, 1}, {{7, 80}, 1}});
constexpr auto gb94 = std::to_array<MigCapacity>(
    {{{1, 12}, 7}, {{1, 24}, 4}, {{2, 24}, 3}, {{3, 47}, 2}, {{4, 47}, 1}, {{7, 94}, 1}});
constexpr auto gb141 = std::to_array<MigCapacity>(
    {{{1, 18}, 7}, {{1, 35}, 4}, {{2, 35}, 3}, {{3, 71}, 2}, {{4, 71}, 1}, {{7, 141}, 1}});
constexpr auto gb180 = std::to_array<MigCapacity>(
    {{{1, 23}, 7}, {{1, 45}, 4}, {{2, 45}, 3}, {{3, 90}, 2}, {{4, 90}, 1}, {{7, 180}, 1}});
constexpr auto gb186 = std::to_array<MigCapacity>(
    {{{1, 23}, 7}, {{1, 47}, 4}, {{2, 47}, 3}, {{3, 93}, 2}, {{4, 93}, 1}, {{7, 186}, 1}});
// RTX PRO: four slices.
constexpr auto rtx96 = std::to_array<MigCapacity>({{{1, 24}, 4}, {{2, 48}, 2}, {{4, 96}, 1}});

struct MigCard {
    std::uint16_t device;
    std::span<const MigCapacity> profiles;
};

constexpr auto cards = std::to_array<MigCard>({
    {0x20b0, gb40},   // A100 SXM 40 GB
    {0x20b1, gb40},   // A100 PCIe 40 GB
    {0x20b2, gb80},   // A100 SXM 80 GB
    {0x20b5, gb80},   // A100 PCIe 80 GB
    {0x20b7, gb24},   // A30
    {0x20bd, gb40},   // A800 SXM 40 GB
    {0x20f1, gb40},   // A100 PCIe 40 GB
    {0x20f3, gb80},   // A800 SXM 80 GB
    {0x20f5, gb80},   // A800 PCIe 80 GB
    {0x20f6, gb40},   // A800 40 GB Active
    {0x2321, gb94},   // H100 NVL
    {0x2322, gb80},   // H800 PCIe
    {0x2324, gb80},   // H800
    {0x2330, gb80},   // H100 SXM 80 GB
    {0x2331, gb80},   // H100 PCIe
    {0x2335, gb141},  // H200
    {0x233a, gb94},   // H800 NVL
    {0x233b, gb141},  // H200 NVL
    {0x2901, gb180},  // B200
    {0x2941, gb186},  // GB200
    {0x2bb5, rtx96},  // RTX PRO 6000 Blackwell Server Edition
});

/// Whether a GPU belongs to an architecture of which no GPU has MIG: all before Blackwell except
/// GA100 and GH100.
bool is_without_mig(std::uint16_t device) {
    const bool ga100 = device >= 0x2080 && device <= 0x20ff;
    const bool gh100 = device >= 0x2300 && device <= 0x23ff;
    return device < 0x2900 && !ga100 && !gh100;
}

/// Removes a number and `unit` from the beginning of `text`.
std::optional<unsigned> take_amount(std::string_view& text, std::string_view unit) {
    const auto value = take_number<unsigned>(text);
    if (!value || !text.starts_with(unit)) {
        return std::nullopt;
    }
    text.remove_prefix(unit.size());
    return value;
}

bool is_same(const MigProfile& one, const MigProfile& other) {
    const unsigned larger = std::max(one.gigabytes, other.gigabytes);
    const unsigned smaller = std::min(one.gigabytes, other.gigabytes);
    const unsigned rounding = smaller < 11 ? 0 : std::max(1U, smaller / 20);
    return one.slices == other.slices && larger - smaller <= rounding;
}

}  // namespace

std::string MigProfile::text() const {
    return fmt::format("{}g.{}gb", slices, gigabytes);
}

std::optional<MigProfile> mig_profile(std::string_view name) {
    std::string_view rest = name;
    if (!take_amount(rest, "c.")) {
        rest = name;
    }
    const std::optional<unsigned> slices = take_amount(rest, "g.");
    const std::optional<unsigned> gigabytes = slices ? take_amount(rest, "gb") : std::nullopt;
    if (!gigabytes || (!rest.empty() && rest[0] != '.' && rest[0] != '-' && rest[0] != '+')) {
        return std::nullopt;
    }
    return MigProfile{*slices, *gigabytes};
}

unsigned MigSupport::instances_of(const MigProfile& profile) const {
    for (const MigCapacity& each : profiles) {
        if (is_same(each.profile, profile)) {
            return each.instances;
        }
    }
    return 0;
}

MigSupport mig_of(std::uint16_t device) {
    const auto* const card = std::ranges::find(cards, device, &MigCard::device);
    if (card == cards.end()) {
        return {is_without_mig(device), {}};
    }
    return {true, {card->profiles.begin(), card->profiles.end()}};
}

}  // namespace edgegpu
