#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "integration/resolve_fixture.hpp"
#include "support/error.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

constexpr const char* driver_modules = R"(---
document: modulemd
version: 2
data:
  name: nvidia-driver
  stream: 535
  version: 20240101000000
  context: 1234e56789
  arch: x86_64
  summary: driver
  description: driver
  license: {module: [MIT]}
  profiles:
    default: {rpms: [nvidia-driver, nvidia-kmod-common, cuda-drivers]}
    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}
  artifacts:
    rpms:
    - cuda-drivers-3:535.261.03-1.x86_64
    - nvidia-driver-3:535.261.03-1.x86_64
    - nvidia-driver-3:535.200.01-1.x86_64
    - nvidia-kmod-common-3:535.200.01-1.noarch
    - nvidia-kmod-common-3:535.261.03-1.noarch
---
document: modulemd
version: 2
data:
  name: nvidia-driver
  stream: 550
  version: 20240101000000
  context: 1234e56780
  arch: x86_64
  summary: driver
  description: driver
  license: {module: [MIT]}
  profiles:
    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}
  artifacts:
    rpms:
    - nvidia-driver-3:550.1-1.x86_64
    - nvidia-kmod-common-3:550.1-1.noarch
---
document: modulemd-defaults
version: 1
data:
  module: nvidia-driver
  stream: "550"
...
)";

std::string driver_spec(const std::string& version) {
    return simple_spec("nvidia-driver", version, "1",
                       "Epoch: 3\nRequires: nvidia-kmod-common = 3:" + version + "\n",
                       "%files\n"
                       "%package -n nvidia-kmod-common\nSummary: x\nBuildArch: noarch\n"
                       "Requires: nvidia-kmod = 3:" +
                           version +
                           "\n"
                           "%description -n nvidia-kmod-common\nx\n"
                           "%files -n nvidia-kmod-common\n");
}

std::string kmod_spec(const std::string& version, const std::string& kernel) {
    return simple_spec("kmod-nvidia-" + version + "-" + kernel, version, "3",
                       "Epoch: 3\nProvides: nvidia-kmod = 3:" + version +
                           "\n"
                           "Provides: kernel-modules = " +
                           kernel +
                           ".el9.x86_64\n"
                           "Requires: (kernel = " +
                           kernel + ".el9 if kernel)\n");
}

/// The same with a repository "nvidia".
class ResolveDriver : public test::Resolve {
protected:
    static void SetUpTestSuite() {
        Resolve::SetUpTestSuite();
        make_nvidia(nvidia());
    }

    static fs::path nvidia() { return store_->path() / "nvidia"; }

    static void make_nvidia(const fs::path& repository) {
        for (const char* version : {"535.200.01", "535.261.03", "550.1"}) {
            build_rpm(repository, driver_spec(version));
        }
        build_rpm(repository, kmod_spec("535.200.01", "6.1.0-50"));
        build_rpm(repository, kmod_spec("535.261.03", "6.1.0-50"));
        build_rpm(repository, simple_spec("kmod-nvidia-latest-dkms", "550.1", "1",
                                          "Epoch: 3\nProvides: nvidia-kmod = 3:550.1\n"));
        for (const char* version : {"1.13.5", "1.14.0"}) {
            build_rpm(repository, simple_spec("nvidia-container-toolkit", version, "1",
                                              "Requires: libnvidia-container1 >= 1.13\n"));
            build_rpm(repository, simple_spec("libnvidia-container1", version, "1"));
        }
        build_rpm(repository, simple_spec("cuda-drivers", "535.261.03", "1", "Epoch: 3\n"));
        createrepo(repository, "", driver_modules);
    }

    void want_driver(const std::string& driver) {
        add_repository("nvidia", nvidia());
        NvidiaRequest driver_request;
        driver_request.driver = driver;
        driver_request.location = {"/blueprint.toml", 20, 1};
        blueprint_.nvidia = driver_request;
    }
};

TEST_F(ResolveDriver, DriverPairsWithTheKernelThatHasItsModule) {
    want_driver("535");
    const auto packages = solve();
    EXPECT_EQ(resolution_.kernel.text(), "kernel-core-6.1.0-50.el9.x86_64");
    EXPECT_EQ(resolution_.driver_version, "535.261.03");
    EXPECT_TRUE(packages.contains("kmod-nvidia-535.261.03-6.1.0-50"));
    EXPECT_EQ(packages.at("nvidia-driver").why.text(), "profile nvidia-driver:535/ks");
    EXPECT_EQ(packages.at("nvidia-driver").module, "nvidia-driver:535:20240101000000:1234e56789");
    EXPECT_EQ(packages.at("kernel").nevra.release, "50.el9");
    EXPECT_FALSE(packages.contains("cuda-drivers"));
}

TEST_F(ResolveDriver, ExactDriverVersionIsPinned) {
    want_driver("535.200.01");
    const auto packages = solve();
    EXPECT_EQ(packages.at("nvidia-driver").nevra.version, "535.200.01");
    EXPECT_EQ(packages.at("nvidia-kmod-common").nevra.version, "535.200.01");
    EXPECT_TRUE(packages.contains("kmod-nvidia-535.200.01-6.1.0-50"));
    EXPECT_FALSE(packages.contains("kmod-nvidia-535.261.03-6.1.0-50"));
}

TEST_F(ResolveDriver, NewestKernelWithoutModuleIsAnError) {
    want_driver("535");
    blueprint_.nvidia->kernel = {KernelPolicy::newest, {}};
    const Error problem = failure();
    EXPECT_EQ(problem.message(),
              "kernel kernel-core-6.1.0-56.el9.x86_64 has no module of NVIDIA driver 535");
    ASSERT_FALSE(problem.traces().empty());
    EXPECT_EQ(problem.traces()[0],
              "/blueprint.toml:20:1 requests NVIDIA driver \"535\" with kernel \"newest\"");
}

TEST_F(ResolveDriver, UnknownStreamListsTheStreams) {
    want_driver("470");
    const Error problem = failure();
    EXPECT_EQ(problem.message(), "module 'nvidia-driver' has no stream '470'");
    const std::vector<std::string>& traces = problem.traces();
    EXPECT_NE(std::find(traces.begin(), traces.end(), "its streams: 535, 550"), traces.end());
}

TEST_F(ResolveDriver, ToolkitPartsHaveOneVersion) {
    want_driver("535");
    blueprint_.nvidia->toolkit = "1.13.*";
    const auto packages = solve();
    EXPECT_EQ(packages.at("nvidia-container-toolkit").nevra.version, "1.13.5");
    EXPECT_EQ(packages.at("libnvidia-container1").nevra.version, "1.13.5");
}

}  // namespace
}  // namespace edgegpu
