#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// `[customizations]`, with image builder's keys: fills the blueprint, refuses what is not
/// implemented or not for an edge commit. Throws ErrorKind::usage.
void read_customizations(const TableReader& table, Blueprint& blueprint);

/// `packages`, `modules`, `groups`, `enabled_modules`, `containers` of the top level.
void read_package_sets(const TableReader& root, Blueprint& blueprint);

/// edgegpu's own tables: `[ostree]`, `[nvidia]`, `[selinux]`, `[modprobe]`, `[systemd]`,
/// `[[overlays]]`, `[microshift]`, `[health]`. The default ref needs distro and architecture,
/// already read.
void read_own_tables(const TableReader& root, const ParseScope& scope, Blueprint& blueprint);

/// One of `[[overlays]]`, with its rules. Throws ErrorKind::usage.
[[nodiscard]] OverlayRequest read_overlay(const TableReader& table, const ParseScope& scope);

/// `[systemd]`; files that units name are read. Throws ErrorKind::usage.
void read_systemd(const TableReader& table, const ParseScope& scope, SystemdRequest& systemd);

/// `[modprobe]`. Throws ErrorKind::usage.
void read_modprobe(const TableReader& table, ModprobeRequest& modprobe);

/// `[accounts]`: numbers of users and groups of packages. Throws for a name that cannot be one, and
/// for a number that two of them have.
void read_accounts_table(const TableReader& table, AccountsRequest& accounts);

/// A kernel command line taken apart at white space outside of double quotes, which stay as
/// the kernel wants them. Throws at `location` for an unclosed quote.
[[nodiscard]] std::vector<std::string> split_kernel_arguments(const SourceLocation& location,
                                                              std::string_view line);

}  // namespace edgegpu
