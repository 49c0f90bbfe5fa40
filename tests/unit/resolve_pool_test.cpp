#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "resolve/solve/pool.hpp"
#include "support/files/build_id.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class PoolOfPackages : public test::ResolveFixture {
protected:
    PoolOfPackages() : ResolveFixture({"base"}) {}

    /// A pool of these packages, ready to match, or with `modules` filtered by them.
    PackagePool& publish(const std::vector<std::string>& packages,
                         const ModuleSelection& modules = {}) {
        test::make_metadata(directory_.path() / "base", packages);
        return load(modules);
    }
    PackagePool& load(const ModuleSelection& modules = {}) {
        pool_ = std::make_unique<PackagePool>(ctx_, load_metadata(ctx_, blueprint_.repositories),
                                              "x86_64");
        pool_->filter(blueprint_, modules);
        pool_->prepare(ctx_, {});
        return *pool_;
    }
    [[nodiscard]] std::vector<std::string> texts(const std::vector<Id>& ids) const {
        std::vector<std::string> found;
        found.reserve(ids.size());
        for (const Id id : ids) {
            found.push_back(pool_->nevra(id).text());
        }
        return found;
    }
    [[nodiscard]] std::vector<std::string> visible() const {
        std::vector<Id> ids = pool_->packages();
        std::erase_if(ids, [&](Id id) { return !pool_->visible(id); });
        return texts(ids);
    }

    std::unique_ptr<PackagePool> pool_;
};

TEST_F(PoolOfPackages, ModulesHideOnlyPackagesOfTheirOwnNames) {
    ModuleSelection modules;
    modules.included["perl-0:5.34-1.x86_64"] = "perl:5.34:1:a";
    modules.names.insert("perl");
    publish({"perl-5.32-1.x86_64", "perl-5.34-1.x86_64", "other-perl-1-1.x86_64 | provides: perl",
             "bash-5-1.x86_64", "zsh-5-1.x86_64 | provides: shell"},
            modules);
    EXPECT_THAT(visible(),
                UnorderedElementsAre("perl-5.34-1.x86_64", "bash-5-1.x86_64", "zsh-5-1.x86_64"));
}

TEST_F(PoolOfPackages, StandInsProvideWhatTheirOwnSourcesProvide) {
    const PackagePool& pool =
        publish({"kmod-nvidia-open-dkms-3:570.1-1.noarch | provides: nvidia-kmod = 3:570.1",
                 "kmod-nvidia-latest-dkms-3:535.2-1.noarch | provides: nvidia-kmod = 3:535.2"});
    ASSERT_EQ(pool.stand_ins().size(), 2U);
    for (const auto& [source, stand_in] : pool.stand_ins()) {
        EXPECT_EQ(pool.provided_versions(stand_in, "nvidia-kmod"),
                  pool.provided_versions(source, "nvidia-kmod"));
    }
}

TEST_F(PoolOfPackages, EveryFormOfASpecFindsWhatALookAtAllPackagesFinds) {
    const PackagePool& pool =
        publish({"a-1-1.x86_64", "a-b-2:1-1.x86_64", "a-b-2:1.c-1.x86_64", "a-b-1-1-1.x86_64",
                 "python3.11-3.11-1.x86_64", "python3-3.9-1.x86_64", "python3-1:3.9-1.noarch",
                 "7zip-1-1.x86_64", "a--1-1.x86_64"});
    const std::vector<std::string> specs{"a",
                                         "a-b",
                                         "a-b-1",
                                         "a-b-1-1",
                                         "a-b-2:1",
                                         "a-b-2:1-1",
                                         "a-b-1-1-1",
                                         "2:a-b-1-1",
                                         "python3",
                                         "python3.11",
                                         "python3-3.9",
                                         "python3.noarch",
                                         "a-",
                                         "7zip",
                                         "7zip.x86_64",
                                         "python3.x86_64",
                                         "a-b-2:1-1.x86_64",
                                         "1:python3-3.9-1.noarch",
                                         "a*",
                                         "none",
                                         "a-b-1.c"};
    for (const std::string& spec : specs) {
        std::vector<Id> expected;
        std::copy_if(pool.packages().begin(), pool.packages().end(), std::back_inserter(expected),
                     [&](Id id) { return matches_package(pool, id, spec); });
        EXPECT_EQ(matching_packages(pool, spec), expected) << spec;
    }
    EXPECT_THAT(texts(matching_packages(pool, "2:a-b-1-1.x86_64")),
                ElementsAre("a-b-2:1-1.x86_64"));
}

TEST_F(PoolOfPackages, TheCacheKnowsProvidersOfPathsWithoutFileLists) {
    const std::vector<std::string> packages{"app-1-1.x86_64 | requires: /opt/tool/run, /usr/bin/sh",
                                            "tool-1-1.x86_64 | files: /opt/tool/run",
                                            "sh-1-1.x86_64 | files: /usr/bin/sh"};
    publish(packages);
    ASSERT_THAT(texts(pool_->providers("/opt/tool/run")), ElementsAre("tool-1-1.x86_64"));
    // Were they needed again, they would be missed.
    fs::remove(directory_.path() / "base/repodata/filelists.xml");
    fs::remove(pool_->repositories().front().filelists);
    fs::remove(pool_->repositories().front().directory /
               ("filelists-" + program_identity() + ".solv"));
    load();
    EXPECT_THAT(texts(pool_->providers("/opt/tool/run")), ElementsAre("tool-1-1.x86_64"));
    EXPECT_THAT(texts(pool_->providers("/usr/bin/sh")), ElementsAre("sh-1-1.x86_64"));
}

}  // namespace
}  // namespace edgegpu
