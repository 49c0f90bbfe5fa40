#include "blueprint/known_secrets.hpp"

namespace edgegpu {

namespace {

void add_repository_secrets(const Repository& repository, const Secrets& secrets) {
    for (const auto* urls : {&repository.baseurls, &repository.gpgkeys}) {
        for (const std::string& url : *urls) {
            secrets.add_url(url);
        }
    }
    secrets.add_url(repository.metalink);
    secrets.add_url(repository.mirrorlist);
    const TransferSettings& transfer = repository.transfer;
    secrets.add_login(transfer.username, transfer.password);
    secrets.add_login(transfer.proxy_username, transfer.proxy_password);
    secrets.add_url(transfer.proxy);
}

}  // namespace

void add_secrets(const Blueprint& blueprint, const Secrets& secrets) {
    for (const Repository& repository : blueprint.repositories) {
        add_repository_secrets(repository, secrets);
    }
    for (const DeviceRepository& device : blueprint.device_repositories) {
        add_repository_secrets(device.repository, secrets);
    }
    secrets.add_url(blueprint.ostree.url);
    for (const UserRequest& user : blueprint.users) {
        secrets.add(user.password.value_or(""));
    }
}

}  // namespace edgegpu
