#include "pipeline/inputs.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "pipeline/snapshot.hpp"

namespace edgegpu::test {
namespace {

ResolvedPackage input_package(const std::string& name, const std::string& content) {
    ResolvedPackage result;
    result.nevra = {name, 0, "1", "1", "x86_64"};
    result.checksum.hex = content;
    result.build_time = 7;
    return result;
}

class InputsDigest : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        blueprint.path = scratch / "blueprints/b.toml";
    }
    [[nodiscard]] std::string digest() const {
        return inputs_digest(take_snapshot(ctx, blueprint), resolution, 7);
    }
    Blueprint blueprint;
    Resolution resolution;
};

TEST_F(InputsDigest, WhatTheBlueprintDoesNotSayCountsToo) {
    const std::string certificate = "certificate";
    struct Inputs {
        Resolution resolution;
        std::int64_t time = 7;
        std::string certificate;
    };
    const std::vector<std::function<void(Inputs&)>> changes{
        [](Inputs&) {},
        [](Inputs& i) { i.time = 8; },
        [](Inputs& i) { i.certificate = "other"; },
        [](Inputs& i) { i.certificate.clear(); },
        [](Inputs& i) { i.resolution.packages.push_back(input_package("b", "2")); },
        [](Inputs& i) { i.resolution.packages[0].nevra.epoch = 1; },
        [](Inputs& i) { i.resolution.packages[0].checksum.hex += '0'; },
        [](Inputs& i) { i.resolution.packages.clear(); },
        [](Inputs& i) { i.resolution.dkms_source.reset(); },
        [](Inputs& i) { i.resolution.dkms_source->nevra.version = "2"; },
        [](Inputs& i) { i.resolution.build_root.pop_back(); },
        [](Inputs& i) { i.resolution.policy_root.pop_back(); },
        [](Inputs& i) { i.resolution.policy_root.swap(i.resolution.build_root); },
    };
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        Inputs inputs;
        inputs.certificate = certificate;
        inputs.resolution.packages = {input_package("a", "1")};
        inputs.resolution.dkms_source = input_package("source", "1");
        inputs.resolution.build_root = {input_package("gcc", "1")};
        inputs.resolution.policy_root = {input_package("make", "1")};
        changes[i](inputs);
        const auto [earlier, fresh] = seen.emplace(
            inputs_digest(blueprint, inputs.resolution, inputs.time, inputs.certificate), i);
        EXPECT_TRUE(fresh) << "change " << i << " is not told from " << earlier->second;
    }
}

// Without compiled modules nothing is signed, and the key is of no matter.
TEST_F(InputsDigest, ACertificateCountsWhereItSigns) {
    EXPECT_EQ(inputs_digest(blueprint, resolution, 7, "one"),
              inputs_digest(blueprint, resolution, 7, "two"));
}

TEST_F(InputsDigest, WhyAPackageIsThereAndWhereItLiesDoNotCount) {
    resolution.packages = {input_package("a", "1")};
    const std::string before = digest();
    resolution.packages[0].why = {Reason::Kind::required_by, "x"};
    resolution.packages[0].repository = "mirror";
    resolution.packages[0].location = "elsewhere/a.rpm";
    resolution.advisories.emplace_back().id = "RHSA-2024:1";
    EXPECT_EQ(digest(), before);
}

TEST_F(InputsDigest, NvidiaCountsWithoutPackagesOfItsOwn) {
    const std::string without = digest();
    blueprint.nvidia.emplace().driver = "535";
    const std::string with = digest();
    EXPECT_NE(with, without);
    blueprint.nvidia->driver = "535.261.03";
    EXPECT_EQ(digest(), with);
}

TEST_F(InputsDigest, FilesOfTheBuilderCountByContent) {
    const auto files = [&](const std::string& top) {
        host_file(top + "/file", "one");
        host_file(top + "/overlay/etc/motd", "hello");
        host_file(top + "/bundle/kustomization.yaml", "resources: []");
        host_file(top + "/module.te", "module module 1.0;");
        host_file(top + "/module.fc", "");
        host_file(top + "/key.gpg", "key");
        blueprint.files.resize(1);
        blueprint.files[0].source = scratch / top / "file";
        blueprint.overlays.resize(1);
        blueprint.overlays[0].source = scratch / top / "overlay";
        blueprint.microshift.bundles.resize(1);
        blueprint.microshift.bundles[0].source = scratch / top / "bundle";
        blueprint.selinux.modules = {scratch / top / "module.te"};
        blueprint.ostree.gpg_public_key = scratch / top / "key.gpg";
    };
    files("here");
    const std::string before = digest();
    files("there");
    EXPECT_EQ(digest(), before);
    for (const char* name : {"file", "overlay/etc/motd", "bundle/kustomization.yaml", "module.te",
                             "module.fc", "module.if", "key.gpg", "overlay/etc/new"}) {
        files("there");
        ASSERT_EQ(digest(), before);
        host_file(std::string("there/") + name, "other");
        EXPECT_NE(digest(), before) << name;
        std::filesystem::remove_all(scratch / "there");
    }
}

TEST_F(InputsDigest, TheShippedModuleOfGpuContainersCountsWithItsFiles) {
    host_file("selinux/nvidia-container-microshift.te", "module nvidia-container-microshift 1.0;");
    blueprint.selinux.gpu_containers = true;
    std::string before = digest();
    for (const char* extension : {".te", ".fc", ".if"}) {
        host_file(std::string("selinux/nvidia-container-microshift") + extension, "other");
        EXPECT_NE(digest(), before) << extension;
        before = digest();
    }
}

class ImageTime : public ::testing::Test {
protected:
    ~ImageTime() override { ::unsetenv("SOURCE_DATE_EPOCH"); }
};

TEST_F(ImageTime, IsThatOfTheNewestPackageUnlessItIsGiven) {
    Resolution resolution;
    resolution.packages = {input_package("a", "1"), input_package("b", "1")};
    resolution.packages[0].build_time = 9;
    ::unsetenv("SOURCE_DATE_EPOCH");
    EXPECT_EQ(image_time(resolution), 9);
    ::setenv("SOURCE_DATE_EPOCH", "5", 1);
    EXPECT_EQ(image_time(resolution), 5);
    for (const char* odd : {"-1", "5 ", "5x", " 5", "99999999999999999999"}) {
        ::setenv("SOURCE_DATE_EPOCH", odd, 1);
        EXPECT_EQ(error_of([&] { static_cast<void>(image_time(resolution)); }),
                  fmt::format("SOURCE_DATE_EPOCH: '{}' is not a Unix time|", odd));
    }
}

}  // namespace
}  // namespace edgegpu::test
