#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"

namespace edgegpu {

/// What depmod and dracut need of an image.
///
/// dracut's modules decide by what the image has: they look for programs, libraries, units and udev
/// files by name, and copy what they find, with the libraries and interpreters that it needs. So
/// the root has what dracut and depmod run; the packages of programs that dracut's scripts mention
/// (mentioned_names.hpp), and single files that they mention, in whatever directory; configuration,
/// firmware, the kernel's modules, files of udev and of the console. Account files have what dracut
/// may see (initramfs_accounts.hpp). The indexes of depmod are not there.
[[nodiscard]] ToolNeeds boot_tools(const Context& ctx, const Tree& tree);

}  // namespace edgegpu
