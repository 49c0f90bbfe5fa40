#include "selinux/policy/gpu_access.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/sources/policy_source.hpp"
#include "image/tree.hpp"
#include "selinux/gpu_plan.hpp"
#include "selinux/policy_tools.hpp"
#include "selinux/store/calls.hpp"
#include "selinux/store/store.hpp"
#include "selinux_cil.hpp"
#include "small_root.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using namespace selinux;
using ::testing::HasSubstr;

/// container-selinux in its three shapes.
const std::string without_map = R"((boolean container_use_devices false)
(booleanif (container_use_devices)
    (true (allow container_domain device_node (chr_file (ioctl read write getattr open))))))";
const std::string with_map = R"((boolean container_use_devices false)
(booleanif (container_use_devices)
    (true (allow container_domain device_node (chr_file (ioctl read write getattr open map))))))";
const std::string narrow = with_map + R"((boolean container_use_xserver_devices false)
(optional o (booleanif (container_use_xserver_devices)
    (true (allow container_t xserver_misc_device_t (chr_file (getattr)))
          (allow container_t xserver_misc_device_t (chr_file (ioctl read write open map)))))))";

class GpuAccessChoice : public CilPolicies {
protected:
    [[nodiscard]] static GpuAccess choose(const GpuRules& rules,
                                          const std::set<std::string>& off = {}) {
        return choose_gpu_access(rules, {"map"}, off, {"b.toml", 7, 1});
    }
    /// The choice for a policy that has the rules, and for one that a module brings them to: both
    /// must be the same.
    [[nodiscard]] GpuAccess choose(const std::string& rules,
                                   const std::set<std::string>& off = {}) const {
        const PolicyDb finished = compile(rules);
        const PolicyDb before = compile("");
        const GpuAccess after = choose(find_gpu_rules(&finished, {}), off);
        GpuAccess planned = choose(find_gpu_rules(&before, {{"container", 200, rules}}), off);
        const GpuAccess text_only = choose(
            find_gpu_rules(nullptr, {{"base", 100, base()}, {"container", 200, rules}}), off);
        EXPECT_EQ(after.reason, planned.reason);
        EXPECT_EQ(after.reason, text_only.reason);
        EXPECT_EQ(after.boolean, planned.boolean);
        EXPECT_EQ(after.module, planned.module);
        return planned;
    }
    [[nodiscard]] std::string refused(const GpuRules& rules,
                                      const std::set<std::string>& off = {}) const {
        try {
            return "chosen: " + choose(rules, off).reason;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.render();
        }
    }
};

TEST_F(GpuAccessChoice, TheOldestPolicyNeedsTheModule) {
    const GpuAccess access = choose(without_map);
    EXPECT_EQ(access.boolean, "container_use_devices");
    EXPECT_TRUE(access.module);
    EXPECT_EQ(access.reason,
              "boolean container_use_devices and module nvidia-container-microshift: the boolean "
              "gives no map");
}

TEST_F(GpuAccessChoice, ThenTheBooleanAlone) {
    const GpuAccess access = choose(with_map);
    EXPECT_EQ(access.boolean, "container_use_devices");
    EXPECT_FALSE(access.module);
    EXPECT_EQ(access.reason,
              "boolean container_use_devices: it gives container_t the GPU's device nodes, map "
              "included; the narrower container_use_xserver_devices is not in the policy");
}

TEST_F(GpuAccessChoice, TheNarrowerBooleanIsPreferred) {
    const GpuAccess access = choose(narrow);
    EXPECT_EQ(access.boolean, "container_use_xserver_devices");
    EXPECT_FALSE(access.module);
    EXPECT_EQ(access.reason,
              "boolean container_use_xserver_devices: it gives container_t the GPU's device nodes, "
              "map included");
}

TEST_F(GpuAccessChoice, ANarrowerBooleanThatGivesLessIsNot) {
    const GpuAccess access = choose(with_map + R"((boolean container_use_xserver_devices false)
(booleanif container_use_xserver_devices
    (true (allow container_t xserver_misc_device_t (chr_file (ioctl read write getattr open))))))");
    EXPECT_EQ(access.boolean, "container_use_devices");
    EXPECT_FALSE(access.module);
    EXPECT_THAT(access.reason, HasSubstr("; container_use_xserver_devices gives no map"));
}

