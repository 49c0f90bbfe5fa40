#include "blueprint/known_secrets.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(KnownSecrets, WhateverABlueprintHas) {
    Blueprint blueprint;
    Repository repository;
    repository.baseurls = {"https://ann:one-1111@host/"};
    repository.gpgkeys = {"https://host/key?sig=two-22222"};
    repository.metalink = "https://ann:three-33@host/";
    repository.mirrorlist = "https://four-4444@host/";
    repository.transfer.username = "ann";
    repository.transfer.password = "five-5555";
    repository.transfer.proxy = "http://ann:six-66666@proxy:3128";
    repository.transfer.proxy_username = "ann";
    repository.transfer.proxy_password = "seven-777";
    blueprint.repositories.push_back(repository);
    DeviceRepository device;
    device.repository.baseurls = {"https://ann:eight-888@host/"};
    blueprint.device_repositories.push_back(device);
    blueprint.ostree.url = "https://ann:nine-9999@host/";
    UserRequest user;
    user.password = "abc0123456789";
    blueprint.users = {user, UserRequest{}};
    const Secrets secrets;
    add_secrets(blueprint, secrets);
    EXPECT_EQ(secrets.hide("one-1111 two-22222 three-33 four-4444 five-5555 six-66666 seven-777 "
                           "eight-888 nine-9999 abc0123456789 ann"),
              "[hidden] [hidden] [hidden] [hidden] [hidden] [hidden] [hidden] [hidden] [hidden] "
              "[hidden] ann");
}

}  // namespace
}  // namespace edgegpu
