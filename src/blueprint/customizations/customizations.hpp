#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

/// Reads `[customizations]`, with image builder's keys, into the blueprint. Rejects keys that are
/// not implemented or not applicable to an edge commit. Throws ErrorKind::usage.
void read_customizations(const TableReader& table, Blueprint& blueprint);

// The tables of `[customizations]`, with image builder's keys. Each function reads one table into
// the blueprint; it notes mistakes, or throws ErrorKind::usage.

/// An element of `group`.
void read_group(const TableReader& table, Blueprint& blueprint);
/// An element of `user`.
void read_user(const TableReader& table, Blueprint& blueprint);
/// An element of `sshkey`; adds the user if the blueprint has none of that name.
void read_ssh_key(const TableReader& table, Blueprint& blueprint);
/// An element of `directories` or `files`.
void read_file_request(const TableReader& table, bool directory, Blueprint& blueprint);
/// `firewall`.
void read_firewall(const TableReader& table, Blueprint& blueprint);
/// `cacerts`. Every certificate must be that of a certificate authority.
void read_certificates(const TableReader& table, Blueprint& blueprint);
/// An array of such certificates in another table, e.g. `firstboot.scripts.cacerts`.
void read_certificate_list(const TableReader& table, std::string_view key, Blueprint& blueprint);
/// `firstboot`: scripts of the types "custom", "satellite" and "aap".
void read_firstboot(const TableReader& table, Blueprint& blueprint);
/// An element of `repositories`: those of the device, not of the build.
void read_device_repository(const TableReader& table, Blueprint& blueprint);
/// `dnf`.
void read_dnf(const TableReader& table, Blueprint& blueprint);
/// `rhsm`.
void read_subscription(const TableReader& table, Blueprint& blueprint);
/// `filesystem`, `disk` and `partitioning_mode`: least sizes and volumes of disk images. What these
/// do otherwise than image builder's (file system types, LVM, btrfs) is a warning.
void read_disk_customizations(const TableReader& table, Blueprint& blueprint);
/// `containers-storage`.
void read_container_store(const TableReader& table, Blueprint& blueprint);

}  // namespace edgegpu
