#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/accounts.hpp"
#include "blueprint/containers.hpp"
#include "blueprint/device.hpp"
#include "blueprint/files.hpp"
#include "blueprint/gpu_settings.hpp"
#include "blueprint/image_settings.hpp"
#include "blueprint/microshift.hpp"
#include "blueprint/openshift.hpp"
#include "blueprint/packages.hpp"
#include "blueprint/repository.hpp"
#include "blueprint/test.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// `[ostree]`.
struct OstreeRequest {
    std::string ref;
    /// Ref or checksum of the parent; empty: the ref itself, if it exists.
    std::string parent;
    /// Where devices pull from; written to a remote configuration in the image if set.
    std::string url;
    /// GPG key id to sign with, in `gpg_homedir`; empty: unsigned.
    std::string sign;
    std::filesystem::path gpg_homedir;
    /// Public key file put into the image for the remote to verify with; may be empty.
    std::filesystem::path gpg_public_key;
    /// File with a secret ed25519 key to sign with; empty: none.
    std::filesystem::path sign_ed25519;
    /// Instead of that, a program that signs; empty: none.
    std::filesystem::path sign_command;
    /// File with public ed25519 keys, put into the image for the remote to verify with; may be
    /// empty.
    std::filesystem::path ed25519_public_key;
    /// Name of the remote in the image.
    std::string remote = "edge";
    SourceLocation location;
};

/// A parsed blueprint: paths absolute, variables expanded, defaults filled in. It is never
/// modified; `take_snapshot` and the search for a solution change copies. docs/blueprint.md
/// documents the format, a superset of image builder's.
struct Blueprint {
    /// The file it came from, absolute.
    std::filesystem::path path;
    std::string name;
    std::string description;
    /// Version of the image; "0.0.0" by default.
    std::string version = "0.0.0";
    /// Normalised NAME-VERSION, "rhel-9.4" or "lab-12"; empty: none is specified.
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
    /// Install weak dependencies (Recommends, Supplements).
    bool weak_dependencies = false;
    KernelRequest kernel;

    std::optional<NvidiaRequest> nvidia;
    SelinuxRequest selinux;
    ModprobeRequest modprobe;
    InitramfsCompression initramfs_compression = InitramfsCompression::automatic;
    std::vector<OverlayRequest> overlays;
    std::vector<SecretAllowance> allow_secrets;
    MicroshiftRequest microshift;
    OstreeRequest ostree;
    std::optional<ParentRequest> parent;
    ImageSettings image;
    /// Directories of the commit on which disk images have file systems: "/data". Those in /var,
    /// /run and /tmp are the device's.
    std::vector<std::string> mount_points;

    std::string hostname;
    SourceLocation hostname_location;
    TimezoneRequest timezone;
    LocaleRequest locale;
    std::vector<UserRequest> users;
    std::vector<GroupRequest> groups_to_add;
    std::vector<FileRequest> files;
    ServicesRequest services;
    SystemdRequest systemd;
    AccountsRequest accounts;
    /// Certificates (PEM) that the image trusts.
    std::vector<std::string> ca_certificates;
    SourceLocation ca_location;
    FipsRequest fips;
    std::optional<FirewallRequest> firewall;
    std::vector<FirstbootScript> firstboot;
    std::vector<DeviceRepository> device_repositories;
    std::optional<SubscriptionRequest> subscription;
    /// $releasever for dnf on the device (`customizations.dnf.config.set_releasever`): the version
    /// of `distro` ("9.4"); empty: the default of its packages.
    std::string device_releasever;
    std::optional<UpdatesRequest> updates;
    std::optional<GpuHealthRequest> gpu_health;
    /// `[[containers]]`, at most one for each source and for each name.
    std::vector<ContainerRequest> containers;
    /// `customizations.containers-storage.destination-path`, an additional image store; empty:
    /// none, or the default place if there are `containers`.
    std::string container_store;
    SourceLocation container_store_location;

    /// For `edgegpu test`: the commit does not depend on it.
    TestRequest test;
    /// Nodes of a cluster, which has their kernel arguments.
    std::optional<OpenshiftRequest> openshift;

    /// Notes for the user, one line each: for example, settings taken from the build machine
    /// because neither blueprint nor command line specifies them.
    std::vector<std::string> notes;
    /// Warnings about tolerated mistakes, each beginning "FILE:LINE:COLUMN: ".
    std::vector<std::string> warnings;
};

}  // namespace edgegpu
