#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

constexpr const char* comps = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE comps PUBLIC "-//Red Hat, Inc.//DTD Comps info//EN" "comps.dtd">
<comps>
  <group>
    <id>core</id><name>Core</name>
    <packagelist>
      <packagereq type="mandatory">app</packagereq>
      <packagereq type="default">standard</packagereq>
      <packagereq type="optional">extra</packagereq>
      <packagereq type="mandatory">nowhere</packagereq>
    </packagelist>
  </group>
  <environment>
    <id>edge</id><name>Edge</name>
    <grouplist><groupid>core</groupid></grouplist>
  </environment>
</comps>
)";

constexpr const char* modules = R"(---
document: modulemd
version: 2
data:
  name: nvidia-driver
  stream: 535
  version: 20240101000000
  context: 1234e56789
  arch: x86_64
  summary: driver
  description: driver
  license: {module: [MIT]}
  profiles:
    default: {rpms: [nvidia-driver, nvidia-kmod-common, cuda-drivers]}
    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}
  artifacts:
    rpms:
    - cuda-drivers-3:535.261.03-1.x86_64
    - nvidia-driver-3:535.261.03-1.x86_64
    - nvidia-driver-3:535.200.01-1.x86_64
    - nvidia-kmod-common-3:535.200.01-1.noarch
    - nvidia-kmod-common-3:535.261.03-1.noarch
---
document: modulemd
version: 2
data:
  name: nvidia-driver
  stream: 550
  version: 20240101000000
  context: 1234e56780
  arch: x86_64
  summary: driver
  description: driver
  license: {module: [MIT]}
  profiles:
    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}
  artifacts:
    rpms:
    - nvidia-driver-3:550.1-1.x86_64
    - nvidia-kmod-common-3:550.1-1.noarch
---
document: modulemd-defaults
version: 1
data:
  module: nvidia-driver
  stream: "550"
...
)";

std::string kernel_spec(const std::string& version, const std::string& release) {
    const std::string evr = version + "-" + release;
    return simple_spec("kernel", version, release, "Requires: kernel-core = " + evr + "\n",
                       "%files\n"
                       "%package core\nSummary: kernel image\n"
                       "Provides: kernel = " +
                           evr +
                           "\n"
                           "Provides: kernel-uname-r = " +
                           evr +
                           ".x86_64\n"
                           "%description core\nx\n%files core\n");
}

std::string driver_spec(const std::string& version) {
    return simple_spec("nvidia-driver", version, "1",
                       "Epoch: 3\nRequires: nvidia-kmod-common = 3:" + version + "\n",
                       "%files\n"
                       "%package -n nvidia-kmod-common\nSummary: x\nBuildArch: noarch\n"
                       "Requires: nvidia-kmod = 3:" +
                           version +
                           "\n"
                           "%description -n nvidia-kmod-common\nx\n"
                           "%files -n nvidia-kmod-common\n");
}

std::string kmod_spec(const std::string& version, const std::string& kernel) {
    return simple_spec("kmod-nvidia-" + version + "-" + kernel, version, "3",
                       "Epoch: 3\nProvides: nvidia-kmod = 3:" + version +
                           "\n"
                           "Provides: kernel-modules = " +
                           kernel +
                           ".el9.x86_64\n"
                           "Requires: (kernel = " +
                           kernel + ".el9 if kernel)\n");
}

/// Two repositories made once: "base" and "nvidia".
class Resolve : public testing::Test {
protected:
    static void SetUpTestSuite() {
        store_ = new test::TemporaryDirectory;
        make_base(base());
        make_nvidia(nvidia());
    }
    static void TearDownTestSuite() {
        delete store_;
        store_ = nullptr;
    }

    static fs::path base() { return store_->path() / "base"; }
    static fs::path nvidia() { return store_->path() / "nvidia"; }

    static void make_base(const fs::path& repository) {
        build_rpm(repository, simple_spec("app", "1.0", "1",
                                          "Requires: lib >= 2\nRecommends: weak\n"
                                          "Requires: /opt/odd/path\n"));
        build_rpm(repository, simple_spec("app", "2.0", "1",
                                          "Requires: lib >= 2\nRecommends: weak\n"
                                          "Requires: /opt/odd/path\n"));
        build_rpm(repository, simple_spec("lib", "2.0", "1"));
        build_rpm(repository, simple_spec("weak", "1", "1"));
        build_rpm(repository, simple_spec("standard", "1", "1"));
        build_rpm(repository, simple_spec("extra", "1", "1"));
        build_rpm(repository, simple_spec("broken", "1", "1", "Requires: missing-thing\n"));
        build_rpm(repository, simple_spec("fighter", "1", "1", "Conflicts: lib\n"));
        build_rpm(repository,
                  simple_spec("odd", "1", "1", "",
                              "%install\nmkdir -p %{buildroot}/opt/odd\n"
                              "touch %{buildroot}/opt/odd/path\n%files\n/opt/odd/path\n"));
        build_rpm(repository, kernel_spec("6.1.0", "50.el9"));
        build_rpm(repository, kernel_spec("6.1.0", "56.el9"));
        createrepo(repository, comps);
    }

