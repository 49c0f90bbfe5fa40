#pragma once

#include <optional>
#include <string>
#include <vector>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Finished initramfs images in the store, found by what goes into them.
///
/// What dracut will read cannot be known before it ran, and a digest of the whole tree would
/// rebuild the image for every change anywhere. So there are two levels:
/// 1. `initramfs_key`: everything dracut *decides* from. The kernel and its modules,
///    dracut with its modules and configuration, modprobe.d, firmware and the few files of /etc
///    that its modules act on, by content; and the *names* of programs, libraries, units and udev
///    files, because dracut's modules ask whether those exist, not what they hold: of those names
///    the ones that dracut's scripts speak of (mentioned_names.hpp).
/// 2. for each key any number of images, each with a list of what went in: every
///    path of the image that the tree has as well, with the digest of its content *in the tree*
///    when the image was made.
/// An image is used if, for the same key, all paths of its list are still the same. Since
/// dracut copies files whole and finds libraries by following the ELF dependencies of files
/// it copies, another result needs a change in one of the two. Exceptions, known and handled:
/// dracut sees the accounts of packages only (initramfs_accounts.hpp), so only those count;
/// ld.so.cache and what depmod writes are generated again inside the image.
class InitramfsCache {
public:
    InitramfsCache(const Context& ctx, const Tree& tree, std::string_view extra);

    /// What decides the image: the first level.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// A cached image that fits the tree, or nothing.
    [[nodiscard]] std::optional<Entry> find() const;
    /// Keeps an image's content, which holds `paths`, for later builds; returns it as a file of
    /// mode 0644.
    [[nodiscard]] Entry store(std::string_view image, const std::vector<std::string>& paths) const;

private:
    const Context& ctx_;
    const Tree& tree_;
    std::string key_;
};

/// The first level of the key; `extra` is whatever else decides the image (dracut's arguments).
[[nodiscard]] std::string initramfs_key(const Tree& tree, std::string_view extra);

/// What the tree has at `path`, in one line without a newline; "-" for nothing. Directories are all
/// the same.
[[nodiscard]] std::string describe_input(const Tree& tree, const std::string& path);

}  // namespace edgegpu
