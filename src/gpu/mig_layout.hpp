#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/mig.hpp"

/// Which instances of a GPU in MIG mode exist together.
namespace edgegpu {

/// A profile of which GPU instances can be made: "1g.18gb", or "1g.18gb+me", the one that has the
/// media engines. Nothing for other text, and for compute instances ("1c.3g.71gb"), which are made
/// within a GPU instance.
[[nodiscard]] std::optional<MigProfile> mig_instance_profile(std::string_view name);

/// A GPU instance on its GPU, as nvidia-smi mig -lgi has it ("Placement Start:Size").
struct MigPlacement {
    std::string profile;
    /// The first of the memory slices that it occupies, and how many those are.
    unsigned start = 0;
    unsigned size = 0;
};

/// A place for an instance of each of `profiles`, in their order; nothing if they do not fit
/// together, or one of them is none of the GPU's. Where instances can begin is told by
/// `nvidia-smi mig -lgipp` (and by NVIDIA's MIG user guide): GPUs with seven compute slices have
/// eight memory slices; those with four have four, or twelve.
[[nodiscard]] std::optional<std::vector<MigPlacement>> place_mig(
    const MigSupport& gpu, const std::vector<std::string>& profiles);

/// What of `profiles` fits, for messages: "3g.71gb and 3g.71gb fit, and beside them nothing more".
/// They do not fit as a whole.
[[nodiscard]] std::string text_of_fitting(const MigSupport& gpu,
                                          const std::vector<std::string>& profiles);

}  // namespace edgegpu
