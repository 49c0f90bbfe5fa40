#include <sys/stat.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"

namespace edgegpu::gpu_health {

namespace {

/// A file, or one that the kernel unpacks to it (CONFIG_FW_LOADER_COMPRESS).
FirmwareFile firmware_file(const Places& places, const std::string& path) {
    FirmwareFile file;
    file.path = path;
    for (const char* suffix : {"", ".zst", ".xz"}) {
        struct stat status {};
        if (find_status(places.root, path + suffix, status) && S_ISREG(status.st_mode)) {
            file.exists = true;
            file.size = static_cast<std::uint64_t>(status.st_size);
            break;
        }
    }
    return file;
}

/// Where the kernel looks (drivers/base/firmware_loader, fw_path), most important first.
std::vector<std::string> firmware_directories(const Places& places, const std::string& kernel) {
    const std::string lib = "/usr/lib/firmware";
    std::vector<std::string> directories{lib + "/updates/" + kernel, lib + "/updates",
                                         lib + "/" + kernel, lib};
    const std::string first = read_line(places.sys, "module/firmware_class/parameters/path");
    if (first.starts_with('/')) {
        directories.insert(directories.begin(), first);
    }
    return directories;
}

}  // namespace

void observe_firmware(const Places& places, Facts& facts) {
    facts.firmware.clear();
    std::set<std::string> seen;
    const auto add = [&](const std::string& path) {
        if (seen.insert(path).second) {
            facts.firmware.push_back(firmware_file(places, path));
        }
    };
    std::set<std::string> versions{facts.driver.version, facts.module.version};
    if (facts.stack) {
        for (const std::string& path : facts.stack->firmware) {
            add(path);
        }
        versions.insert(facts.stack->driver);
    }
    for (const std::string& directory : firmware_directories(places, facts.kernel)) {
        for (const std::string& version : versions) {
            // Versions come from files: no way out of the directory.
            if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos ||
                version.starts_with('.')) {
                continue;
            }
            const std::string place = directory + "/nvidia/" + version;
            for (const std::string& name : names_in(places.root, place)) {
                add(place + "/" + name);
            }
        }
    }
}

}  // namespace edgegpu::gpu_health
