#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "disk/disk.hpp"

namespace edgegpu {

/// Everything of a disk that is a random number elsewhere, derived from the commit and from what
/// was asked for: the same disk has the same numbers wherever and whenever it is made, and two
/// different disks in one machine do not.
class DiskIdentity {
public:
    /// `commit` is its checksum.
    DiskIdentity(std::string_view commit, const DiskRequest& request);

    /// A UUID (RFC 9562, version 8; 8-4-4-4-12 digits, lower case) for `purpose`: "disk",
    /// "partition root", "file system root", "hash seed root". Each purpose has another one.
    [[nodiscard]] std::string uuid(std::string_view purpose) const;
    /// The 32-bit number of a FAT file system for `purpose`, never 0.
    [[nodiscard]] std::uint32_t fat_volume_id(std::string_view purpose) const;

private:
    [[nodiscard]] std::string digest(std::string_view purpose) const;

    std::string base_;
};

/// "XXXX-XXXX", as /dev/disk/by-uuid and /etc/fstab name a FAT file system.
[[nodiscard]] std::string fat_volume_name(std::uint32_t id);

}  // namespace edgegpu
