#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_health/observe/cdi_text.hpp"
#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t largest_specification = std::size_t{16} << 20U;
/// As many as anybody reads.
constexpr std::size_t most_missing = 100;

/// Whether a path of the host is there; /dev, /sys and /proc may be other trees' than the root.
bool host_has(const Places& places, const std::string& path) {
    const std::string normal = std::filesystem::path(path).lexically_normal();
    const auto below = [&](std::string_view top, const std::filesystem::path& place) {
        return normal.starts_with(top) && is_there(place, normal.substr(top.size()));
    };
    return below("/dev/", places.dev) || below("/sys/", places.sys) ||
           below("/proc/", places.proc) || is_there(places.root, normal);
}

/// Driver versions in a path: "…/libcuda.so.580.159.04", "…/firmware/nvidia/580.159.04/x.bin".
/// Those of other libraries of the driver's packages begin with less than 100.
void add_versions(std::string_view path, std::set<std::string>& versions) {
    for (std::string_view part : split(path, '/')) {
        if (const std::size_t at = part.rfind(".so."); at != std::string_view::npos) {
            part = part.substr(at + 4);
        }
        const std::vector<std::string_view> numbers = split(part, '.');
        const auto is_number = [](std::string_view text) {
            return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
        };
        if ((numbers.size() == 2 || numbers.size() == 3) && numbers[0].size() >= 3 &&
            std::ranges::all_of(numbers, is_number)) {
            versions.emplace(part);
        }
    }
}

CdiSpec read_specification(const Places& places, const std::string& path, const Reading& reading) {
    CdiSpec spec;
    spec.path = path;
    try {
        if (!reading.good()) {
            throw std::runtime_error(reading.why());
        }
        const CdiText text = read_cdi(reading.content);
        spec.kind = text.kind;
        spec.devices = text.devices;
        std::set<std::string> versions;
        for (const std::string& one : text.paths) {
            add_versions(one, versions);
            if (spec.missing.size() < most_missing && !host_has(places, one)) {
                spec.missing.push_back(one);
            }
        }
        spec.versions.assign(versions.begin(), versions.end());
    } catch (const std::runtime_error& error) {
        spec.error = error.what();
    }
    return spec;
}

/// Specifications of other vendors' devices are no matter of ours.
bool is_nvidias(const CdiSpec& spec, const Reading& reading) {
    const std::string_view named = spec.error.empty() ? std::string_view(spec.kind) : spec.path;
    return named.find("nvidia") != std::string_view::npos ||
           (!spec.error.empty() && reading.content.find("nvidia.com") != std::string::npos);
}

}  // namespace

void observe_cdi(const Places& places, Facts& facts) {
    Cdi cdi;
    cdi.toolkit = is_there(places.root, "usr/bin/nvidia-ctk") ||
                  is_there(places.root, "usr/bin/nvidia-cdi-hook");
    std::set<std::filesystem::path> seen;
    for (const std::string top : {"/etc/cdi", "/run/cdi", "/var/run/cdi"}) {
        // /var/run is a link to /run.
        if (!seen.insert(resolve(places.root, top)).second) {
            continue;
        }
        for (const std::string& name : names_in(places.root, top)) {
            if (!name.ends_with(".yaml") && !name.ends_with(".yml") && !name.ends_with(".json")) {
                continue;
            }
            const std::string path = top + "/" + name;
            const Reading reading = read_file(places.root, path, largest_specification);
            CdiSpec spec = read_specification(places, path, reading);
            if (is_nvidias(spec, reading)) {
                cdi.specs.push_back(std::move(spec));
            }
        }
    }
    for (const std::string top :
         {"/etc/containers/oci/hooks.d", "/usr/share/containers/oci/hooks.d"}) {
        for (const std::string& name : names_in(places.root, top)) {
            if (name.ends_with(".json") && name.find("nvidia") != std::string::npos) {
                cdi.hooks.push_back(top + "/" + name);
            }
        }
    }
    facts.cdi = cdi;
}

}  // namespace edgegpu::gpu_health
