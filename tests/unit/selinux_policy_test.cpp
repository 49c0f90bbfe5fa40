#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blueprint/sources/policy_source.hpp"
#include "execution/process.hpp"
#include "selinux/policy/policydb.hpp"
#include "selinux/policy_cache.hpp"
#include "selinux/selinux.hpp"
#include "selinux/store/policy_result.hpp"
#include "selinux/store/store.hpp"
#include "small_root.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class Policy : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "edgegpu-policy.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        ctx_.cache = pattern;
        make_directories(ctx_.cache / "work");
        blueprint_.selinux.location = {"image.toml", 4, 1};
    }
    void TearDown() override { fs::remove_all(ctx_.cache); }

    void add_file(const std::string& path, const std::string& content) {
        tree_.entries[path] = make_file_entry(ctx_, content, 0644);
    }
    /// A policy that no tool was run on.
    void add_small_policy() {
        add_file("/etc/selinux/config", "# x\nSELINUX=enforcing\n SELINUXTYPE = targeted \n");
        add_file("/etc/selinux/semanage.conf", "expand-check=0\n");
        add_file("/etc/selinux/targeted/contexts/files/file_contexts", "/ -d u:r:root_t:s0\n");
        add_file("/var/lib/selinux/targeted/active/modules/100/base/cil", "x");
        add_file("/var/lib/selinux/targeted/semanage.trans.LOCK", "");
        Entry directory;
        directory.type = EntryType::directory;
        directory.mode = 0700;
        for (const char* path :
             {"/var/lib/selinux/targeted", "/var/lib/selinux/targeted/active",
              "/var/lib/selinux/targeted/active/modules",
              "/var/lib/selinux/targeted/active/modules/100",
              "/var/lib/selinux/targeted/active/modules/100/base", "/etc/selinux/targeted",
              "/etc/selinux/targeted/contexts", "/etc/selinux/targeted/contexts/files"}) {
            tree_.entries[path] = directory;
        }
    }
    [[nodiscard]] std::string failure() const {
        try {
            static_cast<void>(build_policy(ctx_, blueprint_, tree_, {}));
        } catch (const Error& error) {
            return error.message();
        }
        return "accepted";
    }

    /// The key of the only policy in the cache.
    [[nodiscard]] std::string only_key() const {
        const std::string name =
            fs::directory_iterator(ctx_.cache / "policy")->path().filename().string();
        return name.substr(0, name.rfind('-'));
    }

    Context ctx_;
    Blueprint blueprint_;
    Tree tree_;
};

TEST_F(Policy, PathsComeFromTheImagesConfiguration) {
    add_small_policy();
    const auto paths = selinux::find_policy(tree_);
    ASSERT_TRUE(paths);
    EXPECT_EQ(paths->type, "targeted");
    EXPECT_EQ(paths->policy, "/etc/selinux/targeted");
    EXPECT_EQ(paths->store, "/var/lib/selinux/targeted");
    EXPECT_EQ(selinux::stored_modules(tree_, *paths), (std::set<selinux::ModuleId>{{100, "base"}}));
    add_file("/etc/selinux/semanage.conf", "store-root = /etc/selinux\n");
    EXPECT_EQ(selinux::find_policy(tree_)->store, "/etc/selinux/targeted");
}

TEST_F(Policy, ATypeThatIsAPathIsRefused) {
    add_file("/etc/selinux/config", "SELINUXTYPE=../../x\n");
    EXPECT_EQ(failure(), "/etc/selinux/config: SELINUXTYPE '../../x' is not the name of a policy");
}

TEST_F(Policy, WithoutChangesTheStoreOnlyMovesToEtc) {
    add_small_policy();
    const PolicyResult result = build_policy(ctx_, blueprint_, tree_, {});
    apply_policy(tree_, result);
    EXPECT_FALSE(tree_.entries.contains("/var/lib/selinux/targeted"));
    const Entry& module = tree_.entries.at("/etc/selinux/targeted/active/modules/100/base");
    EXPECT_EQ(module.mode, 0700U);
    EXPECT_FALSE(tree_.entries.contains("/etc/selinux/targeted/semanage.trans.LOCK"));
    EXPECT_EQ(read_entry(tree_, "/etc/selinux/semanage.conf"),
              "expand-check=0\nstore-root=/etc/selinux\n");
}

TEST_F(Policy, TheCacheReturnsTheSameResult) {
    add_small_policy();
    const PolicyResult first = build_policy(ctx_, blueprint_, tree_, {});
    ASSERT_EQ(std::distance(fs::directory_iterator(ctx_.cache / "policy"), {}), 1);
    const auto kept = find_stored(ctx_, selinux::kept_policies, only_key());
    ASSERT_TRUE(kept);
    const auto again = selinux::load_policy(ctx_, *kept);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->type, first.type);
    EXPECT_EQ(again->removed, first.removed);
    ASSERT_EQ(again->entries.size(), first.entries.size());
    for (const auto& [path, entry] : first.entries) {
        const Entry& other = again->entries.at(path);
        EXPECT_EQ(other.digest, entry.digest) << path;
        EXPECT_EQ(other.mode, entry.mode) << path;
        EXPECT_EQ(other.content, entry.content) << path;
    }
}

