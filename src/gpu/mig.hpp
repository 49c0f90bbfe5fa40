#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// The size of an instance of a GPU that is in MIG mode: "3g.20gb" has 3 slices and 20 GB of
/// memory.
struct MigProfile {
    unsigned slices = 0;
    unsigned gigabytes = 0;

    /// "3g.20gb"
    [[nodiscard]] std::string text() const;
};

/// Reads the name of a profile: "1g.10gb", "1c.3g.20gb" (a compute instance within a 3g.20gb),
/// "1g.10gb.me" (with an attribute). Nothing for other text.
[[nodiscard]] std::optional<MigProfile> mig_profile(std::string_view name);

/// A profile that a GPU has, and how many instances of it one GPU holds at most.
struct MigCapacity {
    MigProfile profile;
    unsigned instances = 0;
};

/// What is known of MIG on a GPU.
struct MigSupport {
    /// The GPU is known: if it has no `profiles`, it has no MIG.
    bool known = false;
    /// smallest first
    std::vector<MigCapacity> profiles;

    /// How many instances of a profile one GPU holds; 0 if it does not have the profile. Drivers
    /// round the memory of large profiles differently: about the same is the same.
    [[nodiscard]] unsigned instances_of(const MigProfile& profile) const;
};

/// MIG on the GPU with this number of NVIDIA's PCI devices (0x20b7). The profiles are those of
/// NVIDIA's MIG user guide; GPUs from Blackwell on that are not listed are unknown, as are boards
/// of an architecture with MIG that the guide does not have.
[[nodiscard]] MigSupport mig_of(std::uint16_t device);

}  // namespace edgegpu
