#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/snapshot.hpp"

namespace edgegpu::test {
namespace {

class InputsDigest : public TreeTest {};

Blueprint with_everything() {
    Blueprint blueprint;
    blueprint.name = "a";
    blueprint.distro = "rhel-9.4";
    blueprint.releasever = "9";
    blueprint.users.emplace_back().name = "user";
    blueprint.files.emplace_back().path = "/etc/a";
    blueprint.firewall.emplace();
    blueprint.firstboot.emplace_back().name = "script";
    blueprint.device_repositories.emplace_back().filename = "a.repo";
    blueprint.subscription.emplace();
    return blueprint;
}

TEST_F(InputsDigest, EveryPartOfTheDevicesConfigurationCounts) {
    host_file("source", "one");
    using Change = std::function<void(Blueprint&)>;
    const std::vector<Change> changes{
        [](Blueprint&) {},
        [](Blueprint& b) { b.users[0].expire_date = 0; },
        [](Blueprint& b) { b.users[0].expire_date = 1; },
        [](Blueprint& b) { b.users[0].force_password_reset = true; },
        [](Blueprint& b) { b.accounts.uids["a"] = 1; },
        [](Blueprint& b) { b.accounts.gids["a"] = 1; },
        [this](Blueprint& b) { b.files[0].source = scratch / "source"; },
        [](Blueprint& b) { b.firewall.reset(); },
        [](Blueprint& b) { b.firewall->ports = {"a"}; },
        [](Blueprint& b) { b.firewall->enabled_services = {"a"}; },
        [](Blueprint& b) { b.firewall->disabled_services = {"a"}; },
        [](Blueprint& b) { b.firewall->zones["a"]; },
        [](Blueprint& b) { b.firewall->zones["a"] = {"b"}; },
        [](Blueprint& b) { b.ca_certificates = {"a"}; },
        [](Blueprint& b) { b.fips = true; },
        [](Blueprint& b) { b.container_store = "a"; },
        [](Blueprint& b) { b.firstboot[0].name = "a"; },
        [](Blueprint& b) { b.firstboot[0].contents = "a"; },
        [](Blueprint& b) { b.firstboot[0].after = {"a"}; },
        [](Blueprint& b) { b.firstboot[0].before = {"a"}; },
        [](Blueprint& b) { b.firstboot[0].ignore_failure = true; },
        [](Blueprint& b) { b.device_repositories[0].filename = "b.repo"; },
        [](Blueprint& b) { b.device_repositories[0].inline_keys = {"a"}; },
        [](Blueprint& b) { b.device_repositories[0].repository.id = "a"; },
        [](Blueprint& b) { b.device_repositories[0].repository.name = "a"; },
        [](Blueprint& b) { b.device_repositories[0].repository.baseurls = {"a"}; },
        [](Blueprint& b) { b.device_repositories[0].repository.gpgkeys = {"a"}; },
        [](Blueprint& b) { b.device_repositories[0].repository.metalink = "a"; },
        [](Blueprint& b) { b.device_repositories[0].repository.mirrorlist = "a"; },
        [](Blueprint& b) { b.device_repositories[0].repository.enabled = false; },
        [](Blueprint& b) { b.device_repositories[0].repository.gpgcheck = false; },
        [](Blueprint& b) { b.device_repositories[0].repository.repo_gpgcheck = false; },
        [](Blueprint& b) { b.device_repositories[0].repository.sslverify = false; },
        [](Blueprint& b) { b.device_repositories[0].repository.module_hotfixes = true; },
        [](Blueprint& b) { b.device_repositories[0].repository.priority = 1; },
        [](Blueprint& b) { b.set_release_version = true; },
        [](Blueprint& b) { b.subscription.reset(); },
        [](Blueprint& b) { b.subscription->product_id_plugin = true; },
        [](Blueprint& b) { b.subscription->subscription_manager_plugin = false; },
        [](Blueprint& b) { b.subscription->manage_repos = true; },
        [](Blueprint& b) { b.subscription->auto_enable_yum_plugins = true; },
        [](Blueprint& b) { b.subscription->auto_registration = true; },
    };
    std::set<std::string> digests;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        Blueprint blueprint = with_everything();
        changes[i](blueprint);
        EXPECT_TRUE(
            digests.insert(inputs_digest(take_snapshot(ctx, blueprint), Resolution{})).second)
            << "change " << i << " is not seen";
    }
}

TEST_F(InputsDigest, FilesOfTheBuilderCountByContent) {
    Blueprint blueprint = with_everything();
    blueprint.files[0].source = scratch / "source";
    host_file("source", "one");
    const std::string one = inputs_digest(take_snapshot(ctx, blueprint), Resolution{});
    host_file("source", "two");
    EXPECT_NE(inputs_digest(take_snapshot(ctx, blueprint), Resolution{}), one);
}

}  // namespace
}  // namespace edgegpu::test
