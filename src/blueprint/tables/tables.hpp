#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// Top-level `packages`, `modules`, `groups`, `enabled_modules`.
void read_package_sets(const TableReader& root, Blueprint& blueprint);

/// `[image]` except for `package_set`, which read_package_set takes. Notes mistakes.
void read_image_table(const TableReader& root, const ParseScope& scope, Blueprint& blueprint);

/// `[[containers]]`. Paths of sources are relative to the blueprint's directory.
void read_containers(const TableReader& root, const ParseScope& scope, Blueprint& blueprint);

/// A source of a container image. Its name is that of a registry's image, else empty. Throws
/// ErrorKind::usage for a transport that is not supported, and for a name that is none.
[[nodiscard]] ContainerRequest read_image_source(const LocatedString& source,
                                                 const ParseScope& scope);

/// edgegpu's own tables: `[ostree]`, `[parent]`, `[nvidia]`, `[selinux]`, `[modprobe]`,
/// `[systemd]`, `[[overlays]]`, `[microshift]`, `[accounts]`, `[updates]`, `[test]`,
/// `[openshift]`, `[health]`. Distro and architecture must have been read, for the default ref.
void read_own_tables(const TableReader& root, const ParseScope& scope, Blueprint& blueprint);

/// `[ostree]`. Notes mistakes.
void read_ostree_table(const TableReader& root, const ParseScope& scope, Blueprint& blueprint);

/// Of `[nvidia]`, what describes a machine with the GPUs: `devices`, `gpus`, and whether there are
/// `[nvidia.vgpu]` and `[nvidia.secure_boot]`. Notes mistakes in the first two.
[[nodiscard]] NvidiaRequest read_nvidia_cards(const TableReader& table);

/// A PCI id of NVIDIA, in lower case: "10DE:20B7" → "10de:20b7". Throws ErrorKind::usage for other
/// text.
[[nodiscard]] std::string read_nvidia_device(const LocatedString& text);

/// `[nvidia.mig]` and `[nvidia.sharing]` of `[nvidia]`, which has been read, and so has
/// `[microshift]`: the bundles of NVIDIA's device plugin and of the GPU operator get what follows
/// for them, as components, values and patches that the blueprint could name as well. Notes
/// mistakes.
void read_gpu_sharing(const TableReader& nvidia, Blueprint& blueprint);

/// `[nvidia.vgpu]`. Notes mistakes.
[[nodiscard]] VgpuRequest read_vgpu(const TableReader& table);

/// An element of `[[overlays]]`, with its rules. Throws ErrorKind::usage.
[[nodiscard]] OverlayRequest read_overlay(const TableReader& table, const ParseScope& scope);

/// An element of `[[allow_secrets]]`. Throws ErrorKind::usage.
[[nodiscard]] SecretAllowance read_secret_allowance(const TableReader& table);

/// `[systemd]`, including the files that units name as source. Throws ErrorKind::usage.
void read_systemd(const TableReader& table, const ParseScope& scope, SystemdRequest& systemd);

/// `[microshift]`: bundles are looked for as other files that edgegpu ships. Notes mistakes.
void read_microshift(const TableReader& table, const ParseScope& scope,
                     MicroshiftRequest& microshift);

/// `[microshift.config]` of `[microshift]`, whose keys are MicroShift's own: they are checked
/// later, against the schema of its version. Notes values that JSON does not have: dates, inf, nan.
[[nodiscard]] std::optional<MicroshiftConfig> read_microshift_config(const TableReader& microshift);

/// `[modprobe]`. Throws ErrorKind::usage.
void read_modprobe(const TableReader& table, ModprobeRequest& modprobe);

/// `[health.gpu]`. Notes mistakes, and what contradicts `[nvidia]`.
[[nodiscard]] GpuHealthRequest read_gpu_health(const TableReader& table,
                                               const std::optional<NvidiaRequest>& nvidia);

/// `[updates]`. Notes mistakes.
[[nodiscard]] UpdatesRequest read_updates(const TableReader& table);

/// `[openshift]`. Paths of machine sets are relative to the blueprint's directory. Notes mistakes.
[[nodiscard]] OpenshiftRequest read_openshift(const TableReader& table, const ParseScope& scope);

/// `[accounts]`: who can log in, numbers of users and groups of packages. Notes invalid names and
/// duplicate numbers as mistakes.
void read_accounts_table(const TableReader& table, AccountsRequest& accounts);

/// Kernel arguments in one string. Notes an unclosed quote, and arguments that each boot entry gets
/// from who writes it.
[[nodiscard]] std::vector<std::string> read_kernel_arguments(const TableReader& table,
                                                             std::string_view key);

/// The largest disk: that of ext4 with blocks of 4 KiB and without 64-bit numbers.
inline constexpr std::uint64_t largest_disk = 16ULL << 40U;

/// Bytes: a number, or a string that parse_size reads; 0 if the key is absent. Notes anything else.
[[nodiscard]] std::uint64_t read_size(const TableReader& table, std::string_view key);

/// Splits a kernel command line at spaces outside of double quotes. The quotes are kept, as the
/// kernel requires them. Throws at `location` for an unclosed quote.
[[nodiscard]] std::vector<std::string> split_kernel_arguments(const SourceLocation& location,
                                                              std::string_view line);

}  // namespace edgegpu
