#include "selinux/store/store.hpp"

#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "customise_fixture.hpp"
#include "selinux/policy_cache.hpp"
#include "selinux/selinux.hpp"
#include "selinux/store/policy_result.hpp"
#include "small_root.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* conf = "/etc/selinux/semanage.conf";

/// A small policy in an image, and a file of the builder that must not come near it.
class PolicyStore : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        host_file("secret/canary", "SECRET");
        host_file("secret/policy.33", "SECRET");
        host_file("secret/file_contexts.local", "SECRET");
        file("/etc/selinux/config", "SELINUXTYPE=targeted\n");
        file(conf, "expand-check=0\n");
        file("/etc/selinux/targeted/contexts/files/file_contexts", "/ -d u:r:root_t:s0\n");
        file("/etc/selinux/targeted/policy/policy.33", "not a policy");
        file("/var/lib/selinux/targeted/active/commit_num", "1");
        blueprint.path = scratch / "image.toml";
        blueprint.selinux.location = {"image.toml", 4, 1};
    }
    void TearDown() override {
        EXPECT_EQ(read_file(secret() / "canary"), "SECRET");
        EXPECT_EQ(read_file(secret() / "file_contexts.local"), "SECRET");
        EXPECT_EQ(std::distance(fs::directory_iterator(secret()), {}), 3);
        TreeTest::TearDown();
    }
    [[nodiscard]] fs::path secret() const { return scratch / "secret"; }
    [[nodiscard]] std::string canary() const { return (secret() / "canary").string(); }
    /// Puts a link where the tree has something else.
    void replace_by_link(const std::string& path, const std::string& target) {
        remove_entry(tree, path);
        link(path, target);
    }
    [[nodiscard]] std::string failure() const {
        return error_of([&] { static_cast<void>(build_policy(ctx, blueprint, tree, {})); });
    }
    [[nodiscard]] selinux::StoreCopy copy() const {
        return {ctx, tree, *selinux::find_policy(tree)};
    }
    /// The directory that is bound at /etc/selinux.
    static fs::path bound(const selinux::StoreCopy& copy) { return copy.binds().at(0).first; }

    Blueprint blueprint;
};

TEST(SemanageConf, ASettingIsInOneLine) {
    using selinux::with_setting;
    EXPECT_EQ(with_setting("a=b\n store-root = /x\nstore-rootless=1", "store-root", "/y"),
              "a=b\nstore-rootless=1\nstore-root=/y\n");
    EXPECT_EQ(with_setting("", "expand-check", "1"), "expand-check=1\n");
}

TEST_F(PolicyStore, ALinkInPlaceOfTheConfigurationIsRefused) {
    replace_by_link(conf, canary());
    EXPECT_EQ(failure(), "/etc/selinux/semanage.conf of the image: not a regular file|");
    EXPECT_EQ(std::distance(fs::directory_iterator(ctx.cache / "policy"), {}), 0);
}

TEST_F(PolicyStore, LinksInPlaceOfTheDirectoriesAreRefused) {
    replace_by_link("/var/lib/selinux", secret().string());
    EXPECT_TRUE(failure().starts_with("/var/lib/selinux of the image: not a directory|"));
    remove_entry(tree, "/var/lib/selinux");
    remove_entry(tree, "/etc/selinux");
    file("/usr/share/policy/config", "SELINUXTYPE=targeted\n");
    link("/etc/selinux", "/usr/share/policy");
    EXPECT_TRUE(failure().starts_with("/etc/selinux of the image: not a directory|"));
}

TEST_F(PolicyStore, AStoreAboveThePolicyIsRefused) {
    for (const char* root : {"/", "/etc"}) {
        file(conf, fmt::format("store-root={}\n", root));
        EXPECT_EQ(failure(),
                  fmt::format("{}: store-root '{}' contains /etc/selinux itself|", conf, root));
    }
}

TEST_F(PolicyStore, LocalChangesDoNotFollowTheStoresLinks) {
    replace_by_link("/var/lib/selinux/targeted/active", secret().string());
    blueprint.overlays.resize(1);
    blueprint.overlays[0].rules.resize(1);
    blueprint.overlays[0].rules[0].path = "/opt/x";
    blueprint.overlays[0].rules[0].label = "bin_t";
    EXPECT_NE(failure().find("/active/file_contexts.local of the image: "), std::string::npos)
        << failure();
}

TEST_F(PolicyStore, AFifoInPlaceOfThePolicyIsNotWaitedFor) {
    const selinux::StoreCopy store = copy();
    const fs::path policy = bound(store) / "targeted/policy/policy.33";
    fs::remove(policy);
    ASSERT_EQ(::mkfifo(policy.c_str(), 0644), 0);
    EXPECT_EQ(error_of([&] { static_cast<void>(store.binary_policy()); }),
              "/etc/selinux/targeted/policy/policy.33 of the image: not a regular file|");
    EXPECT_EQ(error_of([&] { static_cast<void>(store.collect(ctx, tree)); }),
              "/etc/selinux/targeted/policy/policy.33: the policy transaction left a special "
              "file|");
}

