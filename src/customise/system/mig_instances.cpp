#include "customise/system/mig_instances.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/mig_layouts.hpp"
#include "customise/units/vendor_unit.hpp"
#include "embedded_mig_instances.hpp"
#include "gpu/mig_layout.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr const char* nvidia_smi = "/usr/bin/nvidia-smi";

std::string layout_line(std::string_view device, const MigLayout& layout) {
    std::uint16_t number = 0;
    const std::string_view digits = device.substr(device.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    std::string line(device);
    if (const auto placed = place_mig(mig_of(number), layout.profiles)) {
        for (const MigPlacement& each : *placed) {
            line += fmt::format(" {}:{}", each.profile, each.start);
        }
    } else {
        for (const std::string& profile : layout.profiles) {
            line += " " + profile;
        }
    }
    return line + "\n";
}

}  // namespace

std::string mig_layout_text(const NvidiaRequest& nvidia) {
    std::string text;
    for (const MigLayout& layout : nvidia.mig) {
        if (!layout.device.empty()) {
            text += layout_line(layout.device, layout);
            continue;
        }
        for (const std::string& device : nvidia.devices) {
            text += layout_of(nvidia.mig, device) == &layout ? layout_line(device, layout) : "";
        }
        text += layout_line("all", layout);
    }
    return text;
}

void add_mig_instances(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree) {
    if (!nvidia || nvidia->mig.empty()) {
        return;
    }
    if (find_entry(tree, nvidia_smi) == nullptr) {
        throw error_at(nvidia->mig.front().location,
                       "devices make MIG instances by nvidia-smi, and the image does not have it")
            .hinted(
                "add the package of the driver that has /usr/bin/nvidia-smi, "
                "nvidia-driver-cuda, to packages");
    }
    put_entry(tree, "/usr/lib/edgegpu/mig", make_file_entry(ctx, mig_layout_text(*nvidia), 0644));
    put_entry(tree, "/usr/libexec/edgegpu/mig", make_file_entry(ctx, embedded::mig, 0755));
    add_vendor_unit(ctx, tree, "edgegpu-mig.service", "multi-user.target",
                    std::string(embedded::edgegpu_mig_service));
}

}  // namespace edgegpu
