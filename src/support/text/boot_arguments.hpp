#pragma once

#include <string_view>

namespace edgegpu {

/// Why nobody but the writer of a boot entry can set this kernel argument ("root=UUID=…", "ro"), to
/// follow "cannot be set: "; empty if anybody can. libostree leaves BOOT_IMAGE and initrd out when
/// it takes over a running kernel's arguments (ostree_kernel_args_append_proc_cmdline) and sets
/// ostree, and init where there is no initramfs; root, rw, rd.luks.name and rd.luks.options are
/// those of the disk that a device is installed to.
[[nodiscard]] std::string_view boot_argument_reason(std::string_view argument) noexcept;

}  // namespace edgegpu
