#include "resolve/solve/kabi.hpp"

#include "unit/explain_fixture.hpp"

namespace edgegpu {
namespace {

class ResolveKabi : public test::Explain {};

/// Kernels as RHEL's are, with checksums of what they export, and a vendor's module for one of
/// them.
std::string symbols(const std::string& one, const std::string& two) {
    return "kernel(one) = " + one + ", kernel(two) = " + two + ", kernel(three) = 0x33";
}

std::vector<std::string> kernel_with_symbols(const std::string& evr, const std::string& one,
                                             const std::string& two) {
    return {"kernel-core-" + evr + ".x86_64 | provides: kernel-uname-r = " + evr +
                ".x86_64 | files: /lib/modules/" + evr + ".x86_64/vmlinuz",
            "kernel-modules-core-" + evr + ".x86_64 | provides: " + symbols(one, two) +
                " | requires: kernel-core = " + evr};
}

void make_kabi(const std::filesystem::path& repository, const std::string& wanted) {
    std::vector<std::string> packages = kernel_with_symbols("6.2.0-1.el9", "0x11", "0x21");
    for (std::string& line : kernel_with_symbols("6.2.0-2.el9", "0x12", "0x22")) {
        packages.push_back(std::move(line));
    }
    packages.push_back("kmod-fast-1-1.el9.x86_64 | requires: " + wanted + ", kernel-modules-core");
    test::make_metadata(repository, packages);
}

TEST_F(ResolveKabi, ModuleOfAnotherKabi) {
    make_kabi(directory_.path() / "kabi",
              symbols("0x10", "0x20") + ", kernel(four) = 0x44, ksym(five) = 0x55");
    expect_golden("kabi", repository("kabi") + "[[packages]]\nname = \"kmod-fast\"\n");
}

TEST_F(ResolveKabi, ModuleOfTheKabiOfAKernelThatIsExcluded) {
    make_kabi(directory_.path() / "kabi", symbols("0x11", "0x21"));
    expect_golden("kabi-of-an-excluded-kernel",
                  repository("kabi") + "[[packages]]\nname = \"kmod-fast\"\n", false,
                  "excludes = [\"kernel*-6.2.0-1.el9\"]\n");
}

TEST_F(ResolveKabi, ManyKernelsWithManySymbols) {
    const auto many = [](const std::string& checksum) {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            text += "kernel(s" + std::to_string(i) + ") = " + checksum + ", ";
        }
        return text;
    };
    std::vector<std::string> packages;
    for (int i = 10; i < 30; ++i) {
        const std::string evr = "6.2.0-" + std::to_string(i) + ".el9";
        packages.push_back(
            "kernel-core-" + evr + ".x86_64 | provides: " + many("0x" + std::to_string(i)) +
            "kernel-uname-r = " + evr + ".x86_64 | files: /lib/modules/" + evr + ".x86_64/vmlinuz");
    }
    packages.push_back("kmod-fast-1-1.el9.x86_64 | requires: " + many("0x10") + "kernel-core");
    test::make_metadata(directory_.path() / "kabi", packages);
    const Resolution found =
        resolve(ctx_, parse_blueprint(write(head() + repository("kabi") +
                                            "[[packages]]\nname = \"kmod-fast\"\n")));
    EXPECT_EQ(found.kernel.evr(), "6.2.0-10.el9");
    ASSERT_EQ(found.passed_over.size(), 19U);
    EXPECT_EQ(found.passed_over[0].reason,
              "kmod-fast-1-1.el9.x86_64 was built for another kABI: symbol s0 has checksum 0x29 in "
              "kernel 6.2.0-29.el9, the module requires 0x10");
}

TEST_F(ResolveKabi, ModuleTakesTheKernelWhoseKabiItWasBuiltFor) {
    make_kabi(directory_.path() / "kabi", symbols("0x11", "0x21"));
    const Resolution found =
        resolve(ctx_, parse_blueprint(write(head() + repository("kabi") +
                                            "[[packages]]\nname = \"kmod-fast\"\n")));
    EXPECT_EQ(found.kernel.evr(), "6.2.0-1.el9");
    ASSERT_FALSE(found.passed_over.empty());
    EXPECT_EQ(
        found.passed_over[0].reason,
        "kmod-fast-1-1.el9.x86_64 was built for another kABI: symbol one has checksum 0x12 in "
        "kernel 6.2.0-2.el9, the module requires 0x11");
}

}  // namespace
}  // namespace edgegpu