TEST_F(PolicyStore, LinksOutOfTheCopyLeadNowhere) {
    const selinux::StoreCopy store = copy();
    fs::remove_all(bound(store) / "targeted/policy");
    fs::create_directory_symlink(secret(), bound(store) / "targeted/policy");
    EXPECT_EQ(error_of([&] { static_cast<void>(store.binary_policy()); }),
              "the image has no binary policy in /etc/selinux/targeted/policy|");
    // As it is, it goes into the image, where it leads to what the image has.
    const PolicyResult left = store.collect(ctx, tree);
    EXPECT_EQ(left.entries.at("/etc/selinux/targeted/policy").target, secret().string());
    EXPECT_FALSE(left.entries.contains("/etc/selinux/targeted/policy/canary"));

    fs::remove(bound(store) / "semanage.conf");
    fs::create_symlink(canary(), bound(store) / "semanage.conf");
    EXPECT_EQ(error_of([&] { static_cast<void>(store.collect(ctx, tree)); }),
              "/etc/selinux/semanage.conf of the image: not a regular file|");
}

TEST_F(PolicyStore, HugeFilesAndDeepDirectoriesAreErrors) {
    tree.entries.at("/etc/selinux/targeted/policy/policy.33").size = 1ULL << 40U;
    EXPECT_EQ(failure(),
              "/etc/selinux/targeted/policy/policy.33 of the image: 1099511627776 bytes are too "
              "large for a file of a policy|");
    tree.entries.at("/etc/selinux/targeted/policy/policy.33").size = 12;
    const selinux::StoreCopy store = copy();
    const fs::path huge = bound(store) / "targeted/huge";
    write_file(huge, "");
    ASSERT_EQ(::truncate(huge.c_str(), 1LL << 40), 0);
    EXPECT_NE(
        error_of([&] { static_cast<void>(store.collect(ctx, tree)); }).find("exceed the limit"),
        std::string::npos);
    fs::remove(huge);
    Fd at(::open(bound(store).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::string name(100, 'd');
    for (int depth = 0; depth < 60; ++depth) {
        ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
        at = Fd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    EXPECT_NE(error_of([&] {
                  static_cast<void>(store.collect(ctx, tree));
              }).find("a path longer than 4095 bytes"),
              std::string::npos);
}

TEST_F(PolicyStore, NothingOfTheCopyStays) {
    static_cast<void>(copy());
    EXPECT_TRUE(fs::is_empty(ctx.cache / "work"));
}

TEST_F(PolicyStore, ANameOfAPackageIsNoLineOfTheCache) {
    PolicyResult result;
    result.type = "targeted";
    result.removed = {fmt::format("/etc/selinux/a\nf\t644\t0\t0\t6\t{}\t{}\t/etc/x\t",
                                  std::string(64, '0'), canary())};
    {
        NewEntry entry(ctx, selinux::kept_policies, "key");
        selinux::store_policy(ctx, entry, result);
        entry.keep({});
    }
    EXPECT_FALSE(find_stored(ctx, selinux::kept_policies, "key"));
}

/// With a semodule of the image that does what it likes.
class HostileSemodule : public PolicyStore {
protected:
    void run(const std::string& script) {
        const fs::path root = make_small_root(scratch);
        add_program(root, "/usr/sbin/semodule", script);
        add_all_from_disk(ctx, tree, root);
        host_file("x.cil", "(typepermissive x_t)\n");
        blueprint.selinux.modules = {scratch / "x.cil"};
    }
};

TEST_F(HostileSemodule, SeesTheModulesAndTheStoreAndNothingElse) {
    run("cat /run/edgegpu/modules/x.cil > /etc/selinux/targeted/seen\n"
        "cat /etc/selinux/semanage.conf >> /etc/selinux/targeted/seen\n"
        "if cat " +
        canary() + "; then exit 1; fi");
    const PolicyResult result = build_policy(ctx, blueprint, tree, {});
    EXPECT_EQ(read_file(result.entries.at("/etc/selinux/targeted/seen").content),
              "(typepermissive x_t)\nexpand-check=1\n");
    EXPECT_EQ(read_file(result.entries.at(conf).content),
              "expand-check=0\nstore-root=/etc/selinux\n");
}

TEST_F(HostileSemodule, LeavesALinkInPlaceOfTheConfiguration) {
    run("ln -sf " + canary() + " /etc/selinux/semanage.conf");
    const PolicyResult result = build_policy(ctx, blueprint, tree, {});
    EXPECT_EQ(read_file(result.entries.at(conf).content),
              "expand-check=0\nstore-root=/etc/selinux\n");
}

TEST_F(HostileSemodule, LeavesAFifoInPlaceOfThePolicy) {
    run("cd /etc/selinux/targeted/policy; rm policy.33; mkfifo policy.33");
    blueprint.selinux.booleans = {{"b", true}};
    EXPECT_EQ(failure(),
              "/etc/selinux/targeted/policy/policy.33 of the image: not a regular file|");
}

TEST_F(HostileSemodule, LeavesNamesThatAreNoLines) {
    run("touch '/etc/selinux/targeted/a\nb'; chmod 4755 '/etc/selinux/targeted/a\nb'");
    const PolicyResult result = build_policy(ctx, blueprint, tree, {});
    EXPECT_EQ(result.entries.at("/etc/selinux/targeted/a\nb").mode, 04755U);
    EXPECT_EQ(std::distance(fs::directory_iterator(ctx.cache / "policy"), {}), 0);
}

}  // namespace
}  // namespace edgegpu::test
