#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "support/source_location.hpp"

/// What a blueprint says of packages, kernel and driver.
namespace edgegpu {

/// A requested package: a DNF install spec, e.g. "podman", "microshift-4.12.*", "@core",
/// "/usr/bin/x".
struct PackageRequest {
    std::string spec;
    SourceLocation location;
};

/// A module stream to enable, and the profiles to install (may be empty).
struct ModuleRequest {
    std::string name;
    std::string stream;
    std::vector<std::string> profiles;
    SourceLocation location;
};

/// What an image gets without being asked for: the set that image builder adds to every edge
/// commit of the distribution (src/blueprint/edge_package_sets.toml).
struct PackageSet {
    /// "edge-commit", "iot-commit" (Fedora's); empty: none, and then all the rest is empty.
    std::string name;
    /// Names to install.
    std::vector<std::string> packages;
    /// Names never to install, unless the blueprint itself asks for them.
    std::vector<std::string> excludes;
    /// Units to enable, unless the blueprint says otherwise of them.
    std::vector<std::string> services;
    /// What these packages (not the blueprint's) recommend is installed too.
    bool weak_dependencies = false;
    /// What chose it: `[image] package_set`, or the distribution.
    SourceLocation location;
};

/// `[nvidia.secure_boot]`: what kernel modules are signed with that are compiled here.
struct SecureBootRequest {
    /// Private key (PEM, RSA, without passphrase), absolute. Only ever read by edgegpu itself.
    std::filesystem::path key;
    /// Its certificate (PEM or DER), absolute; it goes into the image for enrolment.
    std::filesystem::path certificate;
    SourceLocation location;
};

/// `[nvidia]`: driver branch, toolkit and how kernel modules are had.
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
    std::optional<SecureBootRequest> secure_boot;
    SourceLocation location;
};

}  // namespace edgegpu
