#include <locale>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/fields/blueprint.hpp"
#include "blueprint/fields/digest.hpp"
#include "blueprint_changes.hpp"
#include "blueprint_testing.hpp"

namespace edgegpu::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string blueprint_digest(const Blueprint& blueprint) {
    Sha256 digest;
    add_blueprint(digest, blueprint);
    return digest.hex();
}

struct SmallAggregate {
    std::optional<std::uint32_t> number;
    std::string text;
    std::optional<Repository> inner;
    std::map<std::string, bool> map;
    std::shared_ptr<const int> pointer;
    UnitState state = UnitState::preset;
    std::filesystem::path path;
};

static_assert(aggregate_size<SmallAggregate> == 7);

class BlueprintFields : public BlueprintTest {
protected:
    BlueprintFields() { Filler(directory_).fill(filled_); }
    Blueprint filled_;
};

TEST_F(BlueprintFields, EveryInputCountsAndNothingElse) {
    const std::string before = blueprint_digest(filled_);
    std::map<std::string, std::string> seen{{before, "no change"}};
    unsigned changes = 0;
    Changes(filled_, directory_)
        .each([&](const std::string& name, bool counts, const Blueprint& changed) {
            const std::string digest = blueprint_digest(changed);
            ++changes;
            if (!counts) {
                EXPECT_EQ(digest, before) << name;
                return;
            }
            const auto [earlier, fresh] = seen.emplace(digest, name);
            EXPECT_TRUE(fresh) << name << " is not told from " << earlier->second;
        });
    // The blueprint is filled, and each of its tables was gone into.
    EXPECT_GT(changes, 400U);
}

/// Names of the fields that are no inputs, in the order of their description.
template <typename Struct>
void add_no_inputs(const std::string& name, std::vector<std::string>& names) {
    Struct value{};
    each_field(value, [&]<typename Row>(const Row& row, auto& owner) {
        using Value = std::remove_cvref_t<decltype(owner.*row.member)>;
        if (Row::shown != Shown::never || Row::counts != Counts::never) {
            if (Row::counts == Counts::never || Row::counts == Counts::packages) {
                names.push_back(name + std::string(row.name));
            }
        }
        if constexpr (Described<Value>) {
            add_no_inputs<Value>(name + std::string(row.name) + ".", names);
        }
    });
}

// What is added here decides nothing of a commit, or only by way of the packages: whoever adds to
// it has to be sure.
TEST_F(BlueprintFields, NoInputsAreTheseAlone) {
    std::vector<std::string> names;
    add_no_inputs<Blueprint>("", names);
    EXPECT_THAT(
        names,
        ElementsAre("description", "distro", "releasever", "repositories", "package_set.name",
                    "package_set.packages", "package_set.excludes", "package_set.weak_dependencies",
                    "packages", "groups", "modules", "excludes", "weak_dependencies", "kernel_name",
                    "provided", "ostree.gpg_homedir", "ostree.sign_ed25519", "ostree.sign_command",
                    "image", "image.size", "image.stateroot", "image.remote", "image.append",
                    "image.target_rule", "image.compress", "image.inject", "image.sign",
                    "image.least_sizes", "image.least_sizes.disk", "image.least_sizes.root",
                    "image.least_sizes.boot", "image.least_sizes.esp", "image.volumes", "test",
                    "test.checks", "test.allow_denials"));
    names.clear();
    add_no_inputs<NvidiaRequest>("", names);
    EXPECT_THAT(names, ElementsAre("driver", "modules", "flavor", "kernel", "kernel.policy",
                                   "kernel.glob", "toolkit", "profile", "gpus", "secure_boot"));
    names.clear();
    add_no_inputs<DeviceRepository>("", names);
    add_no_inputs<UserRequest>("", names);
    add_no_inputs<GroupRequest>("", names);
    add_no_inputs<FileRequest>("", names);
    add_no_inputs<OverlayRequest>("", names);
    add_no_inputs<OverlayRule>("", names);
    add_no_inputs<BundleRequest>("", names);
    add_no_inputs<PolicyRuleRequest>("", names);
    add_no_inputs<SoftDependency>("", names);
    add_no_inputs<UnitRequest>("", names);
    add_no_inputs<FirewallRequest>("", names);
    add_no_inputs<FirstbootScript>("", names);
    add_no_inputs<SubscriptionRequest>("", names);
    EXPECT_THAT(names, ElementsAre());
}

TEST_F(BlueprintFields, CommentsOrderOfKeysAndFormattingDoNotCount) {
    const std::string one = blueprint_digest(parse(R"(name = "a"
distro = "rhel-9.4"
[[repositories]]
id = "a"
baseurl = "/x"
gpgcheck = false
repo_gpgcheck = false
[selinux]
booleans = { b = true, a = false }
[[customizations.user]]
name = "joe"
groups = ["wheel", "video"]
[customizations.services]
enabled = ["sshd", "chronyd"]
)"));
    EXPECT_EQ(blueprint_digest(parse(R"(# the same
distro   = 'rhel-9.4'
name = "a"  # its name
customizations.services.enabled = [ "chronyd",
                                    "sshd" ]
[selinux.booleans]
a = false
b = true

[[customizations.user]]
groups = ["video", "wheel"]
name = "joe"
[[repositories]]
id = "a"
baseurl = "/x"
repo_gpgcheck = false
gpgcheck = false
)")),
              one);
}

TEST_F(BlueprintFields, TheLocaleDoesNotCount) {
    struct Grouped : std::numpunct<char> {
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\1"; }
    };
    filled_.users[0].uid = 1234567;
    const std::string before = blueprint_digest(filled_);
    const std::locale old = std::locale::global(std::locale(std::locale::classic(), new Grouped));
    const std::string after = blueprint_digest(filled_);
    std::locale::global(old);
    EXPECT_EQ(after, before);
}

TEST_F(BlueprintFields, WhatWasNotCopiedIsNoInput) {
    const auto refused = [](const Blueprint& blueprint) {
        try {
            return blueprint_digest(blueprint);
        } catch (const Error& problem) {
            return problem.message();
        }
    };
    Blueprint blueprint = filled_;
    blueprint.overlays[0].stored = nullptr;
    EXPECT_THAT(refused(blueprint), HasSubstr(": the build took no copy of it"));
    blueprint = filled_;
    blueprint.microshift.bundles[0].stored = nullptr;
    EXPECT_THAT(refused(blueprint), HasSubstr(": the build took no copy of it"));
    blueprint = filled_;
    blueprint.files[0].stored.reset();
    EXPECT_THAT(refused(blueprint), HasSubstr(": the build took no copy of it"));
    blueprint = filled_;
    blueprint.selinux.map_module.clear();
    blueprint.selinux.gpu_containers = true;
    EXPECT_EQ(refused(blueprint),
              "the policy module of gpu_containers: the build took no copy of it");
}

}  // namespace
}  // namespace edgegpu::test
