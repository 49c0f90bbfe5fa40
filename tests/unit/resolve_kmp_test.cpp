#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "resolve/gpu/kmp_name.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using test::ResolveFixture;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A repository of SUSE's shape: kernel-default, and what `add` says. KMPs of other shapes are
/// compared with zypper's choice in tests/integration/zypper_oracle_test.
class ResolveKmp : public ResolveFixture {
protected:
    ResolveKmp() : ResolveFixture({"suse"}) {
        blueprint_.distro = "sles-15.6";
        blueprint_.kernel.name = "kernel-default";
        NvidiaRequest wanted;
        wanted.driver = "550";
        wanted.devices = {"10de:20b7"};
        wanted.location = {"/blueprint.toml", 7, 1};
        wanted.devices_location = {"/blueprint.toml", 9, 1};
        blueprint_.nvidia = wanted;
        packages_ = {
            "kernel-default-6.4.0-150600.23.25.1.x86_64 | provides: kernel-uname-r = "
            "6.4.0-150600.23.25-default"};
    }

    static std::string kmp(const std::string& family, const std::string& driver,
                           const std::string& supplements, const std::string& flavour = "default",
                           const std::string& built_for = "6.4.0_150600.21") {
        return family + "-kmp-" + flavour + "-" + driver + "_k" + built_for +
               "-150600.3.7.x86_64 | supplements: " + supplements;
    }
    static std::string card(const std::string& device) {
        return "modalias(kernel-default:pci:v000010DEd0000" + device + "sv*sd*bc03sc0[02]i00*)";
    }
    static std::string tools(const std::string& driver, const std::string& generation = "G06") {
        return "nvidia-compute-utils-" + generation + "-" + driver + "-1.x86_64";
    }
    void add(const std::string& line) { packages_.push_back(line); }

    std::vector<std::string> solve() {
        test::make_metadata(directory_.path() / "suse", packages_);
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

    std::vector<std::string> packages_;
    Resolution resolution_;
};

constexpr const char* signed_g06 = "nvidia-open-driver-G06-signed";

TEST(KmpName, SaysGenerationAndFlavour) {
    const std::optional<KmpName> name = kmp_name("nvidia-open-driver-G06-signed-cuda-kmp-64kb");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->family, "nvidia-open-driver-G06-signed-cuda-kmp");
    EXPECT_EQ(name->generation, "G06");
    EXPECT_EQ(name->flavour, "64kb");
    EXPECT_TRUE(name->open);
    EXPECT_TRUE(name->compiled);
    const std::optional<KmpName> closed = kmp_name("nvidia-gfxG05-kmp-default");
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->generation, "G05");
    EXPECT_FALSE(closed->open);
    EXPECT_FALSE(closed->compiled);
    for (const char* other : {"nvidia-compute-G06", "drbd-kmp-default", "nvidia-kmp-default",
                              "nvidia-open-driver-G07-signed-kmp-meta", "nvidia-open-G6-kmp-x"}) {
        EXPECT_FALSE(kmp_name(other)) << other;
    }
}

TEST(KmpName, ItsVersionBeginsWithTheDrivers) {
    EXPECT_EQ(driver_of_kmp("550.90.07_k6.4.0_150600.21"), "550.90.07");
    EXPECT_EQ(driver_of_kmp("550.90.07"), "550.90.07");
    EXPECT_EQ(generation_of("x11-video-nvidiaG05"), "G05");
    EXPECT_EQ(generation_of("kernel-firmware-nvidia-gspx-G06"), "G06");
    EXPECT_EQ(generation_of("nvidia-compute-G06-32bit"), "G06");
    EXPECT_EQ(generation_of("nvidia-persistenced"), "");
    EXPECT_EQ(generation_of("G06"), "");
}

TEST_F(ResolveKmp, IsChosenByTheCardAndUserSpaceHasItsVersion) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(kmp("nvidia-open-driver-G06-signed-cuda", "550.127.05", card("2330")));
    add(kmp(signed_g06, "550.90.07", card("20B7"), "azure"));
    add(tools("550.90.07"));
    add(tools("550.127.05"));
    EXPECT_THAT(solve(),
                ElementsAre("kernel-default-6.4.0-150600.23.25.1.x86_64",
                            "nvidia-compute-utils-G06-550.90.07-1.x86_64",
                            "nvidia-open-driver-G06-signed-kmp-default-550.90.07_k6.4.0_150600.21-"
                            "150600.3.7.x86_64"));
    EXPECT_EQ(resolution_.driver_version, "550.90.07");
    EXPECT_EQ(resolution_.driver_flavor, DriverFlavor::open);
    EXPECT_EQ(resolution_.kernel_uname, "6.4.0-150600.23.25-default");
}

