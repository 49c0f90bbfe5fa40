#include "gpu/address_space.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace edgegpu {

namespace {

struct BarRow {
    std::uint16_t device = 0;
    std::uint16_t gib = 0;
};

/// BAR1 of cards that are passed to virtual machines. 0x2335 was read from the card (sysfs,
/// `resource`: 256 GiB, beside 16 and 32 MiB). The others were not: they are the power of two above
/// the card's memory, as these cards usually have it, and less for T4 and the like. P40 is listed
/// with twice its 32 GiB, since a window of 128 GiB is documented for it.
constexpr auto bar_rows = std::to_array<BarRow>({
    {0x15f8, 16},   // Tesla P100-PCIE-16GB
    {0x1b38, 64},   // Tesla P40
    {0x1db4, 16},   // Tesla V100-PCIE-16GB
    {0x1db6, 32},   // Tesla V100-PCIE-32GB
    {0x1eb8, 1},    // Tesla T4, 256 MiB
    {0x20b0, 64},   // A100-SXM4-40GB
    {0x20b2, 128},  // A100-SXM4-80GB
    {0x20b5, 128},  // A100 80GB PCIe
    {0x20b7, 32},   // A30
    {0x20f1, 64},   // A100-PCIE-40GB
    {0x2235, 64},   // A40
    {0x2236, 32},   // A10
    {0x2321, 128},  // H100 NVL
    {0x2330, 128},  // H100 80GB HBM3
    {0x2331, 128},  // H100 PCIe
    {0x2335, 256},  // H200
    {0x233b, 256},  // H200 NVL
    {0x25b6, 16},   // A2, A16
    {0x26b5, 64},   // L40
    {0x26b9, 64},   // L40S
    {0x27b8, 32},   // L4
});

/// A window of 512 GiB, vm-operator's default.
constexpr std::uint64_t assumed_gib = 256;

}  // namespace

BarSize largest_bar(const std::string& pci_id) {
    const std::string_view digits = std::string_view(pci_id).substr(pci_id.find(':') + 1);
    std::uint16_t device = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), device, 16);
    const auto* const found = std::ranges::find(bar_rows, device, &BarRow::device);
    return found == bar_rows.end() ? BarSize{assumed_gib, false} : BarSize{found->gib, true};
}

std::uint64_t window_gib(const std::vector<std::string>& pci_ids) {
    std::uint64_t sum = 0;
    for (const std::string& id : pci_ids) {
        sum += largest_bar(id).gib;
    }
    std::uint64_t window = 1;
    while (window <= sum) {
        window *= 2;
    }
    return window;
}

}  // namespace edgegpu
