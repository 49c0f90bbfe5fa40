#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/accounts.hpp"
#include "blueprint/device.hpp"
#include "blueprint/files.hpp"
#include "blueprint/packages.hpp"
#include "blueprint/repository.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// `[ostree]`.
struct OstreeRequest {
    std::string ref;
    /// Ref or checksum of the parent; empty: the ref itself where it exists.
    std::string parent;
    /// Where devices pull from; written to a remote configuration in the image if set.
    std::string url;
    /// GPG key id to sign with, in `gpg_homedir`; empty: unsigned.
    std::string sign;
    std::filesystem::path gpg_homedir;
    /// Public key file put into the image for the remote to verify with; may be empty.
    std::filesystem::path gpg_public_key;
    /// Name of the remote in the image.
    std::string remote = "edge";
    SourceLocation location;
};

/// What a user asked for: a checked blueprint, paths absolute, variables replaced,
/// defaults filled in. Never changed after parsing. The input format is documented in
/// docs/blueprint.md; it is a superset of image builder's.
struct Blueprint {
    /// The file it came from, absolute.
    std::filesystem::path path;
    std::string name;
    std::string description;
    /// Version of the image; "0.0.0" by default.
    std::string version = "0.0.0";
    /// NAME-VERSION, "rhel-9.4" or "lab-12", however it was spelt; empty: none was named.
    std::string distro;
    /// RPM architecture, "x86_64".
    std::string architecture = "x86_64";
    std::string releasever;

    std::vector<Repository> repositories;
    PackageSet package_set;
    std::vector<PackageRequest> packages;
    std::vector<PackageRequest> groups;
    std::vector<ModuleRequest> modules;
    /// Package names or globs never to install.
    std::vector<std::string> excludes;
    /// Install Recommends/Supplements too.
    bool weak_dependencies = false;
    /// `customizations.kernel.name`, default "kernel".
    std::string kernel_name = "kernel";
    std::vector<std::string> kernel_arguments;
    /// `customizations.kernel.append`.
    SourceLocation kernel_location;

    std::optional<NvidiaRequest> nvidia;
    SelinuxRequest selinux;
    ModprobeRequest modprobe;
    std::vector<OverlayRequest> overlays;
    std::vector<BundleRequest> bundles;
    OstreeRequest ostree;

    std::string hostname;
    SourceLocation hostname_location;
    std::string timezone;
    SourceLocation timezone_location;
    std::vector<std::string> ntp_servers;
    std::vector<std::string> languages;
    std::string keyboard;
    /// `[customizations.locale]`.
    SourceLocation locale_location;
    std::vector<UserRequest> users;
    std::vector<GroupRequest> groups_to_add;
    std::vector<FileRequest> files;
    ServicesRequest services;
    SystemdRequest systemd;
    AccountsRequest accounts;
    /// Certificates (PEM) that the image trusts.
    std::vector<std::string> ca_certificates;
    SourceLocation ca_location;
    bool fips = false;
    SourceLocation fips_location;
    std::optional<FirewallRequest> firewall;
    std::vector<FirstbootScript> firstboot;
    std::vector<DeviceRepository> device_repositories;
    std::optional<SubscriptionRequest> subscription;
    /// `customizations.dnf.config.set_releasever`: the $releasever of the device's dnf, the version
    /// of `distro` ("9.4"); empty: what its packages say.
    std::string device_releasever;
    /// `customizations.containers-storage.destination-path`, an additional image store.
    std::string container_store;
    SourceLocation container_store_location;

    /// What was taken from the machine because neither blueprint nor command line says it, and
    /// what else the user should know, a line each.
    std::vector<std::string> notes;
    /// What is not as it should be, but taken all the same; each begins "FILE:LINE:COLUMN: ".
    std::vector<std::string> warnings;
};

}  // namespace edgegpu
