#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/observe/observe.hpp"

namespace edgegpu::gpu_health {

/// A module, and what decides besides modprobe.d whether udev loads it.
struct WantedModule {
    std::string name;
    /// The kernel's directory of modules: "/usr/lib/modules/5.14.0-427.el9.x86_64".
    std::string directory;
    /// Names of all modules there, with '_' for '-'.
    std::set<std::string> known;
    /// `modalias` in sysfs of each device that it is for: what udev asks kmod for.
    std::vector<std::string> devices;
};

/// What keeps udev from loading a module: each "FILE: blacklist NAME", "FILE: install NAME
/// /bin/false", "FILE: alias pci:v000010DE* off", or the kernel's argument. As libkmod reads them
/// (its sources; tried with `modprobe -n -v -b` of kmod 30):
///
/// - files are sorted by their names, and one of /etc hides one of the same name in /run and
///   /usr/lib;
/// - the first `install` counts, and none if a `softdep` of the module names one that exists:
///   NVIDIA's own nvidia.conf has `softdep nvidia post: nvidia-uvm nvidia-drm`;
/// - an `alias` that matches a device takes the place of the aliases in modules. `alias nvidia off`
///   matches none: `modprobe nvidia` does nothing then, udev and `modprobe nvidia-uvm` load it;
/// - `modprobe.blacklist=` is a blacklist, `module_blacklist=` the kernel's own, of which the last
///   one counts. `rd.driver.blacklist=` is dracut's: it concerns the initramfs alone, unless dracut
///   writes it to /run/modprobe.d, where it is seen as a file.
[[nodiscard]] std::vector<std::string> what_blocks(const Places& places,
                                                   const WantedModule& module);

}  // namespace edgegpu::gpu_health
