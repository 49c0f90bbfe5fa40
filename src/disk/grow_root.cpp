#include "disk/grow_root.hpp"

#include <string>
#include <utility>

#include "embedded_grow_root.hpp"

namespace edgegpu {

Injection grow_root_files() {
    const std::string name = "edgegpu-grow-root.service";
    const std::string unit = "/etc/systemd/system/" + name;
    const auto file = [](std::string path, std::string_view content, unsigned mode) {
        Injected injected;
        injected.path = std::move(path);
        injected.content = content;
        injected.mode = mode;
        return injected;
    };
    Injected wanted;
    wanted.type = Injected::Type::symlink;
    wanted.path = "/etc/systemd/system/multi-user.target.wants/" + name;
    wanted.content = unit;
    return {file("/etc/edgegpu/grow-root", embedded::grow_root, 0755),
            file(unit, embedded::edgegpu_grow_root_service, 0644), wanted,
            // systemd may apply all presets at the first boot, and the usual one disables the rest.
            file("/etc/systemd/system-preset/80-edgegpu-grow-root.preset", "enable " + name + "\n",
                 0644)};
}

}  // namespace edgegpu
