#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "resolve/reason.hpp"
#include "support/checksum.hpp"
#include "support/nevra.hpp"

namespace edgegpu {

/// A package chosen by the solver, with all that is needed to fetch and verify it.
struct ResolvedPackage {
    Nevra nevra;
    /// id of the repository in the blueprint
    std::string repository;
    /// Where it lies below `base` or the repository ("Packages/x.rpm"): relative; below a
    /// repository of this machine without "..", below a server's perhaps with some in front.
    std::string location;
    /// of the RPM file, from the (signed) metadata
    Checksum checksum;
    /// bytes of the RPM file; 0: the metadata do not say
    std::uint64_t size = 0;
    /// Unix time it was built
    std::int64_t build_time = 0;
    /// "name:stream:version:context" of the module it belongs to, or empty
    std::string module;
    Reason why;
    /// URL that `location` is relative to (xml:base), where that is not the repository's; else
    /// empty. The repository's credentials are not meant for its server.
    std::string base;

    /// What stands for its content where inputs are digested: a bare SHA-256, or Checksum::text.
    [[nodiscard]] std::string content_id() const;
};

/// An enabled module stream.
struct ResolvedModule {
    std::string name;
    std::string stream;
    std::string version;
    std::string context;
};

/// A security advisory that an update repository announces (updateinfo.xml).
struct Advisory {
    /// "RHSA-2024:1248"
    std::string id;
    /// "Critical", "Important", "Moderate", "Low", or empty
    std::string severity;
    /// CVE ids it fixes, sorted
    std::vector<std::string> cves;

    /// "ID (Severity)", or "ID".
    [[nodiscard]] std::string text() const;
    auto operator<=>(const Advisory&) const = default;
};

/// A security advisory that a package of the image fixes.
struct FixedAdvisory {
    /// Where to read about a CVE.
    struct Reference {
        std::string url;
        std::string title;
        auto operator<=>(const Reference&) const = default;
    };
    /// "RHSA-2024:1248"
    std::string id;
    /// as in updateinfo.xml ("Important"), or empty
    std::string severity;
    /// NEVRAs of the image's packages that it names, sorted
    std::vector<std::string> packages;
    /// one for each CVE, sorted by URL
    std::vector<Reference> references;
    auto operator<=>(const FixedAdvisory&) const = default;
};

/// Something newer than what the image has, left out so that kernel and driver fit.
struct PassedOver {
    /// "kernel NEVRA" or "nvidia driver VERSION"
    std::string what;
    std::string reason;
    /// what it would fix, sorted; known for kernels only
    std::vector<Advisory> advisories;

    /// One line for the user.
    [[nodiscard]] std::string text() const;
};

/// A repository's metadata as it was read.
struct ResolvedRepository {
    std::string id;
    /// SHA-256 of repomd.xml
    std::string repomd_sha256;
    /// newest timestamp in repomd.xml, Unix time
    std::int64_t revision_time = 0;
};

/// The resolved result: exactly the packages of the image. Same content as the lockfile.
struct Resolution {
    /// sorted by name, then NEVRA
    std::vector<ResolvedPackage> packages;
    std::vector<ResolvedModule> modules;
    std::vector<ResolvedRepository> repositories;
    /// the one kernel: kernel-core (or the package that provides kernel-core), its uname -r
    Nevra kernel;
    std::string kernel_uname;
    /// "535.261.03" or empty
    std::string driver_version;
    /// which kernel modules, `open` or `proprietary`; nothing without driver
    std::optional<DriverFlavor> driver_flavor;
    /// newer kernels and drivers that were not taken, the newest first
    std::vector<PassedOver> passed_over;
    /// What the packages fix, as far as the repositories tell, sorted by id.
    std::vector<FixedAdvisory> advisories;
    /// Where the kernel modules have to be compiled: the package with their sources. It is no part
    /// of the image and, as its dependencies and scriptlets are for running hosts, none of
    /// `build_root`: only its payload is to be unpacked there.
    std::optional<ResolvedPackage> dkms_source;
    /// With `dkms_source`: the packages to compile in, kernel-devel of exactly `kernel` among them;
    /// sorted as `packages`. None of them is in the image because of this.
    std::vector<ResolvedPackage> build_root;
    /// Where policy modules are compiled that use the reference policy's interfaces:
    /// selinux-policy-devel of exactly the image's policy, and what it needs to run; sorted as
    /// `packages`. None of them is in the image because of this.
    std::vector<ResolvedPackage> policy_root;
};

/// Reads a lockfile (TOML). Throws ErrorKind::usage naming file and line.
[[nodiscard]] Resolution read_lockfile(const std::filesystem::path& path);

/// Writes a lockfile: TOML, deterministic, one [[package]] block each, atomically.
void write_lockfile(const std::filesystem::path& path, const Resolution& resolution);

}  // namespace edgegpu
