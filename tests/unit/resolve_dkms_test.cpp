#include "resolve/gpu/dkms.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/resolution.hpp"
#include "resolve/stage/explain_package.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "unit/resolve_nvidia_fixture.hpp"

namespace edgegpu {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Kernel modules that are compiled with the image.
class ResolveDkms : public test::ResolveNvidia {};

TEST_F(ResolveDkms, DkmsTakesTheNewestKernelAndKeepsTheCompilerOutOfTheImage) {
    add(driver("570.1"));
    add(compilers);
    add({kmod("570.1", "100"), sources("570.1"), sources("570.1", "latest")});
    nvidia().modules = DriverModules::dkms;
    EXPECT_THAT(
        solve(),
        ElementsAre("kernel-core-5.14.0-300.el9.x86_64", "nvidia-driver-cuda-3:570.1-1.x86_64",
                    "nvidia-driver-firmware-3:570.1-1.noarch",
                    "nvidia-kmod-common-3:570.1-1.noarch", "nvidia-persistenced-3:570.1-1.x86_64"));
    ASSERT_TRUE(resolution_.dkms_source);
    EXPECT_EQ(resolution_.dkms_source->nevra.text(), "kmod-nvidia-open-dkms-3:570.1-1.noarch");
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::open);
    EXPECT_THAT(texts(resolution_.build_root),
                ElementsAre("dkms-3-1.noarch", "elfutils-libelf-devel-1-1.x86_64",
                            "gcc-11-1.x86_64", "glibc-devel-2-1.x86_64",
                            "kernel-devel-5.14.0-300.el9.x86_64", "make-4-1.x86_64"));
    nvidia().flavor = DriverFlavor::proprietary;
    solve();
    EXPECT_EQ(resolution_.dkms_source->nevra.name, "kmod-nvidia-latest-dkms");
}

TEST_F(ResolveDkms, DkmsNeedsTheKernelsOwnDevelPackage) {
    add(driver("570.1"));
    add(compilers);
    add({sources("570.1")});
    std::erase_if(packages_, [](const std::string& line) {
        return line.starts_with("kernel-devel-5.14.0-300");
    });
    nvidia().modules = DriverModules::dkms;
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-200.el9.x86_64"));
    EXPECT_THAT(passed_over(),
                ElementsAre("kernel kernel-core-5.14.0-300.el9.x86_64 passed over: no modules can "
                            "be compiled for it: no repository has "
                            "kernel-devel-5.14.0-300.el9.x86_64"));
    nvidia().kernel = KernelChoice::parse("newest");
    EXPECT_THAT(failure(),
                HasSubstr("error: modules of nvidia driver 570 can be compiled for no kernel\n"
                          "  kernel kernel-core-5.14.0-300.el9.x86_64 passed over: no modules can "
                          "be compiled for it: no repository has "
                          "kernel-devel-5.14.0-300.el9.x86_64"));
}

TEST_F(ResolveDkms, AutoCompilesOnlyWhereNothingPrecompiledFits) {
    add(driver("570.1"));
    add(compilers);
    add({kmod("570.1", "100"), sources("570.1")});
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-100.el9.x86_64"));
    EXPECT_FALSE(resolution_.dkms_source);
    nvidia().kernel = KernelChoice::parse("newest");
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-300.el9.x86_64"));
    EXPECT_TRUE(resolution_.dkms_source);
    nvidia().modules = DriverModules::precompiled;
    EXPECT_THAT(failure(), HasSubstr("kernel kernel-core-5.14.0-300.el9.x86_64 has no module of "
                                     "NVIDIA driver 570"));
}

