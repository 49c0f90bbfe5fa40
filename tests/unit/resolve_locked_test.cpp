#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using test::make_metadata;
using testing::ElementsAre;

constexpr const char* modules = R"(---
document: modulemd
version: 2
data:
  name: web
  stream: "1"
  version: 10
  context: aaaaaaaa
  arch: x86_64
  summary: x
  description: x
  license: {module: [MIT]}
  artifacts: {rpms: [web-0:1.0-1.x86_64]}
)";

constexpr const char* newer_module = R"(---
document: modulemd
version: 2
data:
  name: web
  stream: "1"
  version: 11
  context: aaaaaaaa
  arch: x86_64
  summary: x
  description: x
  license: {module: [MIT]}
  artifacts: {rpms: [web-0:1.1-1.x86_64]}
)";

/// A repository "base" that changes between the lock and its use.
class ResolveLocked : public test::ResolveFixture {
protected:
    ResolveLocked() : ResolveFixture({"base"}) {
        request("app");
        publish();
    }

    void publish(const std::string& module_documents = "") {
        make_metadata(directory_.path() / "base", packages_, module_documents);
    }
    void replace(const std::string& before, const std::string& now) {
        std::replace(packages_.begin(), packages_.end(), before, now);
    }

    /// What drifted, or nothing.
    std::vector<std::string> drift(const Resolution& locked) {
        try {
            const Resolution confirmed = resolve_locked(ctx_, blueprint_, locked);
            EXPECT_EQ(confirmed.packages.size(), locked.packages.size());
            for (std::size_t i = 0; i < locked.packages.size(); ++i) {
                EXPECT_EQ(confirmed.packages[i].nevra, locked.packages[i].nevra);
                EXPECT_EQ(confirmed.packages[i].why, locked.packages[i].why);
                EXPECT_EQ(confirmed.packages[i].checksum, locked.packages[i].checksum);
            }
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
            EXPECT_EQ(problem.message(), "cannot build the lockfile unchanged");
            return problem.traces();
        }
        return {};
    }

    Resolution lock() { return resolve(ctx_, blueprint_); }

    std::vector<std::string> packages_{
        "kernel-core-6.1-1.x86_64 | provides: kernel-uname-r = 6.1-1.x86_64",
        "app-1.0-1.x86_64 | requires: lib, tool",
        "lib-1.0-1.x86_64",
        "tool-a-1.0-1.x86_64 | provides: tool",
        "tool-b-1.0-1.x86_64 | provides: tool",
        "other-1.0-1.x86_64"};
};

TEST_F(ResolveLocked, UnchangedRepositoriesConfirmTheLock) {
    EXPECT_THAT(drift(lock()), ElementsAre());
}

TEST_F(ResolveLocked, NewerPackagesDoNotMatter) {
    const Resolution locked = lock();
    packages_.emplace_back("app-2.0-1.x86_64 | requires: lib >= 2");
    packages_.emplace_back("lib-2.0-1.x86_64");
    packages_.emplace_back("kernel-core-6.2-1.x86_64 | provides: kernel-uname-r = 6.2-1.x86_64");
    publish();
    EXPECT_EQ(lock().kernel.version, "6.2");
    EXPECT_THAT(drift(locked), ElementsAre());
}

TEST_F(ResolveLocked, PackageThatIsGoneIsNamedWithWhatThereIs) {
    const Resolution locked = lock();
    replace("lib-1.0-1.x86_64", "lib-1.1-1.x86_64");
    publish();
    EXPECT_THAT(drift(locked), ElementsAre("lib-1.0-1.x86_64 is gone from repository 'base'; there "
                                           "is lib-1.1-1.x86_64 in 'base'"));
}

TEST_F(ResolveLocked, AnotherFileOfTheSameNameIsDrift) {
    const Resolution locked = lock();
    replace("lib-1.0-1.x86_64", "lib-1.0-1.x86_64 | digest: rebuilt");
    publish();
    const std::vector<std::string> lines = drift(locked);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(
        lines[0].starts_with("lib-1.0-1.x86_64 is another file in repository 'base' now: sha256:"))
        << lines[0];
}

TEST_F(ResolveLocked, AnotherSizeIsDrift) {
    Resolution locked = lock();
    locked.packages.front().size = 1;
    EXPECT_THAT(drift(locked), ElementsAre("app-1.0-1.x86_64 is said to have 1000 bytes in "
                                           "repository 'base', locked are 1"));
}

