#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "installer/target_rule.hpp"

namespace edgegpu {

/// A piece of a disk, and where the medium has it: what lies between pieces is zero.
struct DiskPiece {
    /// both in bytes
    std::uint64_t position = 0;
    std::uint64_t size = 0;
    /// of the disk image on the medium
    std::uint64_t on_medium = 0;
    /// name of a volume's partition (`volume_label`), whose content stays if the disk has it
    /// already; empty: it is written in any case
    std::string volume;
};

/// The pieces of a disk, in their order, without the first and the last MiB, which the installer
/// writes last. On the medium they follow each other, behind that first MiB.
[[nodiscard]] std::vector<DiskPiece> disk_pieces(const Disk& disk);

/// What the installer's program has to know of its medium.
struct InstallerSettings {
    /// as its user knows the commit: "lab/12/x86_64/edge 1.0.0"
    std::string title;
    std::string label;
    /// path of the disk image on the medium
    std::string disk_file;
    /// remote whose keys verify the commit; empty: it is not verified
    std::string remote;
    /// SHA-256 of the disk image on the medium
    std::string digest;
    std::vector<Volume> volumes;
};

/// Path in the initramfs → content: /edgegpu/settings, /edgegpu/rule, /edgegpu/pieces and
/// /edgegpu/volumes, as the program `install` reads them. Values cannot end their quotes.
[[nodiscard]] std::map<std::string, std::string> installer_files(const InstallerSettings& settings,
                                                                 const Disk& disk,
                                                                 const TargetRule& rule);

/// A file of an initramfs.
struct InitramfsFile {
    std::string content;
    bool executable = false;
};

/// The files, with their directories, as a cpio archive (newc) that the kernel unpacks after the
/// initramfs that precedes it. Paths are relative; all times are 0.
[[nodiscard]] std::string make_cpio(const std::map<std::string, InitramfsFile>& files);

}  // namespace edgegpu
