#include "customise/customise.hpp"

#include <string_view>
#include <utility>

#include "customise/accounts/accounts.hpp"
#include "customise/accounts/login.hpp"
#include "customise/accounts/user_homes.hpp"
#include "customise/configuration_check.hpp"
#include "customise/files/files.hpp"
#include "customise/files/overlays.hpp"
#include "customise/files/packaged_secrets.hpp"
#include "customise/health/greenboot.hpp"
#include "customise/health/health.hpp"
#include "customise/images/crio_conf.hpp"
#include "customise/images/image_store.hpp"
#include "customise/initramfs/boot_link.hpp"
#include "customise/kernel/kernel_arguments.hpp"
#include "customise/kernel/modprobe.hpp"
#include "customise/microshift/config_drop_in.hpp"
#include "customise/microshift/nvidia_runtime.hpp"
#include "customise/system/container_store.hpp"
#include "customise/system/device_repositories.hpp"
#include "customise/system/fips.hpp"
#include "customise/system/firewall.hpp"
#include "customise/system/gpu_devices.hpp"
#include "customise/system/mig_instances.hpp"
#include "customise/system/numa_node.hpp"
#include "customise/system/system.hpp"
#include "customise/system/trust.hpp"
#include "customise/system/vgpu.hpp"
#include "customise/units/firstboot.hpp"
#include "customise/units/units.hpp"
#include "customise/updates/updates.hpp"

