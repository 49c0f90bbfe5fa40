#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise/files/files.hpp"
#include "customise/system/container_store.hpp"
#include "customise/system/device_repositories.hpp"
#include "customise/system/fips.hpp"
#include "customise/system/firewall.hpp"
#include "customise/system/trust.hpp"
#include "customise/units/firstboot.hpp"
#include "customise_fixture.hpp"
#include "pipeline/snapshot.hpp"
#include "unit/certificates.hpp"

namespace edgegpu::test {
namespace {

class Device : public TreeTest {
protected:
    Blueprint blueprint;
};

TEST_F(Device, RepositoriesOfOneFileStandInIt) {
    DeviceRepository first;
    first.filename = "extra.repo";
    first.repository.id = "a";
    first.repository.name = "A";
    first.repository.baseurls = {"https://e/1", "https://e/2"};
    first.repository.gpgkeys = {"file:///etc/pki/rpm-gpg/RPM-GPG-KEY-a-0"};
    first.repository.priority = 5;
    first.inline_keys = {"key"};
    DeviceRepository second = first;
    second.repository.id = "b";
    second.repository.gpgkeys.clear();
    second.inline_keys.clear();
    second.repository.repo_gpgcheck = false;
    second.repository.enabled = false;
    second.repository.priority = 99;
    second.repository.module_hotfixes = true;
    add_device_repositories(ctx, {first, second}, "9.4", tree);
    EXPECT_EQ(text("/etc/yum.repos.d/extra.repo"),
              "[a]\nname=A\nbaseurl=https://e/1 https://e/2\nenabled=1\ngpgcheck=1\n"
              "repo_gpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-a-0\nsslverify=1\n"
              "priority=5\n\n[b]\nname=A\nbaseurl=https://e/1 https://e/2\nenabled=0\ngpgcheck=1\n"
              "repo_gpgcheck=0\nsslverify=1\nmodule_hotfixes=1\n");
    EXPECT_EQ(text("/etc/pki/rpm-gpg/RPM-GPG-KEY-a-0"), "key\n");
    EXPECT_EQ(text("/etc/dnf/vars/releasever"), "9.4\n");
}

TEST_F(Device, KeysOfRepositoriesAreKeys) {
    DeviceRepository device;
    device.filename = "a.repo";
    device.repository.id = "a";
    device.repository.location = {"b.toml", 3, 1};
    device.inline_keys = {
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n-----END PGP PUBLIC KEY BLOCK-----\n"};
    EXPECT_TRUE(error_of([&] {
                    Mistakes mistakes;
                    check_inline_keys({device}, mistakes);
                    mistakes.throw_any("");
                }).starts_with("b.toml:3:1: gpgkeys of repository \"a\""));
    device.inline_keys.clear();
    device.repository.gpgkeys = {"file:///etc/pki/rpm-gpg/KEY", "file:///var/lib/site/KEY"};
    device.repository.gpgcheck = true;
    const std::size_t before = ctx.console->warnings().size();
    add_device_repositories(ctx, {device}, "", tree);
    ASSERT_EQ(ctx.console->warnings().size(), before + 1);
    EXPECT_TRUE(ctx.console->warnings().back().starts_with(
        "b.toml:3:1: the image has no /etc/pki/rpm-gpg/KEY, with which devices verify"));
    file("/etc/pki/rpm-gpg/KEY", "<html>not found</html>\n");
    EXPECT_TRUE(error_of([&] {
                    add_device_repositories(ctx, {device}, "", tree);
                }).starts_with("b.toml:3:1: /etc/pki/rpm-gpg/KEY of repository \"a\""));
    device.repository.gpgcheck = device.repository.repo_gpgcheck = false;
    EXPECT_EQ(error_of([&] { add_device_repositories(ctx, {device}, "", tree); }), "");
}

TEST(IniValue, IsSetInItsSectionAndNowhereElse) {
    const std::string text = "# top\n[main]\n#enabled=0\nenabled = 0\n\n[other]\nenabled=0\n";
    EXPECT_EQ(with_ini_value(text, "main", "enabled", "1"),
              "# top\n[main]\n#enabled=0\nenabled=1\n\n[other]\nenabled=0\n");
    EXPECT_EQ(with_ini_value(text, "main", "new", "1"),
              "# top\n[main]\n#enabled=0\nenabled = 0\nnew=1\n\n[other]\nenabled=0\n");
    EXPECT_EQ(with_ini_value("", "main", "enabled", "1"), "[main]\nenabled=1\n");
}

TEST_F(Device, SubscriptionNeedsItsFiles) {
    blueprint.subscription.emplace();
    blueprint.subscription->location = {"b.toml", 4, 1};
    blueprint.subscription->manage_repos = false;
    EXPECT_EQ(error_of([&] { set_subscription(ctx, blueprint.subscription, tree); }),
              "b.toml:4:1: the image has no /etc/rhsm/rhsm.conf|add the package "
              "subscription-manager (and its plugins for dnf)");
    file("/etc/rhsm/rhsm.conf", "[rhsm]\nmanage_repos = 1\n", 0640);
    set_subscription(ctx, blueprint.subscription, tree);
    EXPECT_EQ(text("/etc/rhsm/rhsm.conf"), "[rhsm]\nmanage_repos=0\n");
    EXPECT_EQ(tree.entries.at("/etc/rhsm/rhsm.conf").mode, 0640U);
}

TEST_F(Device, ImageStoreIsForRootAndUsers) {
    file("/usr/share/containers/storage.conf",
         "[storage]\ndriver = \"overlay\"\nrootless_storage_path = \"/data/$USER\"\n");
    file("/usr/share/containers/storage.conf.d/00-vendor.conf",
         "[storage.options]\nadditionalimagestores = [\"/usr/lib/containers/storage\"]\n");
    file("/etc/containers/storage.conf.d/10-more.conf",
         "[storage.options]\nadditionalimagestores = [\"/b\", {append=true}]\n");
    file("/etc/containers/storage.conf.d/README", "no TOML");
    add_container_store(ctx, "/usr/share/store", tree);
    EXPECT_EQ(text("/etc/containers/storage.conf"),
              "[storage]\ndriver = \"overlay\"\nrootless_storage_path = \"/data/$USER\"\n\n"
              "[storage.options]\nadditionalimagestores = [\"/usr/share/store\"]\n");
    EXPECT_EQ(text("/usr/share/containers/storage.conf.d/00-vendor.conf"),
              "[storage.options]\n"
              "additionalimagestores = [\"/usr/share/store\", \"/usr/lib/containers/storage\"]\n");
    EXPECT_EQ(text("/etc/containers/storage.conf.d/10-more.conf"),
              "[storage.options]\nadditionalimagestores = [\"/b\", {append=true}]\n");
    const std::string user = text("/usr/share/edgegpu/user-storage.conf");
    EXPECT_NE(user.find("rootless_storage_path = \"/data/$USER\"\n"), std::string::npos);
    EXPECT_NE(user.find("additionalimagestores = [\"/usr/share/store\"]\n"), std::string::npos);
    EXPECT_NE(text("/usr/share/edgegpu/user-containers.conf")
                  .find("\nL %h/.config/containers/storage.conf - - - - "
                        "/usr/share/edgegpu/user-storage.conf\n"),
              std::string::npos);
    EXPECT_NE(
        text("/usr/lib/systemd/user/edgegpu-containers.service")
            .find("systemd-tmpfiles --user --create /usr/share/edgegpu/user-containers.conf\n"),
        std::string::npos);
    const char* wants = "/usr/lib/systemd/user/basic.target.wants/edgegpu-containers.service";
    ASSERT_TRUE(tree.entries.contains(wants));
    EXPECT_EQ(tree.entries.at(wants).target, "../edgegpu-containers.service");
}

TEST_F(Device, ImageStoreHasTheLocksOfAReadOnlyOne) {
    add_container_store(ctx, "/usr/share/containers/storage", tree);
    EXPECT_NE(text("/etc/containers/storage.conf").find("graphroot"), std::string::npos);
    EXPECT_EQ(text("/usr/share/containers/storage/overlay-images/images.lock"), "");
    EXPECT_EQ(text("/usr/share/containers/storage/overlay-layers/layers.lock"), "");
}

TEST_F(Device, FirstBootScriptsRunInOrderOnce) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    file("/usr/bin/sh", "", 0755);
    link("/bin", "usr/bin");
    blueprint.firstboot = {{"one", "#!/bin/sh\nexit 0\n", {"a"}, {}, false, {}},
                           {"two", "#! /bin/sh -e\n", {"a.service"}, {"b.service"}, true, {}}};
    add_firstboot(ctx, blueprint.firstboot, tree);
    const std::string unit = text("/usr/lib/systemd/system/edgegpu-firstboot.service");
    EXPECT_NE(unit.find("ConditionPathExists=!/var/lib/edgegpu/firstboot.done\n"),
              std::string::npos);
    EXPECT_NE(unit.find("After=network-online.target a.service\nBefore=b.service\n"),
              std::string::npos);
    EXPECT_NE(unit.find("ExecStartPre=/usr/bin/touch /var/lib/edgegpu/firstboot.done\n"
                        "ExecStart=/usr/libexec/edgegpu/firstboot/01-one\n"
                        "ExecStart=-/usr/libexec/edgegpu/firstboot/02-two\n"),
              std::string::npos);
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/firstboot/01-one").mode, 0700U);
    EXPECT_EQ(
        tree.entries.at("/usr/lib/systemd/system/multi-user.target.wants/edgegpu-firstboot.service")
            .target,
        "../edgegpu-firstboot.service");
    blueprint.firstboot[0].contents = "#!/usr/bin/perl\n";
    blueprint.firstboot[0].location = {"b.toml", 4, 1};
    EXPECT_EQ(
        error_of([&] { add_firstboot(ctx, blueprint.firstboot, tree); }),
        "b.toml:4:1: the image has no '/usr/bin/perl', which runs first boot script 'one'|add "
        "the package that contains it");
}

TEST_F(Device, WhatNeedsAPackageSaysWhich) {
    blueprint.path = "b.toml";
    blueprint.fips.enabled = true;
    blueprint.fips.location = {"b.toml", 7, 1};
    EXPECT_EQ(error_of([&] { set_fips(ctx, blueprint.fips, blueprint.kernel.arguments, tree); }),
              "b.toml:7:1: the image has no crypto policy FIPS|add the packages "
              "crypto-policies and crypto-policies-scripts");
    file("/usr/share/crypto-policies/FIPS/openssl.txt", "x");
    EXPECT_EQ(error_of([&] { set_fips(ctx, blueprint.fips, blueprint.kernel.arguments, tree); }),
              "b.toml:7:1: the image's dracut has no module fips|add the package "
              "dracut (or dracut-fips, where that is a separate package)");
    EXPECT_EQ(error_of([&] {
                  add_trust(ctx, {authority_certificate}, {"b.toml", 9, 1}, {}, tree);
              }),
              "b.toml:9:1: the image has no update-ca-trust to generate its certificate bundles"
              "|add the package ca-certificates");
    blueprint.firewall.emplace();
    blueprint.firewall->location = {"b.toml", 3, 1};
    set_firewall(ctx, blueprint.firewall, tree);  // an empty table asks for nothing
    blueprint.firewall->zones = {{"internal", {"ipset:none"}}};
    file("/usr/bin/firewall-offline-cmd", "", 0755);
    EXPECT_THAT(error_of([&] { set_firewall(ctx, blueprint.firewall, tree); }),
                testing::HasSubstr("b.toml:3:1: the image's firewalld has no set 'none', a source "
                                   "of zone 'internal'"));
    remove_entry(tree, "/usr/bin/firewall-offline-cmd");
    blueprint.firewall->zones.clear();
    blueprint.firewall->enabled_services = {"htpp"};
    EXPECT_EQ(error_of([&] { set_firewall(ctx, blueprint.firewall, tree); }),
              "b.toml:3:1: the image has no firewalld|add the package firewalld");
    file("/usr/bin/firewall-offline-cmd", "", 0755);
    file("/usr/lib/firewalld/services/http.xml", "");
    EXPECT_EQ(error_of([&] { set_firewall(ctx, blueprint.firewall, tree); }),
              "b.toml:3:1: the image's firewalld has no service 'htpp'|did you mean 'http'?");
}

TEST_F(Device, SourcesOfMicroshiftAreTrustedUnlessTheyHaveAZone) {
    const SourceLocation location{"b.toml", 9, 1};
    const std::vector<std::string> sources{"10.42.0.0/16", "169.254.169.1", "fd01::/48"};
    const auto trusted = [&] {
        return with_trusted_sources(ctx, blueprint.firewall, sources, location, tree);
    };
    EXPECT_FALSE(trusted()) << "no firewalld";
    file("/usr/bin/firewall-offline-cmd", "", 0755);
    EXPECT_FALSE(with_trusted_sources(ctx, std::nullopt, {}, location, tree));
    ASSERT_TRUE(trusted());
    EXPECT_EQ(trusted()->location.line, 9U);
    EXPECT_EQ(trusted()->zones.at("trusted"), sources);
    blueprint.firewall.emplace();
    blueprint.firewall->location = {"b.toml", 3, 1};
    blueprint.firewall->ports = {"22:tcp"};
    blueprint.firewall->zones["trusted"] = {"10.42.0.0/16"};
    blueprint.firewall->zones["internal"] = {"fd01::/48"};
    EXPECT_EQ(trusted()->zones.at("trusted"),
              (std::vector<std::string>{"10.42.0.0/16", "169.254.169.1"}));
    EXPECT_EQ(trusted()->zones.at("internal"), (std::vector<std::string>{"fd01::/48"}));
    EXPECT_EQ(trusted()->location.line, 3U);
    blueprint.firewall->zones.clear();
    file("/usr/lib/firewalld/zones/trusted.xml", "<zone/>");
    file("/etc/firewalld/zones/trusted.xml",
         "<zone><source address=\"10.42.0.0/16\"/><source address='169.254.169.1'/></zone>");
    file("/usr/lib/firewalld/zones/work.xml", "<zone><source address=\"fd01::/48\"/></zone>");
    file("/etc/firewalld/zones/work.xml", "<zone/>");
    EXPECT_EQ(trusted()->zones,
              (std::map<std::string, std::vector<std::string>>{{"trusted", {"fd01::/48"}}}));
}

TEST_F(Device, FipsIsPolicyKernelArgumentAndInitramfs) {
    file("/usr/share/crypto-policies/FIPS/openssl.txt", "x");
    file("/usr/lib/dracut/modules.d/11fips/module-setup.sh", "");
    blueprint.fips.enabled = true;
    EXPECT_THAT(error_of([&] { set_fips(ctx, blueprint.fips, {}, tree); }),
                testing::HasSubstr("/.vmlinuz.hmac, by which dracut's module fips verifies"));
    file("/usr/lib/modules/" + tree.kernel + "/.vmlinuz.hmac", "");
    file("/etc/os-release", "PLATFORM_ID=\"platform:el8\"\n");
    tree.kernel_arguments = {"quiet"};
    set_fips(ctx, blueprint.fips, blueprint.kernel.arguments, tree);
    EXPECT_EQ(tree.kernel_arguments, (std::vector<std::string>{"quiet", "fips=1"}));
    EXPECT_EQ(tree.entries.at("/etc/crypto-policies/back-ends/openssl.config").target,
              "/usr/share/crypto-policies/FIPS/openssl.txt");
    EXPECT_EQ(text("/etc/crypto-policies/config"), "FIPS\n");
    EXPECT_EQ(text("/usr/lib/dracut/dracut.conf.d/90-edgegpu-fips.conf"),
              "add_dracutmodules+=\" fips \"\n");
    EXPECT_EQ(text("/etc/system-fips"), "# FIPS module installation complete\n");
    blueprint.kernel.arguments = {"fips=0"};
    EXPECT_NE(error_of([&] {
                  set_fips(ctx, blueprint.fips, blueprint.kernel.arguments, tree);
              }).find("says fips=0"),
              std::string::npos);
}

TEST_F(Device, FipsNeedsDracutsModule) {
    file("/usr/share/crypto-policies/FIPS/openssl.txt", "x");
    for (const char* other : {"01fips-crypto-policies", "fips", "01fips/more", "x1fips"}) {
        file(fmt::format("/usr/lib/dracut/modules.d/{}/module-setup.sh", other), "");
    }
    blueprint.fips.enabled = true;
    EXPECT_NE(error_of([&] {
                  set_fips(ctx, blueprint.fips, {}, tree);
              }).find("the image's dracut has no module fips"),
              std::string::npos);
}

TEST_F(Device, FilesOfTheBuilderAreCopied) {
    directory("/etc");
    host_file("source", "of the builder", 0600);
    FileRequest request;
    request.path = "/etc/a";
    request.source = scratch / "source";
    blueprint.files = {request};
    add_files(ctx, take_snapshot(ctx, blueprint).files, modes, tree);
    EXPECT_EQ(text("/etc/a"), "of the builder");
    EXPECT_EQ(tree.entries.at("/etc/a").mode, 0644U);
}

TEST(CertificateSerial, NamesTheFile) {
    EXPECT_EQ(certificate_serial(authority_certificate), "1a2b3c");
}

}  // namespace
}  // namespace edgegpu::test
