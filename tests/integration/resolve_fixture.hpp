#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu::test {

inline constexpr const char* resolve_comps = R"(<?xml version="1.0" encoding="UTF-8"?>
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

/// A repository "base", made once, and a blueprint that has it.
class Resolve : public ::testing::Test {
protected:
    static std::string kernel_spec(const std::string& version, const std::string& release) {
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

    static void SetUpTestSuite() {
        store_ = new TemporaryDirectory;
        make_base(base());
    }
    static void TearDownTestSuite() {
        delete store_;
        store_ = nullptr;
    }

    static std::filesystem::path base() { return store_->path() / "base"; }

    static void make_base(const std::filesystem::path& repository) {
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
        createrepo(repository, resolve_comps);
    }

    Resolve() : console_(Color::never, true) {
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        blueprint_.path = "/blueprint.toml";
        add_repository("base", base());
    }

    Repository& add_repository(const std::string& id, const std::filesystem::path& path) {
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

    TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
    Resolution resolution_;

    inline static TemporaryDirectory* store_ = nullptr;
};

}  // namespace edgegpu::test
