#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "log/console.hpp"
#include "resolve/resolution.hpp"
#include "rpm_fixture.hpp"

namespace edgegpu::test {

/// A blueprint whose repositories lie in directories of their own names, where `make_metadata`
/// says what they have; with a cache beside them.
class ResolveFixture : public testing::Test {
protected:
    explicit ResolveFixture(std::initializer_list<const char*> repositories)
        : console_(Color::never, true) {
        ctx_.cache = directory_.path() / "cache";
        ctx_.console = &console_;
        blueprint_.path = "/blueprint.toml";
        for (const char* id : repositories) {
            Repository repository;
            repository.id = id;
            repository.baseurls = {"file://" + (directory_.path() / id).string()};
            repository.repo_gpgcheck = false;
            blueprint_.repositories.push_back(repository);
        }
    }

    /// Asks for a package, in line 9.
    void request(const std::string& spec) {
        blueprint_.packages.push_back({spec, {"/blueprint.toml", 9, 5}});
    }

    /// The NEVRAs of packages.
    static std::vector<std::string> texts(const std::vector<ResolvedPackage>& packages) {
        std::vector<std::string> names;
        names.reserve(packages.size());
        for (const ResolvedPackage& package : packages) {
            names.push_back(package.nevra.text());
        }
        return names;
    }

    TemporaryDirectory directory_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
};

}  // namespace edgegpu::test