TEST_F(Policy, WhoseContentIsDamagedIsNotUsed) {
    add_small_policy();
    const PolicyResult result = build_policy(ctx_, blueprint_, tree_, {});
    const auto kept = find_stored(ctx_, selinux::kept_policies, only_key());
    ASSERT_TRUE(kept);
    const fs::path content = result.entries.at("/etc/selinux/semanage.conf").content;
    std::string text = read_file(content);
    text[0] ^= 1;
    write_file(content, text);
    EXPECT_FALSE(selinux::load_policy(ctx_, *kept));
}

TEST_F(Policy, ChangesWithoutAPolicyAreRefused) {
    blueprint_.selinux.booleans["x"] = true;
    EXPECT_EQ(failure(), "image.toml:4:1: the image has no SELinux policy to change");
    blueprint_.selinux.booleans.clear();
    tree_.policy_calls = {{"semodule", "-i", "/x.pp"}};
    EXPECT_EQ(failure(),
              "a scriptlet called 'semodule -i /x.pp', but the image has no SELinux policy");
}

TEST_F(Policy, AModuleThatTheImageLacksIsNamed) {
    add_small_policy();
    tree_.policy_calls = {{"semodule", "-i", "/tmp/x.pp"}};
    EXPECT_EQ(failure(),
              "a scriptlet installed the policy module /tmp/x.pp, which is not in the image");
}

TEST_F(Policy, AFileThatIsNoPolicyIsRefused) {
    const fs::path file = ctx_.cache / "policy.33";
    write_file(file, "not a policy");
    EXPECT_THROW((selinux::PolicyDb{ctx_, file}), Error);
}

/// The whole transaction, with this machine's semodule and policy in the part of the image.
class PolicyTransaction : public Policy {
protected:
    void SetUp() override {
        Policy::SetUp();
        if (::access("/var/lib/selinux/default/active/modules/100/base", R_OK | X_OK) != 0) {
            GTEST_SKIP() << "needs the package selinux-policy-default, and root to read its store";
        }
        tree_.root = ctx_.cache / "root";
        tree_.kernel = "6.1.0-99-edge";
        const std::string script =
            "set -e; mkdir -p root/usr/bin root/usr/sbin root/usr/lib root/usr/lib64 root/etc "
            "root/var/lib/selinux root/usr/libexec/selinux/hll\n"
            "for d in bin sbin lib lib64; do ln -s usr/$d root/$d; done\n"
            "for f in /bin/sh /usr/sbin/semodule /usr/sbin/setfiles /usr/sbin/sefcontext_compile "
            "/usr/libexec/selinux/hll/pp; do\n"
            "  cp -L $f root$f; ldd $(readlink -f $f); done | grep -o '/[^ ]*' | sort -u |\n"
            "while read l; do mkdir -p root${l%/*}; cp -L $l root$l; done\n"
            "cp -a /etc/selinux root/etc/; mv root/etc/selinux/default root/etc/selinux/targeted\n"
            "cp -a /var/lib/selinux/default root/var/lib/selinux/targeted\n"
            "sed -i s/^SELINUXTYPE=.*/SELINUXTYPE=targeted/ root/etc/selinux/config\n"
            "echo root:x:0:0::/root:/bin/sh > root/etc/passwd; echo root:x:0: > root/etc/group\n";
        const ProcessResult made = run_process(ctx_, {"sh", "-c", script}, {}, {}, ctx_.cache);
        ASSERT_EQ(made.status, 0) << made.output;
        test::add_all_from_disk(ctx_, tree_, tree_.root);
    }
};

TEST_F(PolicyTransaction, ModuleAndBooleanAreInTheBuiltPolicy) {
    write_file(ctx_.cache / "gpu.te",
               "module gpu 1.0;\nrequire { type sshd_t; type xserver_misc_device_t;\n"
               "class chr_file map; }\nallow sshd_t xserver_misc_device_t:chr_file map;\n");
    blueprint_.selinux.modules = {ctx_.cache / "gpu.te"};
    const auto before =
        selinux::PolicyDb(ctx_, tree_.root / "etc/selinux/targeted/policy/policy.33");
    const bool value = !before.booleans().at("ssh_sysadm_login");
    blueprint_.selinux.booleans = {{"ssh_sysadm_login", value}};
    const PolicyResult result = build_policy(ctx_, blueprint_, tree_, {});
    EXPECT_EQ(result.modules, std::vector<std::string>{"gpu"});
    EXPECT_TRUE(result.entries.contains("/etc/selinux/targeted/active/modules/400/gpu/cil"));
    EXPECT_FALSE(fs::exists(tree_.root / "var/lib/selinux/targeted/active/modules/400"))
        << "the tree itself must not change";
    const auto built = result.entries.find("/etc/selinux/targeted/policy/policy.33");
    ASSERT_NE(built, result.entries.end());
    EXPECT_EQ(selinux::PolicyDb(ctx_, built->second.content).booleans().at("ssh_sysadm_login"),
              value);

    fs::remove_all(ctx_.cache / "policy");
    const PolicyResult again = build_policy(ctx_, blueprint_, tree_, {});
    ASSERT_EQ(again.entries.size(), result.entries.size());
    for (const auto& [path, entry] : result.entries) {
        EXPECT_EQ(again.entries.at(path).digest, entry.digest) << path;
    }
}