TEST_F(GpuAccessChoice, WhatHoldsAlreadyNeedsNothing) {
    const GpuAccess access = choose(
        narrow + "(allow container_t device_node (chr_file (ioctl read write getattr open map)))");
    EXPECT_EQ(access.boolean, std::nullopt);
    EXPECT_FALSE(access.module);
    EXPECT_EQ(access.reason, "container_t may use the GPU's device nodes already");
    const PolicyDb before = compile("");
    EXPECT_EQ(choose(find_gpu_rules(&before, {{"container", 200, with_map}},
                                    {{"container_use_devices", true}}))
                  .boolean,
              std::nullopt);
}

TEST_F(GpuAccessChoice, OnlyMapIsMissing) {
    const GpuAccess access =
        choose("(allow container_t device_node (chr_file (ioctl read write getattr open)))");
    EXPECT_EQ(access.boolean, std::nullopt);
    EXPECT_TRUE(access.module);
    EXPECT_EQ(access.reason, "module nvidia-container-microshift: the policy lacks only map");
}

TEST_F(GpuAccessChoice, WhatTheBlueprintKeepsOffStaysOff) {
    const GpuAccess access = choose(narrow, {"container_use_xserver_devices"});
    EXPECT_EQ(access.boolean, "container_use_devices");
    EXPECT_THAT(access.reason,
                HasSubstr("; the blueprint keeps container_use_xserver_devices off"));
    const PolicyDb policy = compile(with_map);
    EXPECT_THAT(refused(find_gpu_rules(&policy, {}), {"container_use_devices"}),
                HasSubstr("hint: [selinux] booleans switches container_use_devices off\n"));
}

TEST_F(GpuAccessChoice, NoBooleanAtAll) {
    const PolicyDb policy = compile("");
    EXPECT_EQ(refused(find_gpu_rules(&policy, {})),
              "error: b.toml:7:1: containers cannot be given the GPU: no boolean of the image's "
              "policy leads to \"allow container_t xserver_misc_device_t:chr_file { getattr ioctl "
              "open read write }\"\n"
              "hint: use a newer container-selinux, which has the boolean container_use_devices; "
              "or name a policy module of your own in [selinux] modules\n");
}

TEST_F(GpuAccessChoice, NoContainersAtAll) {
    EXPECT_EQ(refused(find_gpu_rules(nullptr, {{"m", 100, "(type xserver_misc_device_t)"}})),
              "error: b.toml:7:1: containers cannot be given the GPU: the image's policy has no "
              "type 'container_t'\n"
              "hint: add container-selinux to the packages, or remove gpu_containers\n");
    EXPECT_THAT(refused(find_gpu_rules(nullptr, {{"m", 100, "(type container_t)"}})),
                HasSubstr("has no type 'xserver_misc_device_t'"));
}

TEST_F(GpuAccessChoice, ADomainThatAModuleBringsHasTheAttributesOfThePolicy) {
    const PolicyDb before = compile(
        "(allow domain device_node (chr_file (ioctl read write getattr open)))"
        "(typeattribute domain)(typeattributeset domain (spc_t))"
        "(expandtypeattribute domain false)");
    const GpuRules rules = find_gpu_rules(
        &before, {{"container", 200, "(type container_t)(typeattributeset domain (container_t))"}});
    EXPECT_EQ(rules.given, (std::set<std::string>{"getattr", "ioctl", "open", "read", "write"}));
}

