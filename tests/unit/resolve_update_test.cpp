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

    void publish(std::vector<std::string> packages, const std::string& modules = "",
                 const std::string& comps = "") {
        packages.emplace_back("kernel-core-6.1-1.x86_64 | provides: kernel-uname-r = 6.1-1.x86_64");
        test::make_metadata(directory_.path() / "base", packages, modules, comps);
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
        EXPECT_EQ(problem.message(),
                  "--update other: no such package or image is locked, or needed anew");
    }
}

TEST_F(ResolveUpdate, AddsWhatIsNewAndKeepsTheRest) {
    publish({"app-1-1.x86_64 | requires: lib", "app-2-1.x86_64 | requires: lib",
             "lib-1-1.x86_64 | source: libsrc-1-1", "lib-2-1.x86_64 | source: libsrc-2-1",
             "lib-data-1-1.x86_64 | source: libsrc-1-1", "tool-1-1.x86_64", "tool-2-1.x86_64",
             "new-1-1.x86_64 | requires: new-lib", "new-2-1.x86_64 | requires: new-lib",
             "new-lib-3-1.x86_64"});
    request("new");
    const std::vector<std::string> expected{
        "app-1-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-1-1.x86_64", "lib-data-1-1.x86_64",
        "new-2-1.x86_64", "new-lib-3-1.x86_64",       "tool-1-1.x86_64"};
    EXPECT_EQ(update({}), expected);
    EXPECT_EQ(update({"new"}), expected);
    EXPECT_THAT(console_.warnings(), IsEmpty());
}

TEST_F(ResolveUpdate, DropsWhatIsNotRequestedAnyMore) {
    publish({"app-1-1.x86_64 | requires: lib", "app-2-1.x86_64 | requires: lib",
             "lib-1-1.x86_64 | source: libsrc-1-1", "lib-data-1-1.x86_64 | source: libsrc-1-1",
             "tool-1-1.x86_64"});
    blueprint_.packages.clear();
    request("app");
    EXPECT_THAT(update({}),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-1-1.x86_64"));
    EXPECT_THAT(console_.warnings(), IsEmpty());
}

TEST_F(ResolveUpdate, WhatCannotStayIsAWarning) {
    publish({"app-1-1.x86_64 | requires: lib", "lib-1-1.x86_64 | source: libsrc-1-1",
             "lib-2-1.x86_64 | source: libsrc-2-1", "lib-data-1-1.x86_64 | source: libsrc-1-1",
             "tool-2-1.x86_64", "new-1-1.x86_64 | requires: lib >= 2"});
    request("new");
    EXPECT_THAT(update({}),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64", "lib-2-1.x86_64",
                            "lib-data-1-1.x86_64", "new-1-1.x86_64", "tool-2-1.x86_64"));
    EXPECT_THAT(console_.warnings(),
                ElementsAre("lib-1-1.x86_64 does not stay: what is new needs another version; now "
                            "lib-2-1.x86_64",
                            "tool-1-1.x86_64 does not stay: no repository has it any more; now "
                            "tool-2-1.x86_64"));
}

/// A stream of NVIDIA's module as its repositories have it: names of streams are the beginning of
/// others, and neither they nor contexts are quoted.
std::string driver_stream(const std::string& stream, const std::string& packages) {
    return "---\ndocument: modulemd\nversion: 2\ndata:\n  name: nvidia-driver\n  stream: " +
           stream +
           "\n  version: 20260101000000\n  context: 1234e56789\n  arch: x86_64\n  summary: x\n"
           "  description: x\n  license: {module: [x]}\n  artifacts:\n    rpms: [" +
           packages + "]\n...\n";
}

class ResolveUpdateOfStreams : public Repositories {
protected:
    ResolveUpdateOfStreams() {
        publish_version("1");
        request("nvidia-driver");
        request("app");
        request("tool");
    }

