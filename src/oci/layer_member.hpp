#pragma once

#include <string>
#include <string_view>

#include "image/entries.hpp"
#include "support/error.hpp"
#include "support/files/tar_reader.hpp"

namespace edgegpu {

/// A layer of a container image, and what may be in it: names, links and numbers of its tar archive
/// are those of somebody else. The functions throw ErrorKind::fetch naming image, layer and member.
struct ImageLayer {
    /// what messages call the image
    std::string image;
    /// SHA-256 of the layer's blob
    std::string digest;

    /// The Error for a member that no image can have.
    [[nodiscard]] Error refused(std::string_view member, std::string_view reason) const;

    /// "/etc/x" for "./etc/x", "etc/x" and "/a/../etc/x": engines clean names before they use them.
    [[nodiscard]] std::string place_of(std::string_view name) const;

    /// The entry of a symbolic link.
    [[nodiscard]] Entry link_of(const TarMember& member) const;

    /// `entry` with the owner, and for files the capabilities, of `member`.
    [[nodiscard]] Entry with_owner(Entry entry, const TarMember& member) const;
};

}  // namespace edgegpu
