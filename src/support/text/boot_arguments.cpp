#include "support/text/boot_arguments.hpp"

#include <array>
#include <utility>

namespace edgegpu {

std::string_view boot_argument_reason(std::string_view argument) noexcept {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> owned{{
        {"ostree", "ostree sets it, to the deployment that an entry boots"},
        {"BOOT_IMAGE", "the boot loader sets it, to the kernel that it starts"},
        {"initrd", "the boot entry has it, for its own initramfs"},
        {"root",
         "each device's boot entry has it, for the file system that the device was installed to"},
        {"init", "the boot entry of an image without initramfs has it, and systemd is /sbin/init"},
        {"rd.luks.name", "the boot entry of a disk with encryption has it, for its root partition"},
        {"rd.luks.options",
         "the boot entry of a disk with encryption has it, for its root partition"},
        {"--", "the kernel gives all that follows to init, also what others add"},
        // ostree-remount leaves everything read-only if / is (src/switchroot/ostree-remount.c).
        {"ro", "boot entries have rw: with ro, /etc and /var would stay read-only"},
    }};
    for (const auto& [name, reason] : owned) {
        if (argument.substr(0, argument.find('=')) == name) {
            return reason;
        }
    }
    return {};
}

}  // namespace edgegpu
