#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/fields/accounts.hpp"
#include "blueprint/fields/device.hpp"
#include "blueprint/fields/field.hpp"
#include "blueprint/fields/files.hpp"
#include "blueprint/fields/gpu_settings.hpp"
#include "blueprint/fields/image_settings.hpp"
#include "blueprint/fields/microshift.hpp"
#include "blueprint/fields/openshift.hpp"
#include "blueprint/fields/packages.hpp"
#include "blueprint/fields/repositories.hpp"
#include "blueprint/fields/test.hpp"

/// Fields of a whole blueprint, in the order in which they are shown and digested. The program does
/// not compile until a new field of one of its structs is described here, with its effect on the
/// commit. The digest of a build's inputs, `check --json` and the tests that change every field
/// follow from this description.
namespace edgegpu {

consteval auto fields_of(const OstreeRequest*) {
    using Ostree = OstreeRequest;
    return all_fields_of<Ostree>(
        input("ref", &Ostree::ref), input("parent", &Ostree::parent),
        input<Shown::url>("url", &Ostree::url), input("sign", &Ostree::sign),
        no_input("gpg_homedir", &Ostree::gpg_homedir),
        field<Counts::content>("gpg_public_key", &Ostree::gpg_public_key),
        no_input("sign_ed25519", &Ostree::sign_ed25519),
        no_input("sign_command", &Ostree::sign_command),
        field<Counts::content>("ed25519_public_key", &Ostree::ed25519_public_key),
        input("remote", &Ostree::remote), place(&Ostree::location));
}

consteval auto fields_of(const Blueprint*) {
    using All = Blueprint;
    return all_fields_of<All>(
        no_input<Shown::never>("path", &All::path), input("name", &All::name),
        no_input("description", &All::description), input("version", &All::version),
        chooses_packages("distro", &All::distro), input("architecture", &All::architecture),
        chooses_packages("releasever", &All::releasever),
        chooses_packages("repositories", &All::repositories),
        input("package_set", &All::package_set), chooses_packages("packages", &All::packages),
        chooses_packages("groups", &All::groups), chooses_packages("modules", &All::modules),
        chooses_packages("excludes", &All::excludes),
        chooses_packages("weak_dependencies", &All::weak_dependencies), fields_inside(&All::kernel),
        input("nvidia", &All::nvidia), input("selinux", &All::selinux),
        input("modprobe", &All::modprobe),
        input("initramfs_compression", &All::initramfs_compression),
        input("overlays", &All::overlays), input("allow_secrets", &All::allow_secrets),
        fields_inside(&All::microshift), input("ostree", &All::ostree),
        input("parent", &All::parent), no_input("image", &All::image),
        unordered_input("mount_points", &All::mount_points), input("hostname", &All::hostname),
        place(&All::hostname_location), fields_inside(&All::timezone), fields_inside(&All::locale),
        input("users", &All::users), input("user_groups", &All::groups_to_add),
        input("files", &All::files), input("services", &All::services),
        input("systemd", &All::systemd), input("accounts", &All::accounts),
        input<Shown::text>("ca_certificates", &All::ca_certificates), place(&All::ca_location),
        fields_inside(&All::fips), input("firewall", &All::firewall),
        input("firstboot", &All::firstboot),
        input("device_repositories", &All::device_repositories),
        input("subscription", &All::subscription),
        input("device_releasever", &All::device_releasever), input("updates", &All::updates),
        input("gpu_health", &All::gpu_health), input("containers", &All::containers),
        input("container_store", &All::container_store), place(&All::container_store_location),
        no_input("test", &All::test), input("openshift", &All::openshift),
        // `check --json` prints both beside the blueprint.
        no_input<Shown::never>("notes", &All::notes),
        no_input<Shown::never>("warnings", &All::warnings));
}

}  // namespace edgegpu