TEST_F(PolicyTransaction, ContainersGetTheGpuAndRulesAreChecked) {
    const fs::path source = ctx_.cache / "container.te";
    write_file(source,
               "module container 1.0;\nrequire { attribute device_node; role system_r;\n"
               "class chr_file { ioctl read write getattr open }; }\n"
               "attribute container_domain; type container_t, container_domain;\n"
               "role system_r types container_t; bool container_use_devices false;\n"
               "if (container_use_devices) { allow container_domain device_node:chr_file\n"
               "{ ioctl read write getattr open }; }\n");
    const std::string compile =
        "checkmodule -M -m -c 19 -o container.mod container.te && "
        "semodule_package -o container.pp -m container.mod && bzip2 container.pp";
    const ProcessResult made = run_process(ctx_, {"sh", "-c", compile}, {}, {}, ctx_.cache);
    ASSERT_EQ(made.status, 0) << made.output;
    const std::string package = "/usr/share/selinux/packages/container.pp.bz2";
    make_directories(tree_.root / "usr/share/selinux/packages");
    fs::copy_file(ctx_.cache / "container.pp.bz2", tree_.root / package.substr(1));
    test::add_from_disk(ctx_, tree_, tree_.root, tree_.root / package.substr(1));
    tree_.policy_calls = {{"semodule", "-n", "-X", "200", "-i", package}};
    blueprint_.path = fs::path(EDGEGPU_SOURCE_DIR) / "blueprints" / "image.toml";
    blueprint_.selinux.gpu_containers = true;
    blueprint_.selinux.map_module = shipped_map_module(blueprint_.path);
    blueprint_.selinux.require = {
        {"allow container_t xserver_misc_device_t:chr_file { open map }", {"image.toml", 6, 3}}};

    const PolicyResult result = build_policy(ctx_, blueprint_, tree_, {});
    EXPECT_EQ(result.modules, std::vector<std::string>{"nvidia-container-microshift"});
    EXPECT_EQ(result.gpu_access,
              "boolean container_use_devices and module nvidia-container-microshift: the boolean "
              "gives no map");
    const selinux::PolicyDb policy(
        ctx_, result.entries.at("/etc/selinux/targeted/policy/policy.33").content);
    EXPECT_TRUE(policy.booleans().at("container_use_devices"));

    // The policy is kept; what it must not have is looked for all the same.
    blueprint_.selinux.forbid = {
        {"allow container_t null_device_t:chr_file write", {"image.toml", 7, 3}}};
    EXPECT_EQ(std::distance(fs::directory_iterator(ctx_.cache / "policy"), {}), 1);
    EXPECT_EQ(failure(),
              "image.toml:7:3: the image's policy has a forbidden rule: allow container_t "
              "null_device_t:chr_file write");
    EXPECT_EQ(std::distance(fs::directory_iterator(ctx_.cache / "policy"), {}), 1);
}

TEST_F(PolicyTransaction, AnUnknownBooleanNamesItsNeighbours) {
    blueprint_.selinux.booleans = {{"ssh_sysadm_logn", true}};
    try {
        static_cast<void>(build_policy(ctx_, blueprint_, tree_, {}));
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_EQ(error.message(),
                  "image.toml:4:1: the image's SELinux policy has no boolean 'ssh_sysadm_logn'");
        EXPECT_TRUE(error.hint().starts_with("did you mean ssh_sysadm_login")) << error.hint();
    }
}

TEST_F(PolicyTransaction, ATypeThePolicyLacksIsFoundInTheSource) {
    write_file(ctx_.cache / "bad.te",
               "module bad 1.0;\nrequire {\n    type sshd_t;\n    type nowhere_t;\n"
               "    class chr_file map;\n}\nallow sshd_t nowhere_t:chr_file map;\n");
    blueprint_.selinux.modules = {ctx_.cache / "bad.te"};
    EXPECT_EQ(failure(),
              (ctx_.cache / "bad.te").string() + ":4: the image's policy has no 'nowhere_t'");
}

}  // namespace
}  // namespace edgegpu
