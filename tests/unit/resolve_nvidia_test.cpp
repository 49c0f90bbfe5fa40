#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "resolve/gpu/nvidia.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/explain_package.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using test::make_metadata;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// kernel-core and kernel-devel of 5.14.0-RELEASE.el9.
std::vector<std::string> kernel_packages(const std::string& release) {
    const std::string evr = "5.14.0-" + release + ".el9";
    return {"kernel-core-" + evr + ".x86_64 | provides: kernel = " + evr +
                ", kernel-uname-r = " + evr + ".x86_64",
            "kernel-devel-" + evr + ".x86_64 | requires: gcc, make"};
}

/// User space of a driver version as it is from branch 560 on.
std::vector<std::string> driver(const std::string& version) {
    const std::string evr = "3:" + version;
    return {"nvidia-driver-cuda-" + evr + "-1.x86_64 | requires: nvidia-kmod-common = " + evr +
                ", nvidia-persistenced = " + evr + ", nvidia-driver-firmware = " + evr,
            "nvidia-kmod-common-" + evr + "-1.noarch | requires: nvidia-kmod = " + evr,
            "nvidia-persistenced-" + evr + "-1.x86_64",
            "nvidia-driver-firmware-" + evr + "-1.noarch"};
}

std::string kmod(const std::string& version, const std::string& release,
                 const std::string& open = "") {
    return "kmod-nvidia-" + open + version + "-5.14.0-" + release + "-3:" + version +
           "-3.el9.x86_64 | provides: nvidia-kmod = 3:" + version;
}

std::string sources(const std::string& version, const std::string& kind = "open") {
    return "kmod-nvidia-" + kind + "-dkms-3:" + version +
           "-1.noarch | provides: nvidia-kmod = 3:" + version +
           " | requires: dkms, nvidia-kmod-common = 3:" + version;
}

const std::vector<std::string> compilers{
    "gcc-11-1.x86_64 | requires: glibc-devel", "glibc-devel-2-1.x86_64", "make-4-1.x86_64",
    "dkms-3-1.noarch | requires: gcc, make", "elfutils-libelf-devel-1-1.x86_64"};

std::string advisory(const std::string& id, const std::string& severity, const std::string& release,
                     const std::string& name = "kernel-core") {
    return "<update from=\"x\" status=\"final\" type=\"security\" version=\"1\"><id>" + id +
           "</id><title>x</title><severity>" + severity +
           "</severity><references><reference href=\"x\" id=\"CVE-2024-" + release +
           "\" type=\"cve\"/></references><pkglist><collection short=\"x\"><name>x</name>"
           "<package name=\"" +
           name + "\" epoch=\"0\" version=\"5.14.0\" release=\"" + release +
           ".el9\" arch=\"x86_64\"><filename>x.rpm</filename></package></collection></pkglist>"
           "</update>";
}

/// A repository "nvidia" without modules, as on RHEL 10; kernels 100, 200 and 300.
class ResolveNvidia : public test::ResolveFixture {
protected:
    ResolveNvidia() : ResolveFixture({"nvidia"}) {
        NvidiaRequest wanted;
        wanted.driver = "570";
        wanted.location = {"/blueprint.toml", 7, 1};
        blueprint_.nvidia = wanted;
        for (const char* release : {"100", "200", "300"}) {
            add(kernel_packages(release));
        }
    }

    void add(const std::vector<std::string>& lines) {
        packages_.insert(packages_.end(), lines.begin(), lines.end());
    }
    NvidiaRequest& nvidia() { return *blueprint_.nvidia; }

    /// Resolves; returns the packages' NEVRAs.
    std::vector<std::string> solve() {
        make_metadata(directory_.path() / "nvidia", packages_, modules_, "", updateinfo_);
        resolution_ = resolve(ctx_, blueprint_);
        return texts(resolution_.packages);
    }
    std::string failure() {
        try {
            solve();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
            return problem.render();
        }
        return "solved";
    }
    static std::vector<std::string> texts(const std::vector<ResolvedPackage>& packages) {
        std::vector<std::string> names;
        for (const ResolvedPackage& package : packages) {
            names.push_back(package.nevra.text());
        }
        return names;
    }
    /// One line a passed over thing.
    std::vector<std::string> passed_over() const {
        std::vector<std::string> lines;
        for (const PassedOver& passed : resolution_.passed_over) {
            lines.push_back(passed.text());
        }
        return lines;
    }

