#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "blueprint/stored_source.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// How files of a repository are transferred, with dnf's names and meanings (dnf.conf(5)).
struct TransferSettings {
    /// HTTP authentication with the repository's server; empty: none, or what netrc says.
    std::string username;
    std::string password;
    /// URL; empty: what the environment says (http_proxy, https_proxy, no_proxy); "_none_": none.
    std::string proxy;
    std::string proxy_username;
    std::string proxy_password;
    ProxyAuthentication proxy_auth_method = ProxyAuthentication::any;
    bool proxy_sslverify = true;
    std::string proxy_sslcacert;
    std::string proxy_sslclientcert;
    std::string proxy_sslclientkey;
    std::string user_agent;
    /// Further attempts after one that failed in a way that may pass; 0 is none.
    int retries = 10;
    /// Seconds without enough bytes after which a transfer has failed.
    int timeout = 30;
    /// Bytes a second that are enough.
    int minrate = 1000;
};

/// A package repository, with dnf's names and meanings (dnf.conf(5)).
struct Repository {
    std::string id;
    std::string name;
    /// Exactly as given; `$releasever` and `$basearch` are already replaced here and in all URLs.
    std::vector<std::string> baseurls;
    std::string metalink;
    std::string mirrorlist;
    /// URLs or absolute paths of public keys.
    std::vector<std::string> gpgkeys;
    /// Package signatures are checked. On unless the blueprint says otherwise.
    bool gpgcheck = true;
    /// The signature of repomd.xml is checked. On unless the blueprint says otherwise.
    bool repo_gpgcheck = true;
    bool enabled = true;
    bool sslverify = true;
    std::string sslcacert;
    std::string sslclientcert;
    std::string sslclientkey;
    /// Lower wins, as in dnf; 99 by default.
    int priority = 99;
    int cost = 1000;
    std::vector<std::string> excludepkgs;
    std::vector<std::string> includepkgs;
    bool module_hotfixes = false;
    /// SHA-1 checksums of metadata and packages are taken. Off unless the blueprint says otherwise.
    bool allow_sha1 = false;
    TransferSettings transfer;
    SourceLocation location;
};

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

/// A user of `[[customizations.user]]`; keys as in image builder.
struct UserRequest {
    std::string name;
    std::string description;
    /// A crypt(3) hash; plain text is refused by `parse_blueprint` (its hash would not be
    /// reproducible).
    std::optional<std::string> password;
    std::string key;
    std::string home;
    std::string shell;
    std::vector<std::string> groups;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    /// Days since 1970-01-01 after which the account is of no use, as in shadow(5).
    std::optional<std::uint32_t> expire_date;
    /// The password must be changed at the first log-in.
    bool force_password_reset = false;
    SourceLocation location;
};

/// A group of `[[customizations.group]]`.
struct GroupRequest {
    std::string name;
    std::optional<std::uint32_t> gid;
    SourceLocation location;
};

/// A file or directory of `[[customizations.files]]` / `directories`.
struct FileRequest {
    std::string path;
    std::string user = "root";
    std::string group = "root";
    /// Permission bits; unset: 0644 for files, 0755 for directories.
    std::optional<unsigned> mode;
    std::string data;
    /// File of the builder (`uri = "file://…"`), absolute, whose content it gets instead of `data`.
    std::filesystem::path source;
    /// The content of `source` as the build took it (pipeline/snapshot.hpp).
    std::optional<StoredFile> stored;
    bool directory = false;
    bool ensure_parents = false;
    SourceLocation location;
};

/// `[[overlays.rules]]`: what the objects of an overlay get whose path in the image matches.
struct OverlayRule {
    /// fnmatch(3) pattern of absolute paths in the image; '*' stops at '/', "**" does not.
    std::string path;
    /// Names in the image; unset: the overlay's own.
    std::optional<std::string> user;
    std::optional<std::string> group;
    /// Permission bits; unset: 0755 for directories and programs, 0644 for other files.
    std::optional<unsigned> mode;
    /// SELinux type ("bin_t") or whole context, which a local file context keeps on the device;
    /// empty: what the policy says.
    std::string label;
    SourceLocation location;
};

/// `[[overlays]]`: a directory or an archive put over the tree.
struct OverlayRequest {
    /// A directory or a tar archive (plain, gzip, xz, zstd, bzip2), absolute, resolved against the
    /// blueprint's directory.
    std::filesystem::path source;
    /// What lay there as the build took it (pipeline/snapshot.hpp); null before.
    std::shared_ptr<const StoredSource> stored;
    /// Directory of the image that its top becomes.
    std::string target = "/";
    /// Leading parts of every path to drop, as tar's --strip-components.
    unsigned strip_components = 0;
    /// Owner of everything in it, names in the image.
    std::string user = "root";
    std::string group = "root";
    /// Files of packages may be replaced.
    bool replace = false;
    /// The last rule that fits wins, key by key.
    std::vector<OverlayRule> rules;
    SourceLocation location;
};

