#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "disk/disk.hpp"
#include "installer/target_rule.hpp"

namespace edgegpu {

/// What the installer's program has to know of its medium.
struct InstallerSettings {
    /// as its user knows the commit: "lab/12/x86_64/edge 1.0.0"
    std::string title;
    std::string label;
    /// path of the disk image on the medium
    std::string disk_file;
    /// remote whose keys verify the commit; empty: it is not verified
    std::string remote;
    /// SHA-256 of the disk image
    std::string digest;
};

/// Path in the initramfs → content: /edgegpu/settings and /edgegpu/rule, as the program `install`
/// reads them. Values cannot end their quotes.
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
