#include "resolve/solve/installed.hpp"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

class PoolOnParent : public test::ResolveFixture {
protected:
    PoolOnParent() : ResolveFixture({"base"}) {
        installed_.name = "parent edge";
        installed_.kernel_uname = "6.1-1.x86_64";
        installed_.headers = {test::installed_header("bash", "5", "shell")};
    }

    void open(const std::vector<std::string>& packages = {"bash-6-1.x86_64", "zsh-5-1.x86_64"}) {
        test::make_metadata(directory_.path() / "base", packages);
        pool_.emplace(ctx_, load_metadata(ctx_, blueprint_.repositories), "x86_64", &installed_);
        pool_->filter(blueprint_, {});
        pool_->prepare(ctx_, {});
    }
    void add_kernel(const char* version) {
        installed_.headers.push_back(
            test::installed_header("kernel-core", version, "kernel-uname-r"));
    }
    [[nodiscard]] std::string kernel(const std::string& glob = {}) const {
        try {
            return pool_->nevra(installed_kernel(*pool_, glob)).text();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::unsolvable);
            return error.message();
        }
    }
    /// Whether the solver sees the provider.
    [[nodiscard]] int considered(const std::string& capability) const {
        return MAPTST(pool_->get()->considered, pool_->providers(capability).front());
    }
    [[nodiscard]] std::size_t installed_packages() const {
        std::size_t count = 0;
        for (const Id id : pool_->packages()) {
            count += pool_->is_installed(id) ? 1 : 0;
        }
        return count;
    }

    InstalledPackages installed_;
    std::optional<PackagePool> pool_;
};

TEST_F(PoolOnParent, HasThePackagesOfTheParentBesideThoseOfRepositories) {
    open();
    EXPECT_EQ(pool_->packages().size(), 3U);
    EXPECT_EQ(installed_packages(), 1U);
    EXPECT_EQ(pool_->providers("shell").size(), 1U);
    EXPECT_EQ(pool_->installed_uname(), "6.1-1.x86_64");
}

TEST_F(PoolOnParent, AKeyOfRpmIsNoPackage) {
    installed_.headers.push_back(test::installed_header("gpg-pubkey", "5a6340b3", "gpg(edge)"));
    open();
    EXPECT_EQ(installed_packages(), 1U);
}

TEST_F(PoolOnParent, KeepsTheOnlyKernelOfTheParent) {
    add_kernel("6.1");
    open({"kernel-core-6.2-1.x86_64"});
    EXPECT_EQ(kernel(), "kernel-core-6.1-1.x86_64");
    EXPECT_EQ(kernel("kernel-6.1*"), "kernel-core-6.1-1.x86_64");
    EXPECT_THAT(kernel("kernel-6.2*"),
                HasSubstr("is kernel-core-6.1-1.x86_64, which does not match"));
}

TEST_F(PoolOnParent, NeedsOneKernel) {
    open();
    EXPECT_EQ(kernel(), "parent edge: its package database has no kernel");
    add_kernel("6.1");
    add_kernel("6.2");
    open();
    EXPECT_THAT(kernel(), HasSubstr("two kernels: kernel-core-6.1-1.x86_64 and kernel-core-6.2"));
}

TEST_F(PoolOnParent, SolversOfOtherRootsDoNotSeeIt) {
    open();
    {
        const WithoutInstalled without(*pool_);
        EXPECT_EQ(pool_->get()->installed, nullptr);
        EXPECT_EQ(considered("shell"), 0);
        EXPECT_NE(considered("zsh"), 0);
    }
    EXPECT_NE(pool_->get()->installed, nullptr);
    EXPECT_NE(considered("shell"), 0);
}

TEST_F(PoolOnParent, AHeaderThatIsNoneIsNamedWithTheParent) {
    installed_.headers.emplace_back("no header at all");
    try {
        open();
        FAIL() << "it was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "parent edge: a package in its database cannot be read");
    }
}

}  // namespace
}  // namespace edgegpu
