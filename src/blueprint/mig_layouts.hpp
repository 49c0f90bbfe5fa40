#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/gpu_settings.hpp"

/// What `[nvidia.mig]` makes of devices' GPUs.
namespace edgegpu {

/// The entry for a GPU: that of its PCI id, else "all"; nullptr: it stays as it is.
[[nodiscard]] const MigLayout* layout_of(const std::vector<MigLayout>& layouts,
                                         std::string_view device);

/// The name under which NVIDIA's device plugin offers instances of a profile with the strategy
/// "mixed": "nvidia.com/mig-1g.18gb", "nvidia.com/mig-1g.18gb.me" for "1g.18gb+me".
[[nodiscard]] std::string mig_resource(std::string_view profile);

/// What GPUs are offered as. `devices`: `[nvidia] devices`; empty: any.
struct MigOffer {
    /// Some GPU is divided.
    bool divided = false;
    /// Some GPU is not.
    bool whole = false;
    /// Resources of the strategy "mixed", each once, in the order of the layouts.
    std::vector<std::string> resources;
    /// The most instances that a GPU is divided into.
    unsigned instances = 0;

    [[nodiscard]] bool has(std::string_view resource) const;
};
[[nodiscard]] MigOffer mig_offer(const std::vector<MigLayout>& layouts,
                                 const std::vector<std::string>& devices);

/// How many of a resource of the strategy "mixed" a GPU has at most.
[[nodiscard]] unsigned most_instances(const std::vector<MigLayout>& layouts,
                                      std::string_view resource);

}  // namespace edgegpu