/// A rule of `[selinux] require` or `forbid`: "allow S T:C { perms };".
struct PolicyRuleRequest {
    std::string text;
    SourceLocation location;
};

/// `[selinux]`.
struct SelinuxRequest {
    /// Absolute paths of `.te`, `.cil`, `.pp` or `.pp.bz2` files.
    std::vector<std::filesystem::path> modules;
    std::map<std::string, bool> booleans;
    /// Rules that the finished policy must have, and must not have.
    std::vector<PolicyRuleRequest> require;
    std::vector<PolicyRuleRequest> forbid;
    /// Ordinary containers (container_t) may use the GPU: boolean and module are chosen from what
    /// the image's policy contains.
    bool gpu_containers = false;
    /// The module that gpu_containers may need, as the build took it; empty before.
    std::filesystem::path map_module;
    SourceLocation location;
};

/// Modules that modprobe loads before and after another (`softdep` of modprobe.d(5)).
struct SoftDependency {
    std::vector<std::string> pre;
    std::vector<std::string> post;
};

/// `[modprobe]`.
struct ModprobeRequest {
    std::vector<std::string> blacklist;
    /// module → options
    std::map<std::string, std::string> options;
    /// module → what it is loaded with
    std::map<std::string, SoftDependency> softdeps;
    SourceLocation location;
};

/// `[[systemd.units]]`: a unit of the blueprint's own, drop-ins for one, or its state.
struct UnitRequest {
    /// Full name, "gpu-warmup.service".
    std::string name;
    /// Text of the unit file; nothing where the image has the unit already.
    std::optional<std::string> contents;
    /// File name ("10-limits.conf") → text.
    std::map<std::string, std::string> drop_ins;
    UnitState state = UnitState::preset;
    SourceLocation location;
};

/// `[systemd]`.
struct SystemdRequest {
    std::vector<UnitRequest> units;
    /// The image's presets decide about every unit, as `systemctl preset-all` does.
    bool preset_all = false;
    SourceLocation location;
};

/// `[accounts]`: numbers that system users and groups of packages get, whatever the order in
/// which packages are installed.
struct AccountsRequest {
    std::map<std::string, std::uint32_t> uids;
    std::map<std::string, std::uint32_t> gids;
    SourceLocation location;
};

/// `[customizations.firewall]`, for firewalld.
struct FirewallRequest {
    /// "22:tcp", "8000-8010:udp", of the default zone
    std::vector<std::string> ports;
    std::vector<std::string> enabled_services;
    std::vector<std::string> disabled_services;
    /// zone → sources (addresses with or without prefix)
    std::map<std::string, std::vector<std::string>> zones;
    SourceLocation location;
};

/// `[[customizations.firstboot.scripts]]`: runs once, when the device boots for the first time.
struct FirstbootScript {
    std::string name;
    /// Begins with "#!".
    std::string contents;
    /// Units that it runs after, and before.
    std::vector<std::string> after;
    std::vector<std::string> before;
    /// The next script runs, and the unit succeeds, even if this one fails.
    bool ignore_failure = false;
    SourceLocation location;
};

/// `[[customizations.repositories]]`: a repository that the device knows (not the build).
struct DeviceRepository {
    Repository repository;
    /// File below /etc/yum.repos.d, "x.repo".
    std::string filename;
    /// Keys given as text go into files of /etc/pki/rpm-gpg.
    std::vector<std::string> inline_keys;
};

/// `[customizations.rhsm.config]`; unset: as the packages have it.
struct SubscriptionRequest {
    std::optional<bool> product_id_plugin;
    std::optional<bool> subscription_manager_plugin;
    std::optional<bool> manage_repos;
    std::optional<bool> auto_enable_yum_plugins;
    std::optional<bool> auto_registration;
    SourceLocation location;
};

/// `[[microshift.bundles]]`: a kustomize bundle, absolute directory and its name.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
    /// What lay there as the build took it; null before.
    std::shared_ptr<const StoredSource> stored = nullptr;
};

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

/// `[customizations.services]`.
struct ServicesRequest {
    std::vector<std::string> enabled;
    std::vector<std::string> disabled;
    std::vector<std::string> masked;
    /// Where the blueprint names each of them.
    std::map<std::string, SourceLocation> locations;
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