    std::vector<std::string> packages_;
    std::string modules_;
    std::string updateinfo_;
    Resolution resolution_;
};

TEST_F(ResolveNvidia, VersionedPackagesWithoutModulesArePaired) {
    add(driver("570.1"));
    add(driver("570.2"));
    add({kmod("570.1", "100"), kmod("570.2", "200")});
    EXPECT_THAT(solve(), ElementsAre("kernel-core-5.14.0-200.el9.x86_64",
                                     "kmod-nvidia-570.2-5.14.0-200-3:570.2-3.el9.x86_64",
                                     "nvidia-driver-cuda-3:570.2-1.x86_64",
                                     "nvidia-driver-firmware-3:570.2-1.noarch",
                                     "nvidia-kmod-common-3:570.2-1.noarch",
                                     "nvidia-persistenced-3:570.2-1.x86_64"));
    EXPECT_EQ(resolution_.driver_version, "570.2");
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::proprietary);
    EXPECT_FALSE(resolution_.dkms_source);
}

TEST_F(ResolveNvidia, EveryPartOfTheDriverHasItsVersion) {
    add(driver("570.1"));
    add(driver("570.2"));
    add({kmod("570.1", "300"), "tool-1-1.x86_64 | requires: nvidia-driver-firmware",
         "firm-1-1.x86_64 | requires: nvidia-driver-firmware = 3:570.2"});
    blueprint_.packages.push_back({"tool", {"/blueprint.toml", 9, 5}});
    EXPECT_THAT(solve(), Contains("nvidia-driver-firmware-3:570.1-1.noarch"));
    blueprint_.packages.push_back({"firm", {"/blueprint.toml", 9, 5}});
    EXPECT_THAT(failure(), HasSubstr("firm-1-1.x86_64 requires nvidia-driver-firmware = 3:570.2, "
                                     "which fits neither kernel nor driver"));
}

TEST_F(ResolveNvidia, OlderDriverForTheNewestKernelIsReported) {
    add(driver("570.1"));
    add(driver("570.2"));
    add({kmod("570.1", "300"), kmod("570.2", "100")});
    solve();
    EXPECT_EQ(resolution_.driver_version, "570.1");
    EXPECT_THAT(passed_over(), ElementsAre("nvidia driver 570.2 passed over: it has no kernel "
                                           "module that fits kernel-core-5.14.0-300.el9.x86_64"));
}

TEST_F(ResolveNvidia, PassedOverKernelsNameTheAdvisoriesThatTheyCost) {
    add(driver("570.1"));
    add({kmod("570.1", "100")});
    updateinfo_ =
        "<updates>" + advisory("SA-1", "Low", "100") + advisory("SA-2", "Moderate", "150") +
        advisory("SA-3", "Important", "300") + advisory("SA-4", "Critical", "200", "openssl") +
        advisory("SA-5", "None", "200", "kernel") + advisory("SA-6", "Low", "400") + "</updates>";
    solve();
    EXPECT_THAT(
        passed_over(),
        ElementsAre(
            "kernel kernel-core-5.14.0-300.el9.x86_64 passed over: no nvidia kmod of driver "
            "570; the image misses its security fixes: SA-3 (Important)",
            "kernel kernel-core-5.14.0-200.el9.x86_64 passed over: no nvidia kmod of driver "
            "570; the image misses its security fixes: SA-2 (Moderate), SA-5"));
    EXPECT_THAT(resolution_.passed_over.at(0).advisories.at(0).cves, ElementsAre("CVE-2024-300"));
}

TEST_F(ResolveNvidia, KernelThatOnlyTheBlueprintRulesOutIsPassedOver) {
    add(driver("570.1"));
    add({kmod("570.1", "300"), kmod("570.1", "200"),
         "app-1-1.x86_64 | conflicts: kernel-core = 5.14.0-300.el9"});
    blueprint_.packages.push_back({"app", {"/blueprint.toml", 9, 5}});
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-200.el9.x86_64"));
    ASSERT_EQ(passed_over().size(), 1U);
    EXPECT_THAT(passed_over()[0],
                HasSubstr("kernel-core-5.14.0-300.el9.x86_64 passed over: package app-1-1.x86_64 "
                          "conflicts with kernel-core = 5.14.0-300.el9"));
}

