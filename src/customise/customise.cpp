#include "customise/customise.hpp"

#include <string>
#include <vector>

#include "customise/accounts/accounts.hpp"
#include "customise/accounts/login.hpp"
#include "customise/files/files.hpp"
#include "customise/files/overlays.hpp"
#include "customise/images/crio_conf.hpp"
#include "customise/images/image_store.hpp"
#include "customise/kernel/kernel_arguments.hpp"
#include "customise/kernel/modprobe.hpp"
#include "customise/microshift/config_drop_in.hpp"
#include "customise/microshift/nvidia_runtime.hpp"
#include "customise/system/container_store.hpp"
#include "customise/system/device_repositories.hpp"
#include "customise/system/fips.hpp"
#include "customise/system/firewall.hpp"
#include "customise/system/gpu_devices.hpp"
#include "customise/system/system.hpp"
#include "customise/system/trust.hpp"
#include "customise/units/firstboot.hpp"
#include "customise/units/units.hpp"
#include "customise/updates/updates.hpp"
#include "image/account_files.hpp"

namespace edgegpu {

void customise(const Context& ctx, const Blueprint& blueprint,
               const std::vector<StoredImage>& images,
               const std::map<std::string, std::string>& manifests, const ParentAccounts& seeds,
               Tree& tree) {
    // Accounts first: owners of overlays and files may be users of the blueprint.
    add_accounts(ctx, blueprint.users, blueprint.groups_to_add, seeds, tree);
    PlacedPaths placed;
    FileModes modes(ctx, blueprint.allow_secrets);
    for (auto& [path, file] : add_overlays(ctx, blueprint.overlays, modes, tree)) {
        placed[path] = {std::move(file), true};
    }
    add_files(ctx, blueprint.files, modes, tree);
    modes.finish();
    for (const FileRequest& file : blueprint.files) {
        placed[file.path] = {file.source.empty() ? file.location.text() : file.source.string(),
                             !file.source.empty()};
    }
    add_manifests(ctx, blueprint.microshift.location, manifests, tree);
    // After overlays and files: a file of theirs may be the same.
    add_microshift_config(ctx, blueprint.microshift.config, tree);
    add_modprobe(ctx, blueprint.modprobe, tree);
    add_gpu_devices(ctx, blueprint.nvidia, tree);
    add_nvidia_runtime(ctx, tree);
    set_hostname(ctx, blueprint.hostname, blueprint.hostname_location, tree);
    set_timezone(ctx, blueprint.timezone, tree);
    set_locale(ctx, blueprint.locale, tree);
    // After overlays and files, which may bring what these configure.
    add_device_repositories(ctx, blueprint.device_repositories, blueprint.device_releasever, tree);
    set_subscription(ctx, blueprint.subscription, tree);
    const std::string store = blueprint.container_store.empty() && !images.empty()
                                  ? default_image_store
                                  : blueprint.container_store;
    add_images(ctx, images, store, tree);
    add_container_store(ctx, store, tree);
    std::vector<std::string> image_names;
    for (const StoredImage& image : images) {
        image_names.insert(image_names.end(), image.names.begin(), image.names.end());
    }
    configure_crio(ctx, image_names, store, tree);
    add_trust(ctx, blueprint.ca_certificates, blueprint.ca_location, tree);
    const SourceLocation whole{blueprint.path.string(), 0, 0};
    const SourceLocation& table = blueprint.microshift.location;
    set_firewall(ctx,
                 with_trusted_sources(ctx, blueprint.firewall,
                                      trusted_sources_of(blueprint.microshift, tree),
                                      table.file.empty() ? whole : table, tree),
                 tree);
    set_fips(ctx, blueprint.fips, blueprint.kernel.arguments, tree);
    add_firstboot(ctx, blueprint.firstboot, tree);
    // Units after overlays and files: one may come from there.
    set_units(ctx, {blueprint.systemd, blueprint.services, blueprint.package_set}, placed, tree);
    require_login(blueprint.users, blueprint.accounts.login, ctx.source_date_epoch, tree);
    record_kernel_arguments(ctx, blueprint.kernel.arguments, blueprint.kernel.location,
                            blueprint.modprobe, tree);
    add_remote(ctx, blueprint.ostree, blueprint.updates ? blueprint.updates->proxy : "", tree);
    // After all that may bring its programs and time zones.
    add_updates(ctx, blueprint.updates, tree);
}

}  // namespace edgegpu
