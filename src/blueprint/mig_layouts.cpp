#include "blueprint/mig_layouts.hpp"

#include <algorithm>
#include <utility>

namespace edgegpu {

const MigLayout* layout_of(const std::vector<MigLayout>& layouts, std::string_view device) {
    const MigLayout* of_all = nullptr;
    for (const MigLayout& layout : layouts) {
        if (layout.device == device) {
            return &layout;
        }
        of_all = layout.device.empty() ? &layout : of_all;
    }
    return of_all;
}

std::string mig_resource(std::string_view profile) {
    std::string name = "nvidia.com/mig-" + std::string(profile);
    std::ranges::replace(name, '+', '.');
    return name;
}

bool MigOffer::has(std::string_view resource) const {
    return std::ranges::find(resources, resource) != resources.end();
}

MigOffer mig_offer(const std::vector<MigLayout>& layouts, const std::vector<std::string>& devices) {
    std::vector<const MigLayout*> used;
    used.reserve(devices.size());
    for (const std::string& device : devices) {
        used.push_back(layout_of(layouts, device));
    }
    if (devices.empty()) {
        for (const MigLayout& layout : layouts) {
            used.push_back(&layout);
        }
        // GPUs that have no entry of their own.
        used.push_back(layout_of(layouts, ""));
    }
    MigOffer offer;
    for (const MigLayout* layout : used) {
        if (layout == nullptr || layout->profiles.empty()) {
            offer.whole = true;
            continue;
        }
        offer.divided = true;
        offer.instances = std::max(offer.instances, static_cast<unsigned>(layout->profiles.size()));
        for (const std::string& profile : layout->profiles) {
            if (std::string resource = mig_resource(profile); !offer.has(resource)) {
                offer.resources.push_back(std::move(resource));
            }
        }
    }
    return offer;
}

unsigned most_instances(const std::vector<MigLayout>& layouts, std::string_view resource) {
    unsigned most = 0;
    for (const MigLayout& layout : layouts) {
        const auto count = std::ranges::count_if(layout.profiles, [&](const std::string& profile) {
            return mig_resource(profile) == resource;
        });
        most = std::max(most, static_cast<unsigned>(count));
    }
    return most;
}

}  // namespace edgegpu
