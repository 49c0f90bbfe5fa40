#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "blueprint/gpu_settings.hpp"
#include "support/source_location.hpp"

/// Packages, kernel and driver of a blueprint.
namespace edgegpu {

/// A requested package: a DNF install spec, e.g. "podman", "microshift-4.12.*", "@core",
/// "/usr/bin/x".
struct PackageRequest {
    std::string spec;
    SourceLocation location;
    /// Further lines with the same spec.
    std::vector<SourceLocation> repeated = {};
};

/// A module stream to enable, and the profiles to install (may be empty).
struct ModuleRequest {
    std::string name;
    std::string stream;
    std::vector<std::string> profiles;
    SourceLocation location;
};

/// The packages that image builder adds to every edge commit of the distribution
/// (distro/edge_package_sets.toml).
struct PackageSet {
    /// "edge-commit", "iot-commit" (Fedora's), or empty, as is everything else then.
    std::string name;
    /// The distribution that the set belongs to, as Blueprint::distro.
    std::string distro;
    /// Names to install.
    std::vector<std::string> packages;
    /// Names never to install, unless the blueprint requests them by name.
    std::vector<std::string> excludes;
    /// Units to enable, unless the blueprint specifies their state.
    std::vector<std::string> services;
    /// Install weak dependencies of these packages (not of the blueprint's own).
    bool weak_dependencies = false;
    /// Location of the key that selects it: `[image] package_set` or `distro`.
    SourceLocation location;
};

/// `[customizations.kernel]`.
struct KernelRequest {
    /// Package of the kernel.
    std::string name = "kernel";
    /// Arguments of its command line.
    std::vector<std::string> arguments;
    /// Location of `append`.
    SourceLocation location;
};

/// `[nvidia.secure_boot]`: key and certificate for signing compiled kernel modules.
struct SecureBootRequest {
    /// Absolute path of the private key (PEM, RSA, without passphrase). Only the signing process
    /// reads it.
    std::filesystem::path key;
    /// Absolute path of its certificate (PEM or DER), which is added to the image for enrolment.
    std::filesystem::path certificate;
    SourceLocation location;
};

/// `[nvidia]`: driver, kernel modules, toolkit and devices.
struct NvidiaRequest {
    /// "535" (branch), "535.261.03" (version) or "latest".
    std::string driver;
    DriverModules modules = DriverModules::automatic;
    DriverFlavor flavor = DriverFlavor::automatic;
    KernelChoice kernel;
    /// Version glob of the container toolkit; empty: no toolkit.
    std::string toolkit;
    /// Profile of the driver module.
    std::string profile = "ks";
    /// PCI ids, lower case: "10de:20b7".
    std::vector<std::string> devices;
    /// Location of `devices`; of the table without it.
    SourceLocation devices_location;
    /// How many GPUs each device has, the most if devices differ; nothing: unknown.
    std::optional<unsigned> gpus;
    std::optional<SecureBootRequest> secure_boot;
    /// `[nvidia.mig]`: each PCI id once.
    std::vector<MigLayout> mig;
    std::optional<SharingRequest> sharing;
    std::optional<VgpuRequest> vgpu;
    /// Node that GPUs get of which the firmware says none; nothing: they stay without.
    std::optional<unsigned> numa_node;
    SourceLocation location;
};

}  // namespace edgegpu
