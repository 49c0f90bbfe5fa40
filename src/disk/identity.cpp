#include "disk/identity.hpp"

#include <charconv>

#include <fmt/format.h>

#include "support/files/digest.hpp"

namespace edgegpu {

DiskIdentity::DiskIdentity(std::string_view commit, const DiskRequest& request) {
    Sha256 digest;
    digest.update_field("edgegpu disk 1");
    digest.update_field(commit);
    digest.update_field(request.ref);
    digest.update_field(request.remote);
    digest.update_field(request.stateroot);
    digest.update_field(std::to_string(request.size));
    for (const std::uint64_t least :
         {request.least.disk, request.least.rootfs, request.least.boot, request.least.esp}) {
        digest.update_field(std::to_string(least));
    }
    digest.update_field(std::to_string(request.kernel_arguments.size()));
    for (const std::string& argument : request.kernel_arguments) {
        digest.update_field(argument);
    }
    for (const Injected& injected : request.injection) {
        digest.update_field(std::to_string(static_cast<int>(injected.type)));
        digest.update_field(injected.path);
        digest.update_field(injected.content);
        digest.update_field(fmt::format("{:o} {} {}", injected.mode, injected.uid, injected.gid));
    }
    for (const Volume& volume : request.volumes) {
        digest.update_field(fmt::format("volume {} {}", volume.size, volume.label));
        if (volume.use() == VolumeUse::group) {
            digest.update_field("group " + volume.group);
        }
        for (const VolumeMount& mount : volume.mounts) {
            digest.update_field(mount.point);
            digest.update_field(mount.directory);
        }
    }
    if (request.encryption != Encryption::none) {
        digest.update_field("encrypted");
    }
    base_ = digest.hex();
}

std::string DiskIdentity::digest(std::string_view purpose) const {
    Sha256 digest;
    digest.update_field(base_);
    digest.update_field(purpose);
    return digest.hex();
}

std::string DiskIdentity::uuid(std::string_view purpose) const {
    std::string hex = digest(purpose).substr(0, 32);
    // The version, 8, and the variant: 10 in the two highest bits.
    constexpr std::string_view variants = "89ab";
    hex[12] = '8';
    hex[16] = variants[static_cast<unsigned char>(hex[16]) % variants.size()];
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20));
}

std::uint32_t DiskIdentity::fat_volume_id(std::string_view purpose) const {
    const std::string hex = digest(purpose);
    std::uint32_t id = 0;
    std::from_chars(hex.data(), hex.data() + 8, id, 16);
    return id == 0 ? 1 : id;
}

std::string fat_volume_name(std::uint32_t id) {
    return fmt::format("{:04X}-{:04X}", id >> 16U, id & 0xffffU);
}

}  // namespace edgegpu
