#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "resolve/reason.hpp"
#include "support/files/checksum.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

/// A package chosen by the solver, with everything needed to fetch and verify it.
struct ResolvedPackage {
    Nevra nevra;
    /// Id of the repository in the blueprint.
    std::string repository;
    /// Path relative to `base` or the repository ("Packages/x.rpm"). It may begin with ".." on
    /// servers, but not in local repositories.
    std::string location;
    /// Of the RPM file, from the metadata.
    Checksum checksum;
    /// Bytes of the RPM file; 0: unknown.
    std::uint64_t size = 0;
    /// Unix time.
    std::int64_t build_time = 0;
    /// "name:stream:version:context" of its module, or empty.
    std::string module;
    Reason why;
    /// URL that `location` is relative to (xml:base), or empty for that of the repository. The
    /// repository's credentials are not sent to other servers.
    std::string base;

    /// Identifies the content in digests of inputs: the bare SHA-256, or Checksum::text of other
    /// algorithms.
    [[nodiscard]] std::string content_id() const;
};

/// An enabled module stream.
struct ResolvedModule {
    std::string name;
    std::string stream;
    std::string version;
    std::string context;
};

/// A security advisory of a repository (updateinfo.xml).
struct Advisory {
    /// "RHSA-2024:1248"
    std::string id;
    /// "Critical", "Important", "Moderate", "Low", or empty.
    std::string severity;
    /// Ids of fixed CVEs, sorted.
    std::vector<std::string> cves;

    /// "ID (Severity)", or "ID".
    [[nodiscard]] std::string text() const;
    // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
    auto operator<=>(const Advisory&) const = default;
};

/// A security advisory that packages of the image fix.
struct FixedAdvisory {
    /// A link to a CVE.
    struct Reference {
        std::string url;
        std::string title;
        // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
        auto operator<=>(const Reference&) const = default;
    };
    /// "RHSA-2024:1248"
    std::string id;
    /// As in updateinfo.xml ("Important"), or empty.
    std::string severity;
    /// NEVRAs of packages of the image that it names, sorted.
    std::vector<std::string> packages;
    /// One for each CVE, sorted by URL.
    std::vector<Reference> references;
    // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
    auto operator<=>(const FixedAdvisory&) const = default;
};

/// A newer kernel or driver that was not chosen, because kernel and driver have to match.
struct PassedOver {
    /// "kernel NEVRA" or "nvidia driver VERSION"
    std::string what;
    std::string reason;
    /// Advisories that it would fix, sorted; for kernels only.
    std::vector<Advisory> advisories;

    /// One line for the user.
    [[nodiscard]] std::string text() const;
};

/// The state of a repository's metadata.
struct ResolvedRepository {
    std::string id;
    /// SHA-256 of repomd.xml.
    std::string repomd_sha256;
    /// MetadataRecords::revision_time.
    std::int64_t revision_time = 0;
};

/// A container image of the image, by its digests.
struct ResolvedImage {
    /// As ContainerRequest::source.
    std::string source;
    /// Complete name for the engines.
    std::string name;
    /// SHA-256 of what the source refers to: an index of several architectures, or a manifest.
    std::string digest;
    /// SHA-256 of the manifest for the image's architecture; `digest` if that is a manifest.
    std::string manifest;
    /// Bytes of its layers, compressed.
    std::uint64_t size = 0;
};

/// The commit of `[parent]`, which an image is a layer on.
struct ResolvedParent {
    /// As the blueprint names it: a ref, a checksum, or ContainerRequest::source of an image.
    std::string name;
    /// Its checksum.
    std::string commit;
    /// Digest of the container image whose layers that commit was made of ("sha256:…"), for one
    /// that no registry has; or empty.
    std::string image_digest;
    /// Its packages, in no order; of a lockfile, none.
    std::vector<Nevra> packages;
    /// Container images in it, which the image has, too; of a lockfile, none.
    std::vector<ResolvedImage> images;
};

/// The exact packages of the image (on a parent: those that it adds), and of the roots in which
/// modules are compiled. The content of a lockfile.
struct Resolution {
    /// Sorted by NEVRA.
    std::vector<ResolvedPackage> packages;
    std::vector<ResolvedModule> modules;
    std::vector<ResolvedRepository> repositories;
    /// The only kernel, kernel-core or the package that provides it, and its `uname -r`.
    Nevra kernel;
    std::string kernel_uname;
    /// "535.261.03", or empty without driver.
    std::string driver_version;
    /// `open` or `proprietary`; nothing without driver.
    std::optional<DriverFlavor> driver_flavor;
    /// Newer kernels and drivers that were not chosen, newest first.
    std::vector<PassedOver> passed_over;
    /// Advisories that the packages fix, according to the repositories, sorted by id.
    std::vector<FixedAdvisory> advisories;
    /// If kernel modules have to be compiled: the package with their sources. It is neither in the
    /// image nor in `build_root`, where only its payload is unpacked: its dependencies and
    /// scriptlets are meant for running systems.
    std::optional<ResolvedPackage> dkms_source;
    /// With `dkms_source`: the packages that compile it, including kernel-devel of exactly
    /// `kernel`; sorted as `packages`. Independent of the image's packages.
    std::vector<ResolvedPackage> build_root;
    /// If policy modules use interfaces of the reference policy: the packages that compile them,
    /// including selinux-policy-devel of exactly the image's policy; sorted as `packages`.
    /// Independent of the image's packages.
    std::vector<ResolvedPackage> policy_root;
    /// With `[parent]`: its packages are not among `packages`.
    std::optional<ResolvedParent> parent;
    /// Container images, in the blueprint's order.
    std::vector<ResolvedImage> images;
};

/// The packages of the image, in no order: those of the resolution, and those of its parent.
[[nodiscard]] std::vector<Nevra> packages_of_image(const Resolution& resolution);

/// The container images of the image: those of the resolution, then those of its parent.
[[nodiscard]] std::vector<ResolvedImage> images_of_image(const Resolution& resolution);

/// Reads a lockfile (TOML). Throws ErrorKind::usage naming file and line.
[[nodiscard]] Resolution read_lockfile(const std::filesystem::path& path);

/// Writes a lockfile (TOML) atomically. The same resolution gives the same bytes.
void write_lockfile(const std::filesystem::path& path, const Resolution& resolution);

}  // namespace edgegpu
