#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgegpu {

/// GiB of 64-bit addresses that the largest BAR of a GPU takes, by which a virtual machine is
/// laid out. `known` is false for a model of which only the largest of its kind can be assumed.
struct BarSize {
    std::uint64_t gib = 0;
    bool known = false;
};

/// Of a GPU with the PCI id "10de:20b7".
[[nodiscard]] BarSize largest_bar(const std::string& pci_id);

/// GiB of the window for 64-bit BARs that a virtual machine needs for these GPUs, one id for each
/// card: the next power of two above the sum of their largest BARs, since each has smaller ones
/// beside it.
[[nodiscard]] std::uint64_t window_gib(const std::vector<std::string>& pci_ids);

}  // namespace edgegpu
