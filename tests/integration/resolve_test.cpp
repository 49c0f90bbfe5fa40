#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "integration/resolve_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::Resolve;
using test::simple_spec;

TEST_F(Resolve, TakesTheNewestAndWhatItNeeds) {
    request("app");
    const auto packages = solve();
    ASSERT_TRUE(packages.contains("app"));
    EXPECT_EQ(packages.at("app").nevra.text(), "app-2.0-1.x86_64");
    EXPECT_EQ(packages.at("app").why.text(), "requested");
    EXPECT_EQ(packages.at("lib").why.text(), "required by app");
    EXPECT_EQ(packages.at("odd").why.text(), "required by app");
    EXPECT_FALSE(packages.contains("weak"));
    EXPECT_EQ(packages.at("app").location, "Packages/app-2.0-1.x86_64.rpm");
    EXPECT_EQ(packages.at("app").checksum.hex, sha256_file(base() / packages.at("app").location));
    EXPECT_EQ(packages.at("app").size, fs::file_size(base() / packages.at("app").location));
    EXPECT_EQ(packages.at("app").build_time, 1700000000);
    EXPECT_EQ(resolution_.repositories.at(0).repomd_sha256,
              sha256_file(base() / "repodata/repomd.xml"));
}

TEST_F(Resolve, TakesTheNewestKernelAlone) {
    const auto packages = solve();
    EXPECT_EQ(packages.size(), 2U);
    EXPECT_EQ(resolution_.kernel.text(), "kernel-core-6.1.0-56.el9.x86_64");
    EXPECT_EQ(resolution_.kernel_uname, "6.1.0-56.el9.x86_64");
    EXPECT_EQ(packages.at("kernel").nevra.release, "56.el9");
}

TEST_F(Resolve, UnameIsTheDirectoryOfTheModulesWhereTheVersionsDiffer) {
    const test::TemporaryDirectory other;
    build_rpm(other.path(),
              simple_spec("kernel-core", "7.0.0", "1", "Provides: kernel-uname-r = 7.0.0-1.amd64\n",
                          "%install\nmkdir -p %{buildroot}/usr/lib/modules/7.0.0-1-amd64\n"
                          "touch %{buildroot}/usr/lib/modules/7.0.0-1-amd64/vmlinuz\n"
                          "%files\n/usr/lib/modules\n"));
    createrepo(other.path());
    add_repository("other", other.path());
    solve();
    EXPECT_EQ(resolution_.kernel.version, "7.0.0");
    EXPECT_EQ(resolution_.kernel_uname, "7.0.0-1-amd64");
}

TEST_F(Resolve, WeakDependenciesOnRequest) {
    request("app");
    blueprint_.weak_dependencies = true;
    EXPECT_EQ(solve().at("weak").why.text(), "recommended by app");
}

TEST_F(Resolve, SpecsMayBeGlobsVersionsAndPaths) {
    request("app-1.*");
    request("li*.x86_64");
    request("/opt/odd/path");
    const auto packages = solve();
    EXPECT_EQ(packages.at("app").nevra.version, "1.0");
    EXPECT_TRUE(packages.contains("lib"));
    EXPECT_EQ(packages.at("odd").why.text(), "requested");
}

TEST_F(Resolve, GroupsBringMandatoryAndDefaultPackages) {
    request("@edge");
    const auto packages = solve();
    EXPECT_EQ(packages.at("app").why.text(), "group core");
    EXPECT_TRUE(packages.contains("standard"));
    EXPECT_FALSE(packages.contains("extra"));
}

TEST_F(Resolve, SecondRunReadsTheCacheAndGivesTheSame) {
    request("app");
    const auto first = solve();
    const auto second = solve();
    ASSERT_EQ(first.size(), second.size());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin(), [](auto& a, auto& b) {
        return a.second.nevra == b.second.nevra && a.second.why == b.second.why &&
               a.second.checksum == b.second.checksum;
    }));
}

TEST_F(Resolve, UnknownPackageNamesTheNearest) {
    request("standrad");
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
    EXPECT_EQ(problem.message(), "no package matches 'standrad'");
    ASSERT_GE(problem.traces().size(), 2U);
    EXPECT_EQ(problem.traces()[0], "requested at /blueprint.toml:9:5");
    EXPECT_EQ(problem.traces()[1], "did you mean standard?");
    EXPECT_NE(problem.hint().find("+ name = \"standard\""), std::string::npos) << problem.hint();
}