TEST_F(ResolveDkms, UpdateMovesWhatCompilesModulesOnlyIfNamed) {
    add(driver("570.1"));
    add(compilers);
    add({sources("570.1"), "tool-1-1.x86_64"});
    blueprint_.packages.push_back({"tool", {"/blueprint.toml", 9, 5}});
    nvidia().modules = DriverModules::dkms;
    solve();
    const Resolution locked = resolution_;
    add(driver("570.2"));
    add(kernel_packages("400"));
    add({sources("570.2"), "tool-2-1.x86_64", "gcc-12-1.x86_64 | requires: glibc-devel"});
    solve();
    EXPECT_EQ(resolution_.driver_version, "570.2");
    const auto update = [&](const std::string& pattern) {
        return resolve_update(ctx_, blueprint_, locked, {pattern});
    };
    const Resolution tool = update("tool");
    EXPECT_THAT(texts(tool.packages), Contains("tool-2-1.x86_64"));
    EXPECT_EQ(texts(tool.build_root), texts(locked.build_root));
    ASSERT_TRUE(tool.dkms_source);
    EXPECT_EQ(tool.dkms_source->nevra, locked.dkms_source->nevra);
    EXPECT_EQ(tool.kernel, locked.kernel);
    EXPECT_THAT(texts(update("gcc").build_root), Contains("gcc-12-1.x86_64"));
    const Resolution driver = update("nvidia-driver-cuda");
    EXPECT_EQ(driver.driver_version, "570.2");
    EXPECT_EQ(driver.dkms_source->nevra.version, "570.2");
    EXPECT_EQ(driver.kernel, locked.kernel);
}

TEST_F(ResolveDkms, WhySaysWhatCompiledModulesComeFrom) {
    add(driver("570.1"));
    add(compilers);
    add({sources("570.1")});
    nvidia().modules = DriverModules::dkms;
    solve();
    const PackageAnswer modules = why_package(ctx_, blueprint_, "nvidia-kmod");
    ASSERT_EQ(modules.installed.size(), 1U);
    EXPECT_EQ(modules.installed[0].package.nevra.name, "kmod-nvidia-open-dkms");
    EXPECT_THAT(modules.installed[0].required_by, ElementsAre("nvidia-kmod-common"));
    EXPECT_THAT(why_package(ctx_, blueprint_, "kmod-nvidia-open-dkms").kept_out,
                ElementsAre("kmod-nvidia-open-dkms-3:570.1-1.noarch is what the kernel modules of "
                            "the image are compiled from"));
    EXPECT_THAT(why_package(ctx_, blueprint_, "make").kept_out,
                Contains("make-4-1.x86_64 is only where kernel modules are compiled (compiles "
                         "kernel modules)"));
}

TEST_F(ResolveDkms, ALockfileOfCompiledModulesIsReadBackAndConfirmed) {
    add(driver("570.1"));
    add(compilers);
    add({sources("570.1"), sources("570.1", "latest")});
    updateinfo_ = "<updates>" + advisory("SA-3", "Important", "300") + "</updates>";
    std::erase_if(packages_, [](const std::string& line) {
        return line.starts_with("kernel-devel-5.14.0-300");
    });
    nvidia().modules = DriverModules::dkms;
    solve();
    const auto path = directory_.path() / "lock";
    write_lockfile(path, resolution_);
    const Resolution locked = read_lockfile(path);
    EXPECT_EQ(texts(locked.build_root), texts(resolution_.build_root));
    ASSERT_TRUE(locked.dkms_source);
    EXPECT_EQ(locked.dkms_source->checksum, resolution_.dkms_source->checksum);
    EXPECT_EQ(locked.driver_flavor, DriverFlavor::open);
    ASSERT_EQ(locked.passed_over.size(), 1U);
    EXPECT_EQ(locked.passed_over[0].text(), resolution_.passed_over[0].text());
    EXPECT_EQ(locked.passed_over[0].advisories, resolution_.passed_over[0].advisories);
    nvidia().modules = DriverModules::automatic;
    const Resolution confirmed = resolve_locked(ctx_, blueprint_, locked);
    EXPECT_EQ(texts(confirmed.packages), texts(resolution_.packages));
    EXPECT_EQ(texts(confirmed.build_root), texts(resolution_.build_root));
    nvidia().flavor = DriverFlavor::proprietary;
    nvidia().modules = DriverModules::precompiled;
    try {
        (void)resolve_locked(ctx_, blueprint_, locked);
        ADD_FAILURE() << "accepted";
    } catch (const Error& problem) {
        EXPECT_THAT(problem.render(),
                    HasSubstr("/blueprint.toml:7:1 rules out the locked dkms open kernel modules"));
    }
}

}  // namespace
}  // namespace edgegpu
