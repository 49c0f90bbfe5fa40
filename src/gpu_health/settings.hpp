#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/steps.hpp"

namespace edgegpu::gpu_health {

/// What a MIG layout asks of one kind of card (`[nvidia.mig]`).
struct WantedMig {
    /// PCI id; empty: every other GPU
    std::string device;
    std::vector<std::string> profiles;
    bool operator==(const WantedMig&) const = default;
};

/// `[health.gpu]` of the blueprint, as the image has it: /usr/lib/edgegpu/gpu-health.json.
/// /etc/edgegpu/gpu-health.json replaces single members on one device.
struct Settings {
    unsigned minimum = 1;
    /// PCI ids, one for each card that must be there
    std::vector<std::string> devices;
    bool passthrough = false;
    bool fail_on_missing_gpu = false;
    bool fail_on_unclear = false;
    /// bytes; 0: any
    std::uint64_t memory = 0;
    std::optional<bool> mig;
    std::optional<bool> persistence;
    unsigned link_width = 0;
    unsigned link_generation = 0;
    std::vector<WantedMig> mig_layouts;
    /// "direct", "podman", "crio"
    std::vector<std::string> workload;
    std::string workload_image;
    /// step name → seconds
    std::map<std::string, unsigned> deadlines;
    /// directory; empty: none
    std::string textfile;
    bool operator==(const Settings&) const = default;

    [[nodiscard]] unsigned deadline(Step step) const {
        const auto found = deadlines.find(std::string(name_of(step)));
        return found == deadlines.end() ? default_deadline(step) : found->second;
    }
};

/// JSON text with a newline at the end, the same for the same value.
[[nodiscard]] std::string settings_json(const Settings& settings);

/// `base` with the members of a JSON text. Throws std::runtime_error naming the member for anything
/// unknown or of another type or out of range: deadlines are from 1 to 600 seconds.
[[nodiscard]] Settings read_settings(Settings base, std::string_view json);

}  // namespace edgegpu::gpu_health
