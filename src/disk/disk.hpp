#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "blueprint/image_settings.hpp"
#include "disk/injection.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// How a machine's firmware starts a disk.
enum class Firmware { uefi, bios };

/// DiskRequest::size for a disk that has nothing to spare, because its file systems grow when it is
/// first started.
inline constexpr std::uint64_t smallest_size = std::numeric_limits<std::uint64_t>::max();

/// How the root partition is encrypted, if it is.
enum class Encryption {
    none,
    /// LUKS2, without protection at first: at its first boot the device replaces the key, gives the
    /// new one to its TPM, and removes the passphrase, which is empty
    tpm2
};

/// What a disk is to be like.
struct DiskRequest {
    /// the ref that devices follow, without remote; empty: the commit is followed by nothing
    std::string ref;
    /// name of the remote that the device upgrades from; empty: the one that the image configures
    /// in /etc/ostree/remotes.d, if it is the only one
    std::string remote;
    /// empty: ID of the image's os-release
    std::string stateroot;
    /// bytes of the whole disk; 0: what the image needs, and room for one more like it; or
    /// `smallest_size`
    std::uint64_t size = 0;
    DiskSizes least;
    /// behind /boot, in this order
    std::vector<Volume> volumes;
    /// after those of the commit
    std::vector<std::string> kernel_arguments;
    /// what belongs to this machine alone
    Injection injection;
    Encryption encryption = Encryption::none;
};

/// A partition of a disk.
struct Partition {
    /// "bios", "esp", "boot", the name of a volume, "root"
    std::string name;
    /// both in bytes
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    /// Bytes at its beginning that are more than zeros: of a volume on a disk of `smallest_size`,
    /// whose file system grows into the partition at the first boot, fewer than `size`.
    std::uint64_t content = 0;
    /// of the partition, 8-4-4-4-12 digits
    std::string uuid;
    /// of its file system or swap: a UUID, "XXXX-XXXX" for FAT, empty without one
    std::string file_system_uuid;
    /// of the LUKS header in front of the file system; empty: it is not encrypted
    std::string luks_uuid;
    /// of a volume
    VolumeUse use = VolumeUse::file_system;
};

/// A disk that has been written.
struct Disk {
    std::uint64_t size = 0;
    std::vector<Partition> partitions;
    std::string commit;
    std::string stateroot;
    /// "REMOTE:REF" or "REF"; empty: none
    std::string refspec;
    /// as the boot entry has them
    std::vector<std::string> kernel_arguments;
    /// what can start it, according to what the image brings
    std::vector<Firmware> firmware;
};

/// Writes a raw disk image with `commit` deployed on it: GPT; a BIOS boot partition and an EFI
/// system partition as far as the image has the boot loaders; /boot; the volumes; root. `path` is a
/// new file without a final name: the caller renames or removes it. Nothing is mounted, and no
/// privileges are needed. The same commit and request give the same bytes, unless it is encrypted.
/// Throws Error, for example for a commit without kernel or boot loader, for a disk too small, for
/// objects that do not have their checksum.
[[nodiscard]] Disk write_disk(const Context& ctx, const RepositoryView& repository,
                              const CommitView& commit, const DiskRequest& request,
                              const std::filesystem::path& path);

}  // namespace edgegpu