TEST_F(ResolveNvidia, KernelMayBeAGlob) {
    add(driver("570.1"));
    add({kmod("570.1", "300"), kmod("570.1", "200"), kmod("570.1", "100")});
    nvidia().kernel = KernelChoice::parse("kernel-5.14.0-2*");
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-200.el9.x86_64"));
    EXPECT_THAT(passed_over(), IsEmpty());
}

TEST_F(ResolveNvidia, FlavorsAreTakenApart) {
    add(driver("570.1"));
    add({kmod("570.1", "200"), kmod("570.1", "200", "open-"), kmod("570.1", "300")});
    EXPECT_THAT(solve(), Contains("kmod-nvidia-570.1-5.14.0-300-3:570.1-3.el9.x86_64"));
    nvidia().flavor = DriverFlavor::open;
    EXPECT_THAT(solve(), Contains("kmod-nvidia-open-570.1-5.14.0-200-3:570.1-3.el9.x86_64"));
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::open);
    EXPECT_THAT(passed_over(), ElementsAre(HasSubstr("no open nvidia kmod of driver 570")));
    nvidia().flavor = DriverFlavor::automatic;
    nvidia().devices = {"10de:2901"};
    EXPECT_THAT(solve(), Contains("kernel-core-5.14.0-200.el9.x86_64"));
}

TEST_F(ResolveNvidia, OpenModulesArePreferredFromBranch560On) {
    add(driver("570.1"));
    add(driver("550.1"));
    for (const char* version : {"570.1", "550.1"}) {
        add({kmod(version, "300"), kmod(version, "300", "open-")});
    }
    solve();
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::open);
    nvidia().driver = "550";
    solve();
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::proprietary);
}

TEST_F(ResolveNvidia, LatestIsTheNewestDriverThatFits) {
    add(driver("570.1"));
    add(driver("550.1"));
    add({kmod("570.1", "300"), kmod("550.1", "300")});
    nvidia().driver = "latest";
    solve();
    EXPECT_EQ(resolution_.driver_version, "570.1");
    nvidia().devices = {"10de:102d"};
    EXPECT_THAT(failure(), HasSubstr("NVIDIA driver 570 does not drive Tesla K80 (10de:102d): its "
                                     "last branch is 470"));
}

TEST_F(ResolveNvidia, AModuleOfThePlainKernelDoesNotFitAVariantOfTheSameVersion) {
    add(driver("570.1"));
    add({kmod("570.1", "300"),
         "kernel-rt-core-5.14.0-300.el9.x86_64 | provides: "
         "kernel-uname-r = 5.14.0-300.el9.x86_64+rt"});
    blueprint_.kernel_name = "kernel-rt";
    EXPECT_THAT(failure(), HasSubstr("kernel kernel-rt-core-5.14.0-300.el9.x86_64 has no module "
                                     "of NVIDIA driver 570"));
    add(
        {"kmod-nvidia-570.1-5.14.0-300-rt-3:570.1-3.el9.x86_64 | provides: nvidia-kmod = 3:570.1, "
         "kernel-modules = 5.14.0-300.el9.x86_64+rt"});
    EXPECT_THAT(solve(), Contains("kmod-nvidia-570.1-5.14.0-300-rt-3:570.1-3.el9.x86_64"));
}

