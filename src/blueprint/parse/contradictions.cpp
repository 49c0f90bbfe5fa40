#include "blueprint/parse/contradictions.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/mig_layouts.hpp"
#include "gpu/mig.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Of a GPU without MIG, gpu-health asks no mode.
bool has_mig(std::string_view device) {
    std::uint16_t number = 0;
    const std::string_view digits = device.substr(device.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    const MigSupport support = mig_of(number);
    return !support.known || !support.profiles.empty();
}

/// The GPUs that a requirement is about and the image's entry for each, if it has one; "" stands
/// for whatever GPU there is.
std::vector<std::string> devices_with_mig(const Blueprint& blueprint) {
    std::vector<std::string> devices = blueprint.gpu_health->devices;
    if (devices.empty()) {
        devices = blueprint.nvidia->devices;
    }
    std::erase_if(devices, [](const std::string& device) { return !has_mig(device); });
    if (blueprint.nvidia->devices.empty() && devices.empty()) {
        devices.emplace_back();
    }
    return devices;
}

/// gpu-health looks at the mode at each boot, when edgegpu-mig.service has set it.
void check_mig_mode(const Blueprint& blueprint, Mistakes& mistakes,
                    std::vector<std::string>& warnings) {
    if (!blueprint.gpu_health || !blueprint.gpu_health->require.mig || !blueprint.nvidia) {
        return;
    }
    const bool on = *blueprint.gpu_health->require.mig;
    const SourceLocation& at = blueprint.gpu_health->location;
    for (const std::string& device : devices_with_mig(blueprint)) {
        const MigLayout* layout = layout_of(blueprint.nvidia->mig, device);
        const std::string gpu = device.empty() ? "GPUs" : device;
        if (layout == nullptr && on) {
            warnings.push_back(fmt::format(
                "{}: require.mig: nothing in the image switches MIG mode of {} on: on a device "
                "where nobody has, gpu-health finds fault with it at each boot. [nvidia.mig] "
                "switches it",
                at.text(), gpu));
        } else if (layout != nullptr && layout->profiles.empty() == on) {
            mistakes.add(
                error_at(at,
                         "require.mig = {}, but [nvidia.mig] switches MIG mode of {} {} ({}): "
                         "gpu-health would find fault with it at each boot",
                         on, gpu, on ? "off" : "on", layout->location.text())
                    .hinted("change one of the two, or leave out require.mig: gpu-health compares "
                            "the instances with [nvidia.mig] in any case"));
        }
    }
}

}  // namespace

void check_contradictions(const Blueprint& blueprint, Mistakes& mistakes,
                          std::vector<std::string>& warnings) {
    check_mig_mode(blueprint, mistakes, warnings);
}

}  // namespace edgegpu