    /// Driver, app and tool; `version` 2 adds newer ones of the latter two.
    void publish_version(const std::string& version) {
        std::vector<std::string> packages{"nvidia-driver-3:535.261.03-1.el9.x86_64",
                                          "nvidia-driver-3:550.90.07-1.el9.x86_64",
                                          "kmod-nvidia-latest-dkms-3:535.261.03-1.el9.x86_64",
                                          "app-1-1.x86_64", "tool-1-1.x86_64"};
        if (version == "2") {
            packages.insert(packages.end(), {"app-2-1.x86_64", "tool-2-1.x86_64"});
        }
        const std::string driver = "nvidia-driver-3:535.261.03-1.el9.x86_64";
        publish(packages,
                driver_stream("535", driver) +
                    driver_stream("535-dkms",
                                  driver + ", kmod-nvidia-latest-dkms-3:535.261.03-1.el9.x86_64") +
                    driver_stream("550", "nvidia-driver-3:550.90.07-1.el9.x86_64"));
    }
    void enable(const std::string& stream) {
        blueprint_.modules = {{"nvidia-driver", stream, {}, {"/blueprint.toml", 5, 1}}};
    }
};

TEST_F(ResolveUpdateOfStreams, StreamWhoseNameBeginsTheLockedOneIsNotTakenForIt) {
    enable("535-dkms");
    const Resolution locked = resolve(ctx_, blueprint_);
    publish_version("2");
    enable("535");
    // Were the documents of 535 gone, everything would have to move.
    EXPECT_THAT(names(resolve_update(ctx_, blueprint_, locked, {"tool"})),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64",
                            "nvidia-driver-3:535.261.03-1.el9.x86_64", "tool-2-1.x86_64"));
}

