#pragma once

#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "image/tree_step.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

struct ParentAccounts;

/// Applies the blueprint's configuration to the tree.
class Customisation {
public:
    /// `manifests` are the bundles' files, path → content; `seeds` has the numbers of accounts
    /// (seed_accounts). All of them must outlive this.
    Customisation(const Context& ctx, const Blueprint& blueprint,
                  const std::vector<StoredImage>& images,
                  const std::map<std::string, std::string>& manifests, const ParentAccounts& seeds,
                  Tree& tree);

    /// What is done, in order; the steps refer to this. They throw ErrorKind::usage with the
    /// blueprint's line if the tree makes a request impossible (unknown unit, path that belongs to
    /// a package, …).
    [[nodiscard]] std::vector<TreeStep> steps();

private:
    void add_user_files();
    void open_firewall();
    void set_all_units();
    [[nodiscard]] std::vector<TreeStep> file_steps();
    [[nodiscard]] std::vector<TreeStep> system_steps();
    [[nodiscard]] std::vector<TreeStep> container_steps();
    [[nodiscard]] std::vector<TreeStep> boot_steps();

    const Context& ctx_;
    const Blueprint& blueprint_;
    const std::vector<StoredImage>& images_;
    const std::map<std::string, std::string>& manifests_;
    const ParentAccounts& seeds_;
    Tree& tree_;
    /// of container images; empty: none
    std::string store_;
    /// paths of overlays and files
    PlacedPaths placed_;
};

}  // namespace edgegpu
