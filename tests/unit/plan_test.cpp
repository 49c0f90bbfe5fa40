#include "resolve/stage/plan.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

ResolvedPackage package(const std::string& name, const std::string& repository) {
    ResolvedPackage result;
    result.nevra = {name, 0, "1", "1", "x86_64"};
    result.repository = repository;
    return result;
}

Repository repository(const std::string& id) {
    Repository result;
    result.id = id;
    result.baseurls = {"https://example.com/" + id};
    return result;
}

std::vector<std::string> names(const std::vector<ResolvedPackage>& packages) {
    std::vector<std::string> found;
    found.reserve(packages.size());
    for (const ResolvedPackage& one : packages) {
        found.push_back(one.nevra.name);
    }
    return found;
}

/// An image with one package that needs modules compiled, and one policy module with macros: each
/// root from a repository of its own.
class PlanTest : public testing::Test {
protected:
    PlanTest() {
        resolution_.packages = {package("bash", "base")};
        resolution_.dkms_source = package("kmod-nvidia-latest-dkms", "nvidia");
        resolution_.build_root = {package("bash", "base"), package("gcc", "devel")};
        resolution_.policy_root = {package("selinux-policy-devel", "policy")};
        resolution_.repositories = {{"base", "abc", 1}, {"policy", "def", 2}};
        for (const char* id : {"base", "devel", "idle", "nvidia", "policy"}) {
            repositories_.push_back(repository(id));
        }
    }

    Resolution resolution_;
    std::vector<Repository> repositories_;
};

TEST_F(PlanTest, NamesEveryRootAndWhereItComesFrom) {
    const Plan plan = make_plan(resolution_, repositories_);
    EXPECT_THAT(names(plan.image), ElementsAre("bash"));
    ASSERT_TRUE(plan.module_build);
    EXPECT_EQ(plan.module_build->source.nevra.name, "kmod-nvidia-latest-dkms");
    EXPECT_THAT(names(plan.module_build->packages), ElementsAre("bash", "gcc"));
    EXPECT_THAT(names(plan.policy_root), ElementsAre("selinux-policy-devel"));
    EXPECT_THAT(plan.sources, ElementsAre(Key("base"), Key("devel"), Key("nvidia"), Key("policy")));
    EXPECT_THAT(plan.sources.at("policy").repository.baseurls,
                ElementsAre("https://example.com/policy"));
    EXPECT_EQ(plan.sources.at("policy").repomd_sha256, "def");
    EXPECT_EQ(plan.sources.at("devel").repomd_sha256, "");
}

TEST_F(PlanTest, WhatTheCacheHasIsNotFetched) {
    const Plan plan = make_plan(resolution_, repositories_, {.modules_compiled = true});
    EXPECT_FALSE(plan.module_build);
    EXPECT_THAT(plan.sources, ElementsAre(Key("base"), Key("policy")));
}

TEST_F(PlanTest, ImageWithoutModulesNeedsItsPackagesAlone) {
    resolution_.dkms_source.reset();
    resolution_.build_root.clear();
    resolution_.policy_root.clear();
    const Plan plan = make_plan(resolution_, repositories_);
    EXPECT_FALSE(plan.module_build);
    EXPECT_THAT(plan.policy_root, IsEmpty());
    EXPECT_THAT(plan.sources, ElementsAre(Key("base")));
}

TEST_F(PlanTest, PackageOfAnUnknownRepositoryIsRefused) {
    // As a lockfile may say it of any root.
    for (const char* id : {"base", "devel", "nvidia", "policy"}) {
        std::vector<Repository> others = repositories_;
        std::erase_if(others, [&](const Repository& known) { return known.id == id; });
        try {
            (void)make_plan(resolution_, others);
            ADD_FAILURE() << id << " was not missed";
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_NE(problem.message().find(std::string("comes from repository '") + id +
                                             "', which the blueprint does not have"),
                      std::string::npos)
                << problem.message();
        }
    }
}

}  // namespace
}  // namespace edgegpu