TEST_F(ResolveUpdateOfStreams, AnotherStreamMovesItsPackagesAlone) {
    enable("535");
    const Resolution locked = resolve(ctx_, blueprint_);
    publish_version("2");
    enable("550");
    EXPECT_THAT(names(resolve_update(ctx_, blueprint_, locked, {"nvidia-driver"})),
                ElementsAre("app-1-1.x86_64", "kernel-core-6.1-1.x86_64",
                            "nvidia-driver-3:550.90.07-1.el9.x86_64", "tool-1-1.x86_64"));
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
    EXPECT_EQ(reason.origin, "/blueprint.toml:9:5 requests app");
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

/// Which line of the blueprint asks for a package.
class WhyPackageOfALine : public Repositories {
protected:
    std::string origin(const std::string& package) {
        const PackageAnswer answer = why_package(ctx_, blueprint_, package);
        return answer.installed.size() == 1 ? answer.installed.front().origin : "not installed";
    }
};

TEST_F(WhyPackageOfALine, GroupThatAnEnvironmentHas) {
    publish({"app-1-1.x86_64", "lib-1-1.x86_64"}, "", R"(<comps>
  <group>
    <id>core</id><name>Core</name>
    <packagelist><packagereq type="mandatory">lib</packagereq></packagelist>
  </group>
  <environment>
    <id>edge</id><name>Edge</name><grouplist><groupid>core</groupid></grouplist>
  </environment>
</comps>)");
    request("app");
    blueprint_.groups.push_back({"@edge", {"/blueprint.toml", 12, 5}});
    EXPECT_EQ(origin("lib"), "/blueprint.toml:12:5 requests group core");
    EXPECT_EQ(origin("app"), "/blueprint.toml:9:5 requests app");
    EXPECT_EQ(origin("kernel-core"), "the image needs kernel");
}

TEST_F(WhyPackageOfALine, ProfileThatALineOfPackagesNames) {
    publish({"web-1-1.x86_64", "lib-1-1.x86_64"}, R"(---
document: modulemd
version: 2
data:
  name: web
  stream: "1"
  version: 1
  context: aaaaaaaa
  arch: x86_64
  summary: x
  description: x
  license: {module: [MIT]}
  profiles: {server: {rpms: [web]}}
  artifacts: {rpms: [web-0:1-1.x86_64]}
...
)");
    blueprint_.modules = {{"web", "1", {}, {"/blueprint.toml", 5, 1}}};
    request("lib");
    request("@web:1/server");
    EXPECT_EQ(origin("web"), "/blueprint.toml:9:5 requests profile web:1/server");
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
                    "  /blueprint.toml:9:5 requests app", "    app-1-1.x86_64 requires lib >= 1",
                    "    which is lib-1-1.x86_64", "  if it were requested: fighter-1-1.x86_64",
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

/// A layer on a parent that has a kernel, bash and lib.
class ResolveOnParent : public Repositories {
protected:
    ResolveOnParent() {
        installed_.name = "parent edge";
        installed_.kernel_uname = "6.1-1.x86_64";
        for (const char* name : {"kernel-core", "bash", "lib"}) {
            installed_.headers.push_back(test::installed_header(name, "6.1", "more"));
        }
        options_.installed = &installed_;
        blueprint_.parent.emplace().location = {"/blueprint.toml", 3, 1};
        publish({"app-1-1.x86_64 | requires: lib, helper", "helper-1-1.x86_64", "bash-7-1.x86_64",
                 "tool-1-1.x86_64"});
        request("app");
        request("bash");
    }

    InstalledPackages installed_;
    ResolveOptions options_;
};

TEST_F(ResolveOnParent, WhatIsLockedIsConfirmedBesideThePackagesOfTheParent) {
    const Resolution locked = resolve(ctx_, blueprint_, options_);
    EXPECT_THAT(names(locked), ElementsAre("app-1-1.x86_64", "helper-1-1.x86_64"));
    publish({"app-1-1.x86_64 | requires: lib, helper", "app-2-1.x86_64", "helper-1-1.x86_64"});
    EXPECT_EQ(names(resolve_locked(ctx_, blueprint_, locked, options_)), names(locked));
    request("tool");
    EXPECT_THROW((void)resolve_locked(ctx_, blueprint_, locked, options_), Error);
}

TEST_F(ResolveOnParent, APackageThatTheParentHasNoMoreIsDrift) {
    const Resolution locked = resolve(ctx_, blueprint_, options_);
    installed_.headers.pop_back();
    try {
        (void)resolve_locked(ctx_, blueprint_, locked, options_);
        FAIL() << "lib is nowhere";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "cannot build the lockfile unchanged");
    }
}

TEST_F(ResolveOnParent, OthersStayWhenOneIsUpdated) {
    const Resolution locked = resolve(ctx_, blueprint_, options_);
    publish({"app-1-1.x86_64 | requires: lib, helper", "app-2-1.x86_64 | requires: lib, helper",
             "helper-1-1.x86_64", "helper-2-1.x86_64"});
    EXPECT_THAT(names(resolve_update(ctx_, blueprint_, locked, {}, options_)),
                ElementsAre("app-1-1.x86_64", "helper-1-1.x86_64"));
    EXPECT_THAT(names(resolve_update(ctx_, blueprint_, locked, {"app"}, options_)),
                ElementsAre("app-2-1.x86_64", "helper-1-1.x86_64"));
}

TEST_F(ResolveOnParent, TheParentIsNamedByItsRef) {
    Resolution locked = resolve(ctx_, blueprint_, options_);
    EXPECT_FALSE(names_parent(locked, "*"));
    locked.parent = ResolvedParent{"rhel/9/x86_64/edge", std::string(64, 'a'), "", {}, {}};
    EXPECT_TRUE(names_parent(locked, "rhel/9/x86_64/edge"));
    EXPECT_TRUE(names_parent(locked, "rhel/*"));
    EXPECT_FALSE(names_parent(locked, "app"));
    EXPECT_THAT(names(resolve_update(ctx_, blueprint_, locked, {"rhel/9/x86_64/edge"}, options_)),
                ElementsAre("app-1-1.x86_64", "helper-1-1.x86_64"));
}

TEST_F(ResolveOnParent, WhyNamesTheParentAndChainsOfTheLayer) {
    const PackageAnswer bash = why_package(ctx_, blueprint_, "bash", options_);
    ASSERT_EQ(bash.installed.size(), 1U);
    EXPECT_EQ(bash.installed.front().package.nevra.text(), "bash-6.1-1.x86_64");
    EXPECT_EQ(bash.installed.front().package.repository, "parent edge");
    EXPECT_EQ(bash.installed.front().package.why.text(), "of the parent");
    EXPECT_EQ(bash.installed.front().origin, "/blueprint.toml:3:1 [parent]");
    const PackageAnswer lib = why_package(ctx_, blueprint_, "lib", options_);
    ASSERT_EQ(lib.installed.size(), 1U);
    EXPECT_THAT(lib.installed.front().required_by, ElementsAre("app"));
    const PackageAnswer helper = why_package(ctx_, blueprint_, "helper", options_);
    ASSERT_EQ(helper.installed.size(), 1U);
    EXPECT_THAT(helper.installed.front().chain, ElementsAre("app-1-1.x86_64 requires helper"));
    EXPECT_THAT(
        why_package(ctx_, blueprint_, "tool", options_).kept_out,
        ElementsAre("tool-1-1.x86_64 could be installed, but nothing in the image needs it"));
}

}  // namespace
}  // namespace edgegpu
