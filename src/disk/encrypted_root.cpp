#include "disk/encrypted_root.hpp"

#include <string_view>
#include <utility>

#include "embedded_encrypted_root.hpp"

namespace edgegpu {

Injection encrypt_root_files() {
    const std::string name = "edgegpu-encrypt-root.service";
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
    return {file("/etc/edgegpu/encrypt-root", embedded::encrypt_root, 0755),
            file("/etc/edgegpu/empty-passphrase", "", 0600),
            file(unit, embedded::edgegpu_encrypt_root_service, 0644), wanted,
            // systemd may apply all presets at the first boot, and the usual one disables the rest.
            file("/etc/systemd/system-preset/80-edgegpu-encrypt-root.preset",
                 "enable " + name + "\n", 0644)};
}

std::vector<std::string> luks_arguments(const std::string& uuid) {
    return {"rd.luks.name=" + uuid + "=root",
            "rd.luks.options=" + uuid + "=tpm2-device=auto,try-empty-password=yes"};
}

}  // namespace edgegpu
