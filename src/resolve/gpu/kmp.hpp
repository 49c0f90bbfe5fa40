#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/gpu/kmp_name.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

/// NVIDIA's driver in SUSE's repositories: kernel module packages (KMP), which are chosen by the
/// cards' PCI ids, and user space of the same version.
namespace edgegpu {

/// The KMPs that an image may have: those of one family and flavour.
struct KmpChoice {
    KmpName name;
    /// Visible packages, best first.
    std::vector<Id> packages;
    /// Of the requested driver, newest first.
    std::vector<std::string> drivers;
};

/// Chooses the one family of KMPs for the image's flavour of the kernel, all of the blueprint's
/// cards, the requested driver and one of `kernels`; a package that the blueprint requests by name
/// decides between several. Throws ErrorKind::unsolvable if there is none, or more than one, or if
/// the blueprint requests another KMP.
[[nodiscard]] KmpChoice choose_kmps(const PackagePool& pool, const Blueprint& blueprint,
                                    const std::vector<Id>& kernels);

/// The KMPs of `choice` with driver `version` that fit a kernel: it has the symbols that they
/// require; where they require none, they were built for this version and service pack.
[[nodiscard]] std::vector<Id> kmps_for(const PackagePool& pool, const KmpChoice& choice,
                                       const std::string& version, Id kernel);

/// Why the image cannot have this version of the driver: no repository has its user space. Empty if
/// it can.
[[nodiscard]] std::string without_user_space(const PackagePool& pool, const KmpChoice& choice,
                                             const std::string& version);

/// Adds to `jobs`: install one of `kmps` and the user space of driver `version`; forbid all other
/// KMPs with NVIDIA's driver, and its user space and firmware of other versions and generations.
void add_kmp_jobs(const PackagePool& pool, const KmpChoice& choice, const std::string& version,
                  const std::vector<Id>& kmps, Jobs& jobs);

}  // namespace edgegpu
