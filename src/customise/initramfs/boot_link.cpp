#include "customise/initramfs/boot_link.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "embedded_boot_link.hpp"

namespace edgegpu {

void add_boot_link(const Context& ctx, Tree& tree) {
    if (find_entry(tree, "/usr/bin/dracut") == nullptr &&
        find_entry(tree, "/usr/sbin/dracut") == nullptr) {
        return;
    }
    const auto put = [&](const char* name, std::string_view text, std::uint32_t mode) {
        put_entry(tree, std::string(boot_link_module) + "/" + name,
                  make_file_entry(ctx, std::string(text), mode));
    };
    put("boot-link", embedded::boot_link, 0755);
    put("module-setup.sh", embedded::module_setup_sh, 0755);
    put("edgegpu-boot-link.service", embedded::edgegpu_boot_link_service, 0644);
}

}  // namespace edgegpu
