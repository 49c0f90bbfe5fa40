#include "resolve/explain/pair.hpp"

#include "unit/explain_fixture.hpp"

namespace edgegpu {
namespace {

/// No kernel and driver that fit.
class ExplainPair : public test::Explain {};

constexpr const char* gpu = "[nvidia]\ndriver = \"535\"\nkernel = \"newest\"      # always\n";

TEST_F(ExplainPair, BranchWithoutKmodForTheWantedKernel) {
    expect_golden("branch-without-kmod", gpu);
}

TEST_F(ExplainPair, ExactDriverWithoutAnyKmod) {
    expect_golden("driver-without-kmod", "[nvidia]\ndriver = \"535.200.01\"\n");
}

TEST_F(ExplainPair, KmodOfAnRtKernel) {
    expect_golden("rt-kernel",
                  "[nvidia]\ndriver = \"535\"\n\n[customizations.kernel]\nname = \"kernel-rt\"\n");
}

TEST_F(ExplainPair, KernelOfARepositoryOfLowerPriority) {
    std::vector<std::string> packages;
    add_kernel(packages, "kernel", "6.6.0-1.el9");
    add_kmod(packages, "535.261.03", "6.6.0-1");
    test::make_metadata(directory_.path() / "kernels", packages);
    expect_golden("repository-priority",
                  repository("kernels", "priority = 200\n") +
                      "[nvidia]\ndriver = \"535\"\nkernel = \"kernel-6.6*\"\n");
}

TEST_F(ExplainPair, GpuThatTheBranchDoesNotDrive) {
    expect_golden("gpu-of-a-later-branch",
                  newer_driver() + "[nvidia]\ndriver = \"550\"\ndevices = [\"10de:2901\"]\n");
}

TEST_F(ExplainPair, GpuThatNoBranchAroundDrives) {
    expect_golden("gpu-of-an-older-branch",
                  "[nvidia]\ndriver = \"550\"\ndevices = [\"10de:20b7\", \"10de:102d\"]\n");
}

TEST_F(ExplainPair, ProprietaryModulesForAGpuThatNeedsTheOpenOnes) {
    expect_golden("gpu-of-the-other-flavor",
                  newer_driver() +
                      "[nvidia]\ndriver = \"570\"\nflavor = \"proprietary\"\n"
                      "devices = [\"10de:2901\"]\n");
}

TEST_F(ExplainPair, ModulesToCompileWithoutTheirSources) {
    expect_golden("no-sources", "[nvidia]\ndriver = \"535\"\nmodules = \"dkms\"\n");
}

TEST_F(ExplainPair, CompilerInADisabledRepository) {
    test::make_metadata(directory_.path() / "tools",
                        {"gcc-12-1.x86_64", "make-4-1.x86_64", "dkms-3-1.noarch",
                         "kernel-devel-6.1.0-56.el9.x86_64"});
    expect_golden("compiler-in-disabled-repository",
                  repository("tools", "enabled = false\n") + newer_driver() +
                      "[nvidia]\ndriver = \"570\"\nmodules = \"dkms\"\n");
}

}  // namespace
}  // namespace edgegpu
