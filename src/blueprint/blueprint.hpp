#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace edgegpu {

/// A place in a file, 1-based; line 0 means "none".
struct SourceLocation {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    /// "file:line:column", or "file" where line is 0.
    [[nodiscard]] std::string text() const;
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
    /// "auto", "precompiled" or "dkms".
    std::string modules = "auto";
    /// "auto", "open" or "proprietary".
    std::string flavor = "auto";
    /// "newest-supported", "newest" or a NEVRA glob of the kernel package.
    std::string kernel = "newest-supported";
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
    bool directory = false;
    bool ensure_parents = false;
    SourceLocation location;
};

/// `[[overlays]]`: a directory copied over the tree.
struct OverlayRequest {
    /// Absolute, resolved against the blueprint's directory.
    std::filesystem::path source;
    /// Owner of everything in it, names in the image.
    std::string user = "root";
    std::string group = "root";
    /// Files of packages may be replaced.
    bool replace = false;
    SourceLocation location;
};

/// `[selinux]`.
struct SelinuxRequest {
    /// Absolute paths of `.te` or `.cil` or `.pp` sources.
    std::vector<std::filesystem::path> modules;
    std::map<std::string, bool> booleans;
    std::vector<std::string> require;
    SourceLocation location;
};

/// `[modprobe]`.
struct ModprobeRequest {
    std::vector<std::string> blacklist;
    /// module → options
    std::map<std::string, std::string> options;
};

/// `[[microshift.bundles]]`: a kustomize bundle, absolute directory and its name.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
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
    /// e.g. "rhel-9" or "lab-12"; default of the ref.
    std::string distro;
    /// RPM architecture, "x86_64".
    std::string architecture = "x86_64";
    std::string releasever;

    std::vector<Repository> repositories;
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

    std::optional<NvidiaRequest> nvidia;
    SelinuxRequest selinux;
    ModprobeRequest modprobe;
    std::vector<OverlayRequest> overlays;
    std::vector<BundleRequest> bundles;
    OstreeRequest ostree;

    std::string hostname;
    std::string timezone;
    std::vector<std::string> ntp_servers;
    std::vector<std::string> languages;
    std::string keyboard;
    std::vector<UserRequest> users;
    std::vector<GroupRequest> groups_to_add;
    std::vector<FileRequest> files;
    ServicesRequest services;
};

/// Reads and checks a blueprint file (and the `.repo` files it names). Touches no network.
/// Throws ErrorKind::usage whose message begins "FILE:LINE:COLUMN: ".
[[nodiscard]] Blueprint parse_blueprint(const std::filesystem::path& path);

/// Checks everything about a parsed blueprint that needs no network: overlay and bundle
/// directories exist, module sources exist, keys are readable, … Throws ErrorKind::usage for the
/// first.
void check_blueprint(const Blueprint& blueprint);

}  // namespace edgegpu