/// The choice before the transaction, from an image's tree.
class GpuAccessPlan : public GpuAccessChoice {
protected:
    void SetUp() override {
        GpuAccessChoice::SetUp();
        ctx_.cache = directory_ / "cache";
        request_.gpu_containers = true;
        request_.map_module =
            shipped_map_module(std::filesystem::path(EDGEGPU_SOURCE_DIR) / "blueprints" / "b.toml");
        request_.location = {"b.toml", 7, 1};
        add("/etc/selinux/config", "SELINUXTYPE=targeted\n");
        add("/etc/selinux/semanage.conf", "store-root=/etc/selinux\n");
        add_module("base", base());
    }
    void add(const std::string& path, const std::string& content) {
        std::string parent = path;
        while (parent = parent.substr(0, parent.rfind('/')), !parent.empty()) {
            Entry directory;
            directory.type = EntryType::directory;
            directory.mode = 0755;
            tree_.entries.emplace(parent, directory);
        }
        tree_.entries[path] = make_file_entry(ctx_, content, 0644);
    }
    void add_module(const std::string& name, const std::string& cil) {
        add("/etc/selinux/targeted/active/modules/100/" + name + "/cil", cil);
    }
    /// The binary policy of base() and `rules`.
    void add_policy(const std::string& rules) {
        add("/etc/selinux/targeted/policy/policy.33", read_file(compile_file(rules)));
    }
    void install(const std::string& path, const std::string& content) {
        add(path, content);
        transaction_.module_files.push_back(path);
    }
    GpuAccess plan() {
        const auto paths = find_policy(tree_);
        const StoreCopy copy(ctx_, tree_, *paths);
        ToolRoot tools(ctx_, tree_, {}, policy_tools(tree_, *paths, transaction_.module_files));
        return plan_gpu_access(request_, tree_, tools, *paths, copy, transaction_);
    }

    Context ctx_;
    SelinuxRequest request_;
    Tree tree_;
    Transaction transaction_;
};

TEST_F(GpuAccessPlan, NothingIsPlannedUnlessAskedFor) {
    request_.gpu_containers = false;
    EXPECT_EQ(plan().reason, "");
    EXPECT_TRUE(transaction_.booleans.empty());
}

TEST_F(GpuAccessPlan, TheModuleToBeInstalledDecides) {
    add_policy("");
    install("/usr/share/selinux/packages/container.cil", without_map);
    const GpuAccess access = plan();
    EXPECT_TRUE(access.module);
    EXPECT_EQ(transaction_.booleans,
              (std::map<std::string, bool>{{"container_use_devices", true}}));
    const auto sources = module_sources(request_, access);
    ASSERT_EQ(sources.size(), 1U);
    EXPECT_EQ(sources[0].filename(), "nvidia-container-microshift.te");
    EXPECT_TRUE(std::filesystem::exists(sources[0]));
}

/// What the image's translator leaves where the modules in CIL should be.
TEST_F(GpuAccessPlan, WhatTheTranslatorLeavesIsNotFollowed) {
    add_policy("");
    write_file(directory_ / "canary", without_map);
    install("/usr/share/selinux/packages/container.pp", "a package");
    const std::filesystem::path root = test::make_small_root(directory_);
    const std::string translator = "/usr/libexec/selinux/hll/pp";
    const auto add_translator = [&](const std::string& script) {
        test::add_program(root, translator, script);
        test::add_all_from_disk(ctx_, tree_, root);
    };
    add_translator("cat \"$1\"; cat > \"$2\" <<'EOF'\n" + without_map + "\nEOF");
    EXPECT_TRUE(plan().module);
    for (const std::string& script :
         {"ln -s " + (directory_ / "canary").string() + " \"$2\"", std::string("mkfifo \"$2\"")}) {
        transaction_.booleans.clear();
        add_translator(script);
        try {
            static_cast<void>(plan());
            FAIL() << "no exception";
        } catch (const Error& failure) {
            EXPECT_EQ(failure.message(), "/0.cil of the image: not a regular file");
        }
    }
}

TEST_F(GpuAccessPlan, AModuleOfTheBlueprintCountsToo) {
    add_policy("");
    install("/usr/share/selinux/packages/container.cil", without_map);
    request_.modules = {std::filesystem::path(EDGEGPU_SOURCE_DIR) / "selinux" /
                        "nvidia-container-microshift.te"};
    const GpuAccess access = plan();
    EXPECT_FALSE(access.module);
    EXPECT_EQ(module_sources(request_, access), request_.modules);
}

TEST_F(GpuAccessPlan, AReplacedModuleOfTheStoreDoesNotCount) {
    add_policy(with_map);
    add_module("container", with_map);
    EXPECT_FALSE(plan().module);
    transaction_.booleans.clear();
    install("/usr/share/selinux/packages/container.cil", without_map);
    EXPECT_TRUE(plan().module);
}

}  // namespace
}  // namespace edgegpu
