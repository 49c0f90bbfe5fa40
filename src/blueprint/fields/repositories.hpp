#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/repository.hpp"

/// Fields of repositories, described as inputs, which they are for a device's repositories. For
/// those that the image is built from, the description of `repositories` in fields/blueprint.hpp
/// overrides that: they only affect which packages are chosen.
namespace edgegpu {

consteval auto fields_of(const TransferSettings*) {
    using Transfer = TransferSettings;
    return all_fields_of<Transfer>(
        input("username", &Transfer::username),
        input<Shown::secret>("password", &Transfer::password),
        input<Shown::url>("proxy", &Transfer::proxy),
        input("proxy_username", &Transfer::proxy_username),
        input<Shown::secret>("proxy_password", &Transfer::proxy_password),
        input("proxy_auth_method", &Transfer::proxy_auth_method),
        input("proxy_sslverify", &Transfer::proxy_sslverify),
        input("proxy_sslcacert", &Transfer::proxy_sslcacert),
        input("proxy_sslclientcert", &Transfer::proxy_sslclientcert),
        input("proxy_sslclientkey", &Transfer::proxy_sslclientkey),
        input("user_agent", &Transfer::user_agent), input("retries", &Transfer::retries),
        input("timeout", &Transfer::timeout), input("minrate", &Transfer::minrate),
        input("allow_private_addresses", &Transfer::allow_private_addresses));
}

consteval auto fields_of(const Repository*) {
    using Repo = Repository;
    return all_fields_of<Repo>(
        input("id", &Repo::id), input("name", &Repo::name),
        input<Shown::url>("baseurl", &Repo::baseurls),
        input<Shown::url>("metalink", &Repo::metalink),
        input<Shown::url>("mirrorlist", &Repo::mirrorlist),
        input<Shown::url>("gpgkey", &Repo::gpgkeys), input("gpgcheck", &Repo::gpgcheck),
        input("repo_gpgcheck", &Repo::repo_gpgcheck), input("enabled", &Repo::enabled),
        input("sslverify", &Repo::sslverify), input("sslcacert", &Repo::sslcacert),
        input("sslclientcert", &Repo::sslclientcert), input("sslclientkey", &Repo::sslclientkey),
        input("priority", &Repo::priority), input("cost", &Repo::cost),
        input("excludepkgs", &Repo::excludepkgs), input("includepkgs", &Repo::includepkgs),
        input("module_hotfixes", &Repo::module_hotfixes), input("allow_sha1", &Repo::allow_sha1),
        input("transfer", &Repo::transfer), place(&Repo::location));
}

consteval auto fields_of(const DeviceRepository*) {
    using Device = DeviceRepository;
    return all_fields_of<Device>(input("repository", &Device::repository),
                                 input("filename", &Device::filename),
                                 input<Shown::text>("inline_keys", &Device::inline_keys));
}

consteval auto fields_of(const SubscriptionRequest*) {
    using Rhsm = SubscriptionRequest;
    return all_fields_of<Rhsm>(
        input("product_id_plugin", &Rhsm::product_id_plugin),
        input("subscription_manager_plugin", &Rhsm::subscription_manager_plugin),
        input("manage_repos", &Rhsm::manage_repos),
        input("auto_enable_yum_plugins", &Rhsm::auto_enable_yum_plugins),
        input("auto_registration", &Rhsm::auto_registration), place(&Rhsm::location));
}

}  // namespace edgegpu