TEST_F(Resolve, UnsolvableSetSaysWhy) {
    request("broken");
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
    EXPECT_EQ(problem.message(),
              "nothing provides missing-thing, which broken-1-1.x86_64 requires");
    ASSERT_FALSE(problem.traces().empty());
    EXPECT_EQ(problem.traces()[0], "/blueprint.toml:9:5 requests broken");
}

TEST_F(Resolve, ConflictSaysWhy) {
    request("app");
    request("fighter");
    const std::string text = failure().render();
    EXPECT_NE(text.find("fighter-1-1.x86_64 conflicts with lib"), std::string::npos) << text;
}

TEST_F(Resolve, ExcludedPackageIsSaidToBeExcluded) {
    request("weak");
    blueprint_.excludes = {"we*"};
    const std::vector<std::string> traces = failure().traces();
    ASSERT_GE(traces.size(), 2U);
    EXPECT_EQ(traces[1], "weak-1-1.x86_64 of repository 'base' exists, but excludes has \"we*\"");
}

TEST_F(Resolve, MissingKernelIsAnError) {
    blueprint_.excludes = {"kernel*"};
    EXPECT_EQ(failure().message(), "no repository has a kernel: package kernel-core or kernel");
}

TEST_F(Resolve, RepositoryOfHigherRankWins) {
    const test::TemporaryDirectory other;
    build_rpm(other.path(), simple_spec("lib", "2.0", "0"));
    createrepo(other.path());
    add_repository("other", other.path()).priority = 10;
    request("lib");
    EXPECT_EQ(solve().at("lib").repository, "other");
}

TEST_F(Resolve, SignedMetadataAreAccepted) {
    const test::SigningKey key;
    key.sign_repository(base());
    blueprint_.repositories[0].repo_gpgcheck = true;
    blueprint_.repositories[0].gpgkeys = {"file://" + key.public_key().string()};
    EXPECT_EQ(solve().size(), 2U);
}

TEST_F(Resolve, MetadataSignedWithAnotherKeyAreRefused) {
    const test::SigningKey key;
    const test::SigningKey other("other@example.com");
    key.sign_repository(base());
    blueprint_.repositories[0].repo_gpgcheck = true;
    blueprint_.repositories[0].gpgkeys = {other.public_key().string()};
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::fetch);
    EXPECT_TRUE(problem.message().starts_with("repository 'base': repomd.xml was signed with key "))
        << problem.message();
}

TEST_F(Resolve, ChangedMetadataFileIsRefused) {
    const test::TemporaryDirectory copy;
    fs::copy(base(), copy.path() / "r", fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(copy.path() / "r/repodata")) {
        if (entry.path().string().find("primary") != std::string::npos) {
            write_file(entry.path(), "changed");
        }
    }
    blueprint_.repositories[0].baseurls = {"file://" + (copy.path() / "r").string()};
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::fetch);
    EXPECT_NE(problem.message().find("has 7 bytes, but repomd.xml promises "), std::string::npos)
        << problem.message();
}

TEST_F(Resolve, MissingRepositoryIsNamed) {
    blueprint_.repositories[0].baseurls = {"file:///nowhere/at/all"};
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::fetch);
    EXPECT_TRUE(problem.message().starts_with("repository 'base': ")) << problem.message();
}

TEST_F(Resolve, OfflineWithoutCacheIsAnError) {
    blueprint_.repositories[0].baseurls = {"http://127.0.0.1:9/none"};
    ctx_.offline = true;
    const Error problem = failure();
    EXPECT_EQ(problem.kind(), ErrorKind::fetch);
    EXPECT_EQ(problem.message(), "repository 'base' is not in the cache");
}

TEST_F(Resolve, KeysMissingIsAnError) {
    blueprint_.repositories[0].repo_gpgcheck = true;
    EXPECT_EQ(failure().message(), "repository 'base': repo_gpgcheck is on, but it has no gpgkey");
}

}  // namespace
}  // namespace edgegpu
