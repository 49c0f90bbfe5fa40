#pragma once

#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Cached initramfs images, found by their inputs.
///
/// Which files dracut reads is unknown before it has run, and with a digest of the whole tree every
/// change would require a new initramfs. So there are two levels:
/// 1. `initramfs_key`: everything that dracut's *decisions* depend on. By content: the kernel and
///    its modules, dracut with its modules and configuration, modprobe.d, firmware, and the few
///    files of /etc that its modules act on. By *name*: programs, libraries, units and udev files,
///    because dracut's modules test whether they exist; only names that dracut's scripts mention
///    (mentioned_names.hpp).
/// 2. For each key any number of images, each with a list of its files: every path of the
///    initramfs that the tree has as well, with the digest of its content *in the tree* when the
///    initramfs was made.
/// An image is used if the key and all paths of its list are the same. dracut copies whole files,
/// and finds libraries by following the ELF dependencies of files that it copies, so a different
/// result requires a change in one of the two. Of account files only what dracut sees counts
/// (initramfs_accounts.hpp), and ld.so.cache is generated again in the initramfs.
class InitramfsCache {
public:
    /// Both references must outlive it; for `extra` see `initramfs_key`.
    InitramfsCache(const Context& ctx, const Tree& tree, std::string_view extra);

    /// The first level of the key.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// A cached initramfs for this tree, or nothing.
    [[nodiscard]] std::optional<Entry> find() const;
    /// Stores an initramfs that contains `paths`; returns it as a file entry of mode 0644.
    [[nodiscard]] Entry store(std::string_view image, const std::vector<std::string>& paths) const;

private:
    const Context& ctx_;
    const Tree& tree_;
    std::string key_;
};

/// The first level of the key, hexadecimal; `extra` is what else decides it (dracut's arguments).
[[nodiscard]] std::string initramfs_key(const Tree& tree, std::string_view extra);

/// Describes what the tree has at `path`, in one line without a newline: "-" for nothing,
/// "directory" for any directory.
[[nodiscard]] std::string describe_input(const Tree& tree, const std::string& path);

}  // namespace edgegpu