TEST_F(ResolveLocked, LocationsAreTheRepositorysOwn) {
    Resolution locked = lock();
    locked.packages.front().location = "elsewhere.rpm";
    EXPECT_EQ(resolve_locked(ctx_, blueprint_, locked).packages.front().location,
              "Packages/app-1.0-1.x86_64.rpm");
}

TEST_F(ResolveLocked, NewRequestIsNotLocked) {
    const Resolution locked = lock();
    request("other");
    EXPECT_THAT(drift(locked), ElementsAre("other is required (requested), but not locked"));
}

TEST_F(ResolveLocked, DroppedRequestIsDrift) {
    request("other");
    const Resolution locked = lock();
    blueprint_.packages.pop_back();
    EXPECT_THAT(
        drift(locked),
        ElementsAre("other-1.0-1.x86_64 is locked (requested), but nothing requires it any more"));
}

TEST_F(ResolveLocked, EitherOfTwoProvidersThatTheLockHoldsIsFine) {
    Resolution locked = lock();
    request("tool-b");
    const Resolution with_both = lock();
    blueprint_.packages.pop_back();
    ResolvedPackage tool_b;
    for (const ResolvedPackage& package : with_both.packages) {
        if (package.nevra.name == "tool-b") {
            tool_b = package;
        }
    }
    tool_b.why = {Reason::Kind::required_by, "app"};
    locked.packages.push_back(tool_b);
    EXPECT_THAT(drift(locked), ElementsAre());
}

TEST_F(ResolveLocked, ExcludedPackageIsDrift) {
    const Resolution locked = lock();
    blueprint_.excludes = {"li*"};
    EXPECT_THAT(drift(locked),
                ElementsAre("lib-1.0-1.x86_64 is locked, but excludes or includepkgs rule it out"));
}

TEST_F(ResolveLocked, DisabledAndRemovedRepositoriesAreNamed) {
    Resolution locked = lock();
    locked.packages.front().repository = "gone";
    EXPECT_THAT(drift(locked), ElementsAre("app-1.0-1.x86_64 was locked from repository 'gone', "
                                           "which the blueprint does not have"));
}

TEST_F(ResolveLocked, LockWithoutADependencyIsNoSolution) {
    Resolution locked = lock();
    std::erase_if(locked.packages,
                  [](const ResolvedPackage& package) { return package.nevra.name == "lib"; });
    const std::vector<std::string> lines = drift(locked);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[0],
              "the locked packages do not satisfy the blueprint: no set of packages "
              "satisfies the blueprint");
}

TEST_F(ResolveLocked, KernelOfAnotherNameIsDrift) {
    Resolution locked = lock();
    locked.kernel_uname = "7.0";
    EXPECT_THAT(drift(locked), ElementsAre("the lockfile says kernel kernel-core-6.1-1.x86_64 "
                                           "(7.0), its packages hold kernel-core-6.1-1.x86_64 "
                                           "(6.1-1.x86_64)"));
}

TEST_F(ResolveLocked, NewerModuleVersionDoesNotHideTheLockedOne) {
    packages_.emplace_back("web-1.0-1.x86_64");
    publish(modules);
    request("web");
    blueprint_.modules.push_back({"web", "1", {}, {"/blueprint.toml", 4, 1}});
    const Resolution locked = lock();
    packages_.emplace_back("web-1.1-1.x86_64");
    publish(std::string(modules) + newer_module);
    EXPECT_THAT(drift(locked), ElementsAre());
    publish(newer_module);
    EXPECT_THAT(drift(locked), ElementsAre("module web:1:10:aaaaaaaa is in no repository now"));
}

TEST_F(ResolveLocked, AnotherStreamIsDrift) {
    packages_.emplace_back("web-1.0-1.x86_64");
    publish(modules);
    blueprint_.modules.push_back({"web", "1", {}, {"/blueprint.toml", 4, 1}});
    const Resolution locked = lock();
    blueprint_.modules.front().stream = "2";
    EXPECT_THAT(drift(locked),
                ElementsAre("/blueprint.toml:4:1 requests module web:2, locked is web:1"));
}

}  // namespace
}  // namespace edgegpu
