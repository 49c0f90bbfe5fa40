#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "resolve/gpu/nvidia.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/explain_package.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "unit/resolve_nvidia_fixture.hpp"

namespace edgegpu {
namespace {

using test::ResolveNvidia;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

TEST_F(ResolveNvidia, ADriverThatTheBlueprintRulesOutIsPassedOverForThatReason) {
    add(driver("570.1"));
    add(driver("570.2"));
    add(driver("570.3"));
    add({kmod("570.1", "300"), kmod("570.2", "300"),
         "app-1-1.x86_64 | conflicts: nvidia-driver-cuda = 3:570.2"});
    blueprint_.packages.push_back({"app", {"/blueprint.toml", 9, 5}});
    solve();
    EXPECT_EQ(resolution_.driver_version, "570.1");
    EXPECT_THAT(passed_over(),
                ElementsAre("nvidia driver 570.3 passed over: it has no kernel module that fits "
                            "kernel-core-5.14.0-300.el9.x86_64",
                            HasSubstr("nvidia driver 570.2 passed over: package app-1-1.x86_64 "
                                      "conflicts with nvidia-driver-cuda = 3:570.2")));
}

TEST_F(ResolveNvidia, ADriverWithoutSourcesIsPassedOverForThatReason) {
    add(compilers);
    add(driver("570.1"));
    add(driver("570.2"));
    add({sources("570.1")});
    nvidia().modules = DriverModules::dkms;
    solve();
    EXPECT_EQ(resolution_.driver_version, "570.1");
    EXPECT_THAT(passed_over(),
                ElementsAre("nvidia driver 570.2 passed over: it has no kmod sources"));
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

TEST_F(ResolveNvidia, UpdateKeepsWhatWasPassedOverWhileKernelAndDriverStay) {
    add(driver("570.1"));
    add({kmod("570.1", "200"), "tool-1-1.x86_64"});
    blueprint_.packages.push_back({"tool", {"/blueprint.toml", 9, 5}});
    solve();
    const Resolution locked = resolution_;
    const std::vector<std::string> reasons = passed_over();
    ASSERT_THAT(reasons, ElementsAre(HasSubstr("kernel-core-5.14.0-300.el9.x86_64 passed over")));
    add({"tool-2-1.x86_64"});
    solve();
    resolution_ = resolve_update(ctx_, blueprint_, locked, {"tool"});
    EXPECT_THAT(texts(resolution_.packages), Contains("tool-2-1.x86_64"));
    EXPECT_EQ(passed_over(), reasons);
    add({kmod("570.1", "300")});
    solve();
    resolution_ = resolve_update(ctx_, blueprint_, locked, {"kernel*", "kmod*"});
    EXPECT_THAT(texts(resolution_.packages), Contains("kernel-core-5.14.0-300.el9.x86_64"));
    EXPECT_THAT(passed_over(), IsEmpty());
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
    EXPECT_THAT(failure(),
                HasSubstr("NVIDIA driver 570 does not support Tesla K80 (10de:102d): its "
                          "last branch is 470"));
}

TEST_F(ResolveNvidia, AModuleOfThePlainKernelDoesNotFitAVariantOfTheSameVersion) {
    add(driver("570.1"));
    add({kmod("570.1", "300"),
         "kernel-rt-core-5.14.0-300.el9.x86_64 | provides: "
         "kernel-uname-r = 5.14.0-300.el9.x86_64+rt"});
    blueprint_.kernel.name = "kernel-rt";
    EXPECT_THAT(failure(), HasSubstr("kernel kernel-rt-core-5.14.0-300.el9.x86_64 has no module "
                                     "of NVIDIA driver 570"));
    add(
        {"kmod-nvidia-570.1-5.14.0-300-rt-3:570.1-3.el9.x86_64 | provides: nvidia-kmod = 3:570.1, "
         "kernel-modules = 5.14.0-300.el9.x86_64+rt"});
    EXPECT_THAT(solve(), Contains("kmod-nvidia-570.1-5.14.0-300-rt-3:570.1-3.el9.x86_64"));
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
