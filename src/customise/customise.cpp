#include "customise/customise.hpp"

#include <set>
#include <string>

#include "customise/accounts.hpp"
#include "customise/container_store.hpp"
#include "customise/device_repositories.hpp"
#include "customise/files.hpp"
#include "customise/fips.hpp"
#include "customise/firewall.hpp"
#include "customise/firstboot.hpp"
#include "customise/gpu_devices.hpp"
#include "customise/kernel_arguments.hpp"
#include "customise/modprobe.hpp"
#include "customise/overlays.hpp"
#include "customise/system.hpp"
#include "customise/trust.hpp"
#include "customise/units.hpp"

namespace edgegpu {

void customise(const Context& ctx, const Blueprint& blueprint, const ParentAccounts& seeds,
               Tree& tree) {
    // Accounts first: owners of overlays and files may be users of the blueprint.
    add_accounts(ctx, blueprint, seeds, tree);
    std::set<std::string> placed = add_overlays(ctx, blueprint.overlays, tree);
    add_files(ctx, blueprint.files, tree);
    for (const FileRequest& file : blueprint.files) {
        placed.insert(file.path);
    }
    add_bundles(ctx, blueprint.bundles, tree);
    add_modprobe(ctx, blueprint.modprobe, tree);
    add_gpu_devices(ctx, blueprint, tree);
    set_identity(ctx, blueprint, tree);
    // After overlays and files, which may bring what these configure.
    add_device_repositories(ctx, blueprint, tree);
    set_subscription(ctx, blueprint.subscription, tree);
    add_container_store(ctx, blueprint, tree);
    add_trust(ctx, blueprint, tree);
    set_firewall(ctx, blueprint.firewall, tree);
    set_fips(ctx, blueprint, tree);
    add_firstboot(ctx, blueprint.firstboot, tree);
    // Units after overlays and files: one may come from there.
    set_units(ctx, blueprint, placed, tree);
    record_kernel_arguments(ctx, blueprint, tree);
    add_remote(ctx, blueprint.ostree, tree);
}

}  // namespace edgegpu