    static void make_nvidia(const fs::path& repository) {
        for (const char* version : {"535.200.01", "535.261.03", "550.1"}) {
            build_rpm(repository, driver_spec(version));
        }
        build_rpm(repository, kmod_spec("535.200.01", "6.1.0-50"));
        build_rpm(repository, kmod_spec("535.261.03", "6.1.0-50"));
        build_rpm(repository, simple_spec("kmod-nvidia-latest-dkms", "550.1", "1",
                                          "Epoch: 3\nProvides: nvidia-kmod = 3:550.1\n"));
        for (const char* version : {"1.13.5", "1.14.0"}) {
            build_rpm(repository, simple_spec("nvidia-container-toolkit", version, "1",
                                              "Requires: libnvidia-container1 >= 1.13\n"));
            build_rpm(repository, simple_spec("libnvidia-container1", version, "1"));
        }
        build_rpm(repository, simple_spec("cuda-drivers", "535.261.03", "1", "Epoch: 3\n"));
        createrepo(repository, "", modules);
    }

    Resolve() : console_(Color::never, true) {
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        blueprint_.path = "/blueprint.toml";
        add_repository("base", base());
    }

    Repository& add_repository(const std::string& id, const fs::path& path) {
        Repository repository;
        repository.id = id;
        repository.baseurls = {"file://" + path.string()};
        repository.repo_gpgcheck = false;
        repository.location = {"/blueprint.toml", 3, 1};
        blueprint_.repositories.push_back(repository);
        return blueprint_.repositories.back();
    }

    void request(const std::string& spec) {
        blueprint_.packages.push_back({spec, {"/blueprint.toml", 9, 5}});
    }

    void want_driver(const std::string& driver) {
        add_repository("nvidia", nvidia());
        NvidiaRequest driver_request;
        driver_request.driver = driver;
        driver_request.location = {"/blueprint.toml", 20, 1};
        blueprint_.nvidia = driver_request;
    }

    /// package name → package
    std::map<std::string, ResolvedPackage> solve() {
        resolution_ = resolve(ctx_, blueprint_);
        std::map<std::string, ResolvedPackage> packages;
        for (const ResolvedPackage& package : resolution_.packages) {
            packages[package.nevra.name] = package;
        }
        EXPECT_EQ(packages.size(), resolution_.packages.size());
        return packages;
    }

    Error failure() {
        try {
            (void)resolve(ctx_, blueprint_);
        } catch (const Error& problem) {
            return problem;
        }
        ADD_FAILURE() << "nothing was thrown";
        return Error("nothing");
    }

    test::TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
    Resolution resolution_;

private:
    static test::TemporaryDirectory* store_;
};

test::TemporaryDirectory* Resolve::store_ = nullptr;

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
    EXPECT_EQ(problem.traces()[0], "/blueprint.toml:9:5 asks for broken");
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

TEST_F(Resolve, DriverPairsWithTheKernelThatHasItsModule) {
    want_driver("535");
    const auto packages = solve();
    EXPECT_EQ(resolution_.kernel.text(), "kernel-core-6.1.0-50.el9.x86_64");
    EXPECT_EQ(resolution_.driver_version, "535.261.03");
    EXPECT_TRUE(packages.contains("kmod-nvidia-535.261.03-6.1.0-50"));
    EXPECT_EQ(packages.at("nvidia-driver").why.text(), "profile nvidia-driver:535/ks");
    EXPECT_EQ(packages.at("nvidia-driver").module, "nvidia-driver:535:20240101000000:1234e56789");
    EXPECT_EQ(packages.at("kernel").nevra.release, "50.el9");
    EXPECT_FALSE(packages.contains("cuda-drivers"));
}

TEST_F(Resolve, ExactDriverVersionIsPinned) {
    want_driver("535.200.01");
    const auto packages = solve();
    EXPECT_EQ(packages.at("nvidia-driver").nevra.version, "535.200.01");
    EXPECT_EQ(packages.at("nvidia-kmod-common").nevra.version, "535.200.01");
    EXPECT_TRUE(packages.contains("kmod-nvidia-535.200.01-6.1.0-50"));
    EXPECT_FALSE(packages.contains("kmod-nvidia-535.261.03-6.1.0-50"));
}

TEST_F(Resolve, NewestKernelWithoutModuleIsAnError) {
    want_driver("535");
    blueprint_.nvidia->kernel = {KernelPolicy::newest, {}};
    const Error problem = failure();
    EXPECT_EQ(problem.message(),
              "kernel kernel-core-6.1.0-56.el9.x86_64 has no module of NVIDIA driver 535");
    ASSERT_FALSE(problem.traces().empty());
    EXPECT_EQ(problem.traces()[0],
              "/blueprint.toml:20:1 asks for NVIDIA driver \"535\" with kernel \"newest\"");
}

TEST_F(Resolve, UnknownStreamListsTheStreams) {
    want_driver("470");
    const Error problem = failure();
    EXPECT_EQ(problem.message(), "module 'nvidia-driver' has no stream '470'");
    const std::vector<std::string>& traces = problem.traces();
    EXPECT_NE(std::find(traces.begin(), traces.end(), "its streams: 535, 550"), traces.end());
}

TEST_F(Resolve, ToolkitPartsHaveOneVersion) {
    want_driver("535");
    blueprint_.nvidia->toolkit = "1.13.*";
    const auto packages = solve();
    EXPECT_EQ(packages.at("nvidia-container-toolkit").nevra.version, "1.13.5");
    EXPECT_EQ(packages.at("libnvidia-container1").nevra.version, "1.13.5");
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
