#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/resolution.hpp"
#include "resolve/stage/explain_package.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using test::make_metadata;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// An image with a policy, and a module "x" of the blueprint.
class PolicyRoot : public test::ResolveFixture {
protected:
    PolicyRoot() : ResolveFixture({"base"}) {
        request("selinux-policy-targeted");
        module_ = directory_.path() / "x.te";
        blueprint_.selinux.modules.push_back(module_);
        write_module("policy_module(x, 1.0)\n");
    }

    void write_module(const std::string& text) const { write_file(module_, text); }
    Resolution solve() {
        make_metadata(directory_.path() / "base", packages_);
        return resolve(ctx_, blueprint_);
    }
    std::string failure(ErrorKind kind) {
        try {
            (void)solve();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), kind);
            const std::string text = problem.render();
            const std::string where = directory_.path().string() + "/";
            const std::size_t at = text.find(where);
            return at == std::string::npos ? text
                                           : text.substr(0, at) + text.substr(at + where.size());
        }
        return "solved";
    }

    std::filesystem::path module_;
    std::vector<std::string> packages_{
        "kernel-core-5-1.x86_64",
        "selinux-policy-targeted-2:38-1.noarch | requires: selinux-policy = 2:38-1",
        "selinux-policy-2:38-1.noarch",
        "selinux-policy-devel-2:38-1.noarch | requires: selinux-policy = 2:38-1, m4",
        "selinux-policy-devel-2:39-1.noarch | requires: m4",
        "checkpolicy-3-1.x86_64",
        "m4-1-1.x86_64",
        "make-4-1.x86_64",
        "sed-4-1.x86_64"};
};

TEST_F(PolicyRoot, HoldsTheDevelPackageOfTheImagesPolicyAndItsTools) {
    const Resolution resolution = solve();
    EXPECT_THAT(
        texts(resolution.policy_root),
        ElementsAre("checkpolicy-3-1.x86_64", "m4-1-1.x86_64", "make-4-1.x86_64", "sed-4-1.x86_64",
                    "selinux-policy-2:38-1.noarch", "selinux-policy-devel-2:38-1.noarch"));
    EXPECT_THAT(texts(resolution.packages), Not(Contains("m4-1-1.x86_64")));
    EXPECT_THAT(why_package(ctx_, blueprint_, "m4").kept_out,
                Contains("m4-1-1.x86_64 is only where policy modules are compiled (compiles policy "
                         "modules)"));
}

TEST_F(PolicyRoot, IsNotThereForPlainModules) {
    write_module("module x 1.0;\nrequire { type a_t; }\n");
    EXPECT_THAT(solve().policy_root, IsEmpty());
}

TEST_F(PolicyRoot, WithoutTheFittingDevelPackageTheModuleIsNamed) {
    std::erase(packages_,
               "selinux-policy-devel-2:38-1.noarch | requires: selinux-policy = 2:38-1, m4");
    write_module("module x 1.0;\n\ndomain_type(x_t)\n");
    const std::string text = failure(ErrorKind::unsolvable);
    EXPECT_THAT(text, HasSubstr("error: x.te:3: 'domain_type' is a macro of the reference policy: "
                                "compiling it requires selinux-policy-devel-2:38-1, which no "
                                "repository has\n"));
    EXPECT_THAT(text, HasSubstr("there is selinux-policy-devel-2:39-1.noarch in 'base'"));
    EXPECT_THAT(text, HasSubstr("hint: add the repository with selinux-policy-devel-2:38-1"));
}

TEST_F(PolicyRoot, AToolThatNoRepositoryHasIsNamed) {
    std::erase(packages_, "make-4-1.x86_64");
    EXPECT_THAT(failure(ErrorKind::unsolvable), HasSubstr("no repository has make"));
}

TEST_F(PolicyRoot, AnImageWithoutPolicyIsNotTheDevelPackagesFault) {
    blueprint_.packages = {{"sed", {"/blueprint.toml", 9, 5}}};
    EXPECT_THAT(failure(ErrorKind::usage), HasSubstr("and the image has no selinux-policy"));
}

TEST_F(PolicyRoot, IsLockedAndConfirmed) {
    const auto path = directory_.path() / "lock";
    write_lockfile(path, solve());
    const Resolution locked = read_lockfile(path);
    packages_.emplace_back("make-5-1.x86_64");
    make_metadata(directory_.path() / "base", packages_);
    EXPECT_EQ(texts(resolve_locked(ctx_, blueprint_, locked).policy_root),
              texts(locked.policy_root));
    EXPECT_THAT(texts(resolve_update(ctx_, blueprint_, locked, {"make"}).policy_root),
                Contains("make-5-1.x86_64"));
    EXPECT_THAT(texts(resolve_update(ctx_, blueprint_, locked, {"sed"}).policy_root),
                Contains("make-4-1.x86_64"));

    const auto drift = [&](const Resolution& resolution) -> std::string {
        try {
            (void)resolve_locked(ctx_, blueprint_, resolution);
        } catch (const Error& problem) {
            return problem.render();
        }
        return "confirmed";
    };
    // A lockfile from before the module got its first macro.
    Resolution older = locked;
    older.policy_root.clear();
    EXPECT_THAT(drift(older),
                HasSubstr("compiling it requires selinux-policy-devel-2:38-1, which is "
                          "not locked"));
    write_module("module x 1.0;\n");
    EXPECT_THAT(drift(locked), HasSubstr("packages that compile policy modules are locked, but no "
                                         "module needs them any more"));
    EXPECT_EQ(drift(older), "confirmed");
}

}  // namespace
}  // namespace edgegpu
