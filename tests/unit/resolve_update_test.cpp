#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/resolution.hpp"
#include "resolve/stage/explain_package.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// One repository "base" whose packages a test chooses.
class Repositories : public test::ResolveFixture {
protected:
    Repositories() : ResolveFixture({"base"}) {}

    void publish(std::vector<std::string> packages) {
        packages.emplace_back("kernel-core-6.1-1.x86_64 | provides: kernel-uname-r = 6.1-1.x86_64");
        test::make_metadata(directory_.path() / "base", packages);
    }
    static std::vector<std::string> names(const Resolution& resolution) {
        std::vector<std::string> texts;
        for (const ResolvedPackage& package : resolution.packages) {
            texts.push_back(package.nevra.text());
        }
        return texts;
    }
};

class ResolveUpdate : public Repositories {
protected:
    ResolveUpdate() {
        publish({"app-1-1.x86_64 | requires: lib", "lib-1-1.x86_64 | source: libsrc-1-1",
                 "lib-data-1-1.x86_64 | source: libsrc-1-1", "tool-1-1.x86_64"});
        request("app");
        request("tool");
        request("lib-data");
        locked_ = resolve(ctx_, blueprint_);
    }

    std::vector<std::string> update(const std::vector<std::string>& patterns) {
        return names(resolve_update(ctx_, blueprint_, locked_, patterns));
    }

    Resolution locked_;
};

TEST_F(ResolveUpdate, MovesOnlyWhatIsNamed) {
    publish({"app-1-1.x86_64 | requires: lib", "app-2-1.x86_64 | requires: lib",
             "lib-1-1.x86_64 | source: libsrc-1-1", "lib-2-1.x86_64 | source: libsrc-2-1",
             "lib-data-1-1.x86_64 | source: libsrc-1-1", "tool-1-1.x86_64", "tool-2-1.x86_64"});
    EXPECT_THAT(update({"app"}),
                ElementsAre("app-2-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-1-1.x86_64",
                            "lib-data-1-1.x86_64", "tool-1-1.x86_64"));
}

TEST_F(ResolveUpdate, PackagesOfOneSourceMoveTogether) {
    publish({"app-1-1.x86_64 | requires: lib", "lib-1-1.x86_64 | source: libsrc-1-1",
             "lib-2-1.x86_64 | source: libsrc-2-1", "lib-data-1-1.x86_64 | source: libsrc-1-1",
             "lib-data-2-1.x86_64 | source: libsrc-2-1", "tool-1-1.x86_64", "tool-2-1.x86_64"});
    EXPECT_THAT(update({"lib"}),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-2-1.x86_64",
                            "lib-data-2-1.x86_64", "tool-1-1.x86_64"));
}

TEST_F(ResolveUpdate, WhatHasToFollowFollows) {
    publish({"app-2-1.x86_64 | requires: lib >= 2", "lib-1-1.x86_64 | source: libsrc-1-1",
             "lib-2-1.x86_64 | source: libsrc-2-1", "lib-data-1-1.x86_64 | source: libsrc-1-1",
             "tool-1-1.x86_64", "tool-2-1.x86_64"});
    EXPECT_THAT(update({"app"}),
                ElementsAre("app-2-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-2-1.x86_64",
                            "lib-data-1-1.x86_64", "tool-1-1.x86_64"));
}

TEST_F(ResolveUpdate, PackageThatIsGoneIsReplaced) {
    publish({"app-1-1.x86_64 | requires: lib", "lib-2-1.x86_64 | source: libsrc-2-1",
             "lib-data-1-1.x86_64 | source: libsrc-1-1", "tool-1-1.x86_64", "tool-2-1.x86_64"});
    EXPECT_THAT(update({"app"}),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-2-1.x86_64",
                            "lib-data-1-1.x86_64", "tool-1-1.x86_64"));
}

TEST_F(ResolveUpdate, NameThatIsNotLockedIsAnError) {
    try {
        (void)update({"other"});
        FAIL() << "nothing was thrown";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        EXPECT_EQ(problem.message(), "--update other: the lockfile has no such package");
    }
}

class WhyPackage : public Repositories {
protected:
    WhyPackage() {
        publish({"app-1-1.x86_64 | requires: lib >= 1 | recommends: nice", "nice-1-1.x86_64",
                 "lib-1-1.x86_64 | requires: cap", "deep-1-1.x86_64 | provides: cap",
                 "alone-1-1.x86_64", "fighter-1-1.x86_64 | conflicts: lib", "hidden-1-1.x86_64"});
        request("app");
        blueprint_.excludes = {"hid*"};
    }
};

TEST_F(WhyPackage, ChainFromTheBlueprintDown) {
    const PackageAnswer answer = why_package(ctx_, blueprint_, "cap");
    ASSERT_EQ(answer.installed.size(), 1U);
    const PackageReason& reason = answer.installed.front();
    EXPECT_EQ(reason.package.nevra.text(), "deep-1-1.x86_64");
    EXPECT_EQ(reason.provides, "cap");
    EXPECT_EQ(reason.origin, "/blueprint.toml:9:5 asks for app");
    EXPECT_THAT(reason.chain,
                ElementsAre("app-1-1.x86_64 requires lib >= 1", "lib-1-1.x86_64 requires cap"));
    EXPECT_THAT(reason.required_by, ElementsAre("lib"));
}

TEST_F(WhyPackage, RequestedItself) {
    const PackageAnswer answer = why_package(ctx_, blueprint_, "app");
    ASSERT_EQ(answer.installed.size(), 1U);
    EXPECT_EQ(answer.installed.front().provides, "");
    EXPECT_THAT(answer.installed.front().chain, IsEmpty());
}

TEST_F(WhyPackage, WeakDependency) {
    EXPECT_THAT(why_package(ctx_, blueprint_, "nice").kept_out,
                ElementsAre("nice-1-1.x86_64 could be installed, but nothing in the image needs it",
                            "it is recommended by app, but weak_dependencies is off"));
    blueprint_.weak_dependencies = true;
    const PackageAnswer answer = why_package(ctx_, blueprint_, "nice");
    ASSERT_EQ(answer.installed.size(), 1U);
    EXPECT_THAT(answer.installed.front().chain, ElementsAre("app-1-1.x86_64 recommends nice"));
}

TEST_F(WhyPackage, ConflictKeepsItOut) {
    EXPECT_THAT(
        why_package(ctx_, blueprint_, "fighter").kept_out,
        ElementsAre("fighter-1-1.x86_64 cannot be installed: fighter-1-1.x86_64 and "
                    "lib-1-1.x86_64 cannot both be installed",
                    "  /blueprint.toml:9:5 asks for app", "    app-1-1.x86_64 requires lib >= 1",
                    "    which is lib-1-1.x86_64", "  if it were asked for: fighter-1-1.x86_64",
                    "  fighter-1-1.x86_64 conflicts with lib"));
}

TEST_F(WhyPackage, FilterKeepsItOut) {
    EXPECT_THAT(why_package(ctx_, blueprint_, "hidden").kept_out,
                ElementsAre("hidden-1-1.x86_64 of repository 'base' is filtered out: excludes has "
                            "\"hid*\""));
}

TEST_F(WhyPackage, UnknownPackageNamesTheNearest) {
    try {
        (void)why_package(ctx_, blueprint_, "alonee");
        FAIL() << "nothing was thrown";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "no repository has a package 'alonee'");
        EXPECT_EQ(problem.hint(), "did you mean alone?");
    }
}

}  // namespace
}  // namespace edgegpu