namespace edgegpu {

Customisation::Customisation(const Context& ctx, const Blueprint& blueprint,
                             const std::vector<StoredImage>& images,
                             const std::map<std::string, std::string>& manifests,
                             const ParentAccounts& seeds, Tree& tree)
    : ctx_(ctx),
      blueprint_(blueprint),
      images_(images),
      manifests_(manifests),
      seeds_(seeds),
      tree_(tree),
      store_(blueprint.container_store.empty() && !images.empty() ? default_image_store
                                                                  : blueprint.container_store) {}

void Customisation::add_user_files() {
    FileModes modes(ctx_, blueprint_.allow_secrets);
    for (auto& [path, file] : add_overlays(ctx_, blueprint_.overlays, modes, tree_)) {
        placed_[path] = {std::move(file), true};
    }
    add_files(ctx_, blueprint_.files, modes, tree_);
    modes.finish();
    for (const FileRequest& file : blueprint_.files) {
        placed_[file.path] = {file.source.empty() ? file.location.text() : file.source.string(),
                              !file.source.empty()};
    }
}

void Customisation::open_firewall() {
    const SourceLocation& table = blueprint_.microshift.location;
    const SourceLocation whole{blueprint_.path.string(), 0, 0};
    set_firewall(ctx_,
                 with_trusted_sources(ctx_, blueprint_.firewall,
                                      trusted_sources_of(blueprint_.microshift, tree_),
                                      table.file.empty() ? whole : table, tree_),
                 tree_);
}

void Customisation::set_all_units() {
    ServicesRequest services = blueprint_.services;
    if (blueprint_.gpu_health) {
        services = with_greenboot_units(blueprint_.systemd, std::move(services),
                                        blueprint_.gpu_health->location, tree_);
    }
    set_units(ctx_, {blueprint_.systemd, services, blueprint_.package_set, blueprint_.firstboot},
              placed_, tree_);
    check_firstboot_order(ctx_, blueprint_.firstboot, tree_);
}

std::vector<TreeStep> Customisation::file_steps() {
    return {
        {"accounts",
         {},
         {"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/subuid", "/etc/subgid",
          "/etc/edgegpu/accounts-seen", "/usr/lib/edgegpu/accounts",
          "/usr/libexec/edgegpu/accounts", "/usr/lib/tmpfiles.d/edgegpu-users.conf",
          "/usr/lib/systemd/system"},
         [this] { add_accounts(ctx_, blueprint_.users, blueprint_.groups_to_add, seeds_, tree_); }},
        // Their owners may be users of the blueprint.
        {"user files", {"accounts"}, {"/"}, [this] { add_user_files(); }},
        // A user's file may be part of sshd's configuration.
        {"ssh keys",
         {"accounts", "user files"},
         {"/etc/ssh", "/usr/share/edgegpu/authorized_keys.d"},
         [this] { add_keys(ctx_, blueprint_.users, tree_); }},
        // A user's file may be in a secret's place.
        {"packaged secrets",
         {"user files"},
         {},
         [this] { refuse_packaged_secrets(ctx_, placed_, tree_); }},
        {"manifests",
         {"user files"},
         {"/etc/microshift", "/usr/lib/microshift"},
         [this] { add_manifests(ctx_, blueprint_.microshift.location, manifests_, tree_); }},
        // A user's file may be the same.
        {"microshift config",
         {"user files"},
         {"/etc/microshift/config.d"},
         [this] {
             add_microshift_config(ctx_, blueprint_.microshift.config,
                                   blueprint_.parent.has_value(), tree_);
         }},
        {"modprobe",
         {"user files"},
         {"/etc/modprobe.d/edgegpu.conf", "/usr/lib/dracut/dracut.conf.d/90-edgegpu.conf"},
         [this] { add_modprobe(ctx_, blueprint_.modprobe, tree_); }},
        {"gpu devices",
         {"user files"},
         {"/usr/lib/systemd/system", "/usr/lib/tmpfiles.d/edgegpu-gpu.conf",
          "/usr/lib/udev/rules.d/71-edgegpu-gpu.rules"},
         [this] { add_gpu_devices(ctx_, blueprint_.nvidia, tree_); }},
        // nvidia-smi may be a user's file.
        {"mig instances",
         {"user files"},
         {"/usr/lib/edgegpu/mig", "/usr/libexec/edgegpu/mig", "/usr/lib/systemd/system"},
         [this] { add_mig_instances(ctx_, blueprint_.nvidia, tree_); }},
        {"numa node",
         {"user files"},
         {"/usr/lib/udev/rules.d/70-edgegpu-numa-node.rules"},
         [this] { add_numa_node(ctx_, blueprint_.nvidia, tree_); }},
        // The guest's driver may be a user's files.
        {"vgpu licence",
         {"user files"},
         {"/etc/nvidia", "/usr/libexec/edgegpu/vgpu-token", "/usr/lib/systemd/system",
          "/usr/lib/tmpfiles.d/edgegpu-vgpu.conf"},
         [this] { add_vgpu_licence(ctx_, blueprint_.nvidia, placed_, tree_); }},
        {"nvidia runtime",
         {"user files", "gpu devices"},
         {"/etc/crio/crio.conf.d", "/etc/nvidia-container-runtime/config.toml"},
         [this] { add_nvidia_runtime(ctx_, tree_); }},
    };
}

std::vector<TreeStep> Customisation::system_steps() {
    return {
        {"hostname",
         {"user files"},
         {"/etc/hostname"},
         [this] { set_hostname(ctx_, blueprint_.hostname, blueprint_.hostname_location, tree_); }},
        {"timezone",
         {"user files"},
         {"/etc/localtime", "/etc/chrony.conf", "/etc/chrony/chrony.conf"},
         [this] { set_timezone(ctx_, blueprint_.timezone, tree_); }},
        {"locale",
         {"user files"},
         {"/etc/locale.conf", "/etc/vconsole.conf"},
         [this] { set_locale(ctx_, blueprint_.locale, tree_); }},
        {"device repositories",
         {"user files"},
         {"/etc/yum.repos.d", "/etc/pki/rpm-gpg", "/etc/dnf/vars/releasever"},
         [this] {
             Mistakes mistakes;
             check_inline_keys(blueprint_.device_repositories, mistakes);
             mistakes.throw_any("");
             add_device_repositories(ctx_, blueprint_.device_repositories,
                                     blueprint_.device_releasever, tree_);
         }},
        {"subscription",
         {"user files"},
         {"/etc/dnf/plugins", "/etc/rhsm/rhsm.conf"},
         [this] { set_subscription(ctx_, blueprint_.subscription, tree_); }},
    };
}

std::vector<TreeStep> Customisation::container_steps() {
    const std::string_view store = store_.empty() ? default_image_store : std::string_view(store_);
    return {
        {"images", {"user files"}, {store}, [this] { add_images(ctx_, images_, store_, tree_); }},
        {"container store",
         {"user files"},
         {store, "/etc/containers", "/usr/share/containers", "/usr/share/edgegpu",
          "/usr/lib/systemd/user", "/usr/lib/tmpfiles.d/edgegpu-containers.conf"},
         [this] { add_container_store(ctx_, store_, tree_); }},
        {"crio",
         {"user files", "nvidia runtime"},
         {"/etc/crio/crio.conf.d"},
         [this] {
             std::vector<std::string> names;
             for (const StoredImage& image : images_) {
                 names.insert(names.end(), image.names.begin(), image.names.end());
             }
             configure_crio(ctx_, names, store_, tree_);
         }},
    };
}

std::vector<TreeStep> Customisation::boot_steps() {
    return {
        // Programs of the image write what is below /etc and /usr in these two.
        {"trust",
         {"user files"},
         {"/etc", "/usr"},
         [this] {
             add_trust(ctx_, blueprint_.ca_certificates, blueprint_.ca_location, placed_, tree_);
         }},
        {"firewall",
         {"user files", "microshift config"},
         {"/etc", "/usr"},
         [this] { open_firewall(); }},
        {"fips",
         {"user files"},
         {"/etc/crypto-policies", "/etc/system-fips",
          "/usr/lib/dracut/dracut.conf.d/90-edgegpu-fips.conf", "kernel arguments"},
         [this] { set_fips(ctx_, blueprint_.fips, blueprint_.kernel.arguments, tree_); }},
        {"boot link",
         {"user files"},
         {boot_link_module},
         [this] {
             if (tree_.update_system == UpdateSystem::ostree) {
                 add_boot_link(ctx_, tree_);
             }
         }},
        {"first boot",
         {"user files"},
         {"/usr/libexec/edgegpu/firstboot", "/usr/lib/systemd/system"},
         [this] { add_firstboot(ctx_, blueprint_.firstboot, tree_); }},
        // Checks and the journal's configuration may be a user's files.
        {"gpu health",
         {"user files", "gpu devices"},
         {"/usr/lib/edgegpu", "/usr/libexec/edgegpu", "/usr/lib/greenboot",
          "/usr/lib/systemd/system", "/usr/lib/tmpfiles.d/edgegpu-gpu-health.conf"},
         [this] { add_gpu_health(ctx_, blueprint_, placed_, tree_); }},
        {"boot success",
         {"user files"},
         {"/usr/lib/systemd/user"},
         [this] { leave_boot_success(ctx_, tree_); }},
        {"configuration",
         {"accounts", "user files", "ssh keys", "trust", "firewall", "fips", "first boot"},
         {},
         [this] { check_configuration(ctx_, placed_, blueprint_.firstboot, tree_); }},
        // A unit may be a user's file, and presets are those of every unit before.
        {"units",
         {"accounts", "user files", "gpu devices", "vgpu licence", "gpu health", "first boot"},
         {"/etc/systemd", "/usr/lib/systemd/system"},
         [this] { set_all_units(); }},
        {"login",
         {"accounts", "user files", "ssh keys", "units"},
         {},
         [this] {
             if (!blueprint_.parent) {  // else its users can be those of the parent
                 require_login(ctx_, blueprint_.users, blueprint_.accounts.login, placed_, tree_);
             }
         }},
        {"kernel arguments",
         {"user files", "fips"},
         {"kernel arguments", "/usr/lib/bootc/kargs.d/10-edgegpu.toml",
          "/usr/lib/edgegpu/kernel-arguments", "/usr/libexec/edgegpu/kernel-arguments",
          "/usr/lib/systemd/system"},
         [this] {
             record_kernel_arguments(ctx_, blueprint_.kernel.arguments, blueprint_.kernel.location,
                                     blueprint_.modprobe, tree_);
             // Nodes of OpenShift get them from a MachineConfig; the unit asks ostree.
             if (!blueprint_.openshift && tree_.update_system == UpdateSystem::ostree) {
                 add_kernel_arguments_unit(ctx_, tree_);
             }
         }},
        {"remote",
         {"user files"},
         {"/etc/ostree/remotes.d", "/etc/pki/edgegpu"},
         [this] {
             if (tree_.update_system == UpdateSystem::ostree) {
                 add_remote(ctx_, blueprint_.ostree,
                            blueprint_.updates ? blueprint_.updates->proxy : "", placed_, tree_);
             }
         }},
        {"snapshot update",
         {"user files"},
         {"/usr/libexec/edgegpu/snapshot-update", "/usr/lib/systemd/system"},
         [this] {
             if (tree_.update_system == UpdateSystem::snapshots) {
                 add_snapshot_update(ctx_, tree_);
             }
         }},
        // Programs and time zones may be a user's files.
        {"updates",
         {"user files"},
         {"/usr/lib/edgegpu", "/usr/libexec/edgegpu", "/usr/bin/edgegpu-update",
          "/usr/lib/tmpfiles.d", "/usr/lib/systemd/system"},
         [this] { add_updates(ctx_, blueprint_.updates, tree_); }},
    };
}

std::vector<TreeStep> Customisation::steps() {
    std::vector<TreeStep> all = file_steps();
    for (const auto& more : {system_steps(), container_steps(), boot_steps()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace edgegpu