TEST_F(ResolveKmp, OtherHardwareAndTheBuildMachinesAreNotSeen) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(tools("550.90.07"));
    add("for-it-1-1.x86_64 | supplements: " + card("20B7"));
    add("for-another-1-1.x86_64 | supplements: " + card("20B8"));
    add("language-1-1.x86_64 | supplements: locale(de)");
    add("disk-1-1.x86_64 | supplements: filesystem(btrfs)");
    blueprint_.weak_dependencies = true;
    EXPECT_THAT(solve(), AllOf(Contains("for-it-1-1.x86_64"), testing::SizeIs(4)));
    blueprint_.nvidia.reset();
    EXPECT_THAT(solve(), testing::SizeIs(1));
}

TEST_F(ResolveKmp, AnotherBlueprintOfTheSameRepositoriesHasItsOwnCards) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(kmp("nvidia-open-driver-G06-signed-cuda", "550.127.05", card("2330")));
    add(tools("550.90.07"));
    add(tools("550.127.05"));
    blueprint_.weak_dependencies = true;
    test::make_metadata(directory_.path() / "suse", packages_);
    Universe universe(ctx_, blueprint_);
    for (const auto& [device, driver] :
         {std::pair("10de:20b7", "550.90.07"), std::pair("10de:2330", "550.127.05"),
          std::pair("10de:20b7", "550.90.07")}) {
        blueprint_.nvidia->devices = {device};
        const Outcome outcome = solve_blueprint(ctx_, universe, blueprint_);
        ASSERT_TRUE(outcome.chosen) << device;
        EXPECT_EQ(outcome.chosen->attempt.driver, driver);
        EXPECT_EQ(outcome.chosen->solution.packages.size(), 3U);
    }
}

TEST_F(ResolveKmp, AModaliasInARichDependencyIsOneToo) {
    add(kmp(signed_g06, "550.90.07",
            "(modalias(pci:v000010DEd000020B7sv*sd*bc03sc0[02]i00*) and kernel-default)"));
    add(tools("550.90.07"));
    for (const char* metadata : {"read", "from the cache"}) {
        EXPECT_THAT(solve(), testing::SizeIs(3)) << metadata;
    }
}

TEST_F(ResolveKmp, WithoutSymbolsItFitsTheServicePackThatItWasBuiltFor) {
    add(kmp(signed_g06, "550.90.07", card("20B7"), "default", "6.4.0_150700.1"));
    add(tools("550.90.07"));
    EXPECT_THAT(failure(), AllOf(HasSubstr("no kernel fits a KMP of nvidia driver 550"),
                                 HasSubstr("_k6.4.0_150700.1-150600.3.7.x86_64 was built for "
                                           "another one")));
}

TEST_F(ResolveKmp, TwoThatFitAreNotGuessed) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(kmp("nvidia-open-driver-G06-signed-cuda", "550.90.07", card("20B7")));
    add(tools("550.90.07"));
    EXPECT_THAT(failure(), AllOf(HasSubstr("2 KMPs of NVIDIA's driver fit: "
                                           "nvidia-open-driver-G06-signed-cuda-kmp-default, "
                                           "nvidia-open-driver-G06-signed-kmp-default"),
                                 HasSubstr("request one of them in [[packages]]")));
    blueprint_.packages.push_back({"nvidia-open-driver-G06-signed-kmp-default", {"b.toml", 3, 1}});
    EXPECT_THAT(solve(), Not(Contains(HasSubstr("cuda"))));
}

TEST_F(ResolveKmp, OthersAreRefusedByName) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(kmp(signed_g06, "550.90.07", card("20B7"), "azure"));
    add(kmp("nvidia-gfxG05", "470.256.02", card("20B7")));
    add(tools("550.90.07"));
    blueprint_.packages.push_back({"nvidia-gfxG05-kmp-default", {"/b.toml", 3, 1}});
    EXPECT_THAT(failure(), AllOf(HasSubstr("nvidia-gfxG05-kmp-default cannot be in the image: its "
                                           "scriptlet compiles the modules"),
                                 HasSubstr("/b.toml:3")));
    blueprint_.packages.back().spec = "nvidia-open-driver-G06-signed-kmp-azure";
    EXPECT_THAT(failure(), HasSubstr("it is for another flavour of the kernel than "
                                     "kernel-default"));
}

TEST_F(ResolveKmp, AFlavourWithoutOneIsAnError) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add("kernel-azure-6.4.0-150600.8.5.1.x86_64 | provides: kernel-uname-r = "
        "6.4.0-150600.8.5-azure");
    add(tools("550.90.07"));
    blueprint_.kernel.name = "kernel-azure";
    EXPECT_THAT(failure(), AllOf(HasSubstr("no KMP of NVIDIA's driver is for kernel-azure"),
                                 HasSubstr("those of the repositories are for: kernel-default")));
}

TEST_F(ResolveKmp, ACardWithoutOneIsNamed) {
    add(kmp(signed_g06, "550.90.07", card("20B7")));
    add(tools("550.90.07"));
    blueprint_.nvidia->devices = {"10de:20b7", "10de:2330"};
    EXPECT_THAT(failure(),
                AllOf(HasSubstr("no KMP of NVIDIA's driver supports 10de:2330"),
                      HasSubstr("10de:20b7 is supported by nvidia-open-driver-G06-signed")));
}

}  // namespace
}  // namespace edgegpu