TEST_F(ResolveNvidia, DkmsTakesTheNewestKernelAndKeepsTheCompilerOutOfTheImage) {
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

TEST_F(ResolveNvidia, DkmsNeedsTheKernelsOwnDevelPackage) {
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

TEST_F(ResolveNvidia, AutoCompilesOnlyWhereNothingPrecompiledFits) {
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

TEST_F(ResolveNvidia, NothingThatProvidesModulesGetsInWithoutBeingAskedFor) {
    add(compilers);
    add({sources("570.1"), "app-1-1.x86_64 | requires: nvidia-kmod"});
    add(driver("570.1"));
    blueprint_.nvidia.reset();
    blueprint_.packages.push_back({"app", {"/blueprint.toml", 9, 5}});
    EXPECT_EQ(failure(), "solved");
    EXPECT_THAT(texts(resolution_.packages), Contains("kmod-nvidia-open-dkms-3:570.1-1.noarch"));
}

TEST_F(ResolveNvidia, UpdateMovesWhatCompilesModulesOnlyIfNamed) {
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

TEST_F(ResolveNvidia, WhySaysWhatCompiledModulesComeFrom) {
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

TEST_F(ResolveNvidia, ALockfileOfCompiledModulesIsReadBackAndConfirmed) {
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

std::string module_document(const std::string& stream, const std::vector<std::string>& artifacts,
                            const std::string& profile) {
    std::string text =
        "---\ndocument: modulemd\nversion: 2\ndata:\n  name: nvidia-driver\n"
        "  stream: \"" +
        stream +
        "\"\n  version: 20240101000000\n  context: \"1234e56789\"\n  arch: x86_64\n"
        "  summary: x\n  description: x\n  license: {module: [MIT]}\n"
        "  profiles: {ks: {rpms: [" +
        profile + "]}}\n  artifacts:\n    rpms:\n";
    for (const std::string& artifact : artifacts) {
        text += "    - " + artifact + "\n";
    }
    return text;
}

/// The same packages behind module streams, as on RHEL 8 and 9.
class ResolveNvidiaModular : public ResolveNvidia {
protected:
    ResolveNvidiaModular() {
        nvidia().driver = "535";
        add(driver("535.1"));
        add(compilers);
        add({kmod("535.1", "100"), sources("535.1"), sources("535.1", "latest")});
        const std::vector<std::string> user_space{
            "nvidia-driver-cuda-3:535.1-1.x86_64", "nvidia-kmod-common-3:535.1-1.noarch",
            "nvidia-persistenced-3:535.1-1.x86_64", "nvidia-driver-firmware-3:535.1-1.noarch"};
        add_stream("535", user_space, "", "");
        add_stream("535-dkms", user_space, "kmod-nvidia-latest-dkms-3:535.1-1.noarch",
                   ", kmod-nvidia-latest-dkms");
        add_stream("535-open", user_space, "kmod-nvidia-open-dkms-3:535.1-1.noarch",
                   ", kmod-nvidia-open-dkms");
    }

    void add_stream(const std::string& stream, std::vector<std::string> artifacts,
                    const std::string& kmod_artifact, const std::string& in_profile) {
        if (!kmod_artifact.empty()) {
            artifacts.push_back(kmod_artifact);
        }
        modules_ += module_document(stream, artifacts,
                                    "nvidia-driver-cuda, nvidia-kmod-common" + in_profile);
    }
    std::string stream() const { return resolution_.modules.at(0).stream; }
};

TEST_F(ResolveNvidiaModular, APrecompiledModuleMissingFromTheArtifactsIsStillFound) {
    EXPECT_THAT(solve(), Contains("kmod-nvidia-535.1-5.14.0-100-3:535.1-3.el9.x86_64"));
    EXPECT_EQ(stream(), "535");
}

TEST_F(ResolveNvidiaModular, DkmsHasStreamsOfItsOwn) {
    nvidia().modules = DriverModules::dkms;
    EXPECT_THAT(solve(), Not(Contains(HasSubstr("dkms"))));
    EXPECT_EQ(stream(), "535-dkms");
    EXPECT_EQ(resolution_.dkms_source->nevra.name, "kmod-nvidia-latest-dkms");
    nvidia().flavor = DriverFlavor::open;
    solve();
    EXPECT_EQ(stream(), "535-open");
    EXPECT_EQ(resolution_.dkms_source->nevra.name, "kmod-nvidia-open-dkms");
    EXPECT_EQ(resolution_.kernel.release, "300.el9");
}

TEST_F(ResolveNvidiaModular, AutoGoesOnToTheStreamsOfDkms) {
    nvidia().kernel = KernelChoice::parse("newest");
    solve();
    EXPECT_EQ(stream(), "535-dkms");
    nvidia().devices = {"10de:2342"};
    solve();
    EXPECT_EQ(stream(), "535-open");
}

TEST_F(ResolveNvidiaModular, LatestWithoutItsOwnStreamIsTheHighestBranch) {
    nvidia().driver = "latest";
    nvidia().flavor = DriverFlavor::proprietary;
    solve();
    EXPECT_EQ(stream(), "535");
}

TEST_F(ResolveNvidiaModular, AMissingBranchListsTheStreams) {
    nvidia().driver = "470";
    EXPECT_THAT(failure(), HasSubstr("error: module 'nvidia-driver' has no stream '470'"));
    EXPECT_THAT(failure(), HasSubstr("\n  its streams: 535, 535-dkms, 535-open\n"));
}

}  // namespace
}  // namespace edgegpu
