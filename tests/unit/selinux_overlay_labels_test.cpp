#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "selinux/labels/overlay_labels.hpp"

namespace edgegpu::test {
namespace {

class OverlayLabels : public TreeTest {
protected:
    void rule(const std::string& path, const std::string& label, unsigned line) {
        OverlayRule fresh;
        fresh.path = path;
        fresh.label = label;
        fresh.location = {"b.toml", line, 1};
        overlays.resize(1);
        overlays[0].rules.push_back(fresh);
    }
    void labelled(const std::string& path, const std::string& type) {
        file(path, "");
        tree.entries.at(path).label = "system_u:object_r:" + type + ":s0";
    }
    std::vector<OverlayRequest> overlays;
};

TEST_F(OverlayLabels, RulesBecomeLocalFileContexts) {
    using Contexts = std::map<std::pair<std::string, std::string>, std::string>;
    rule("/opt/v/bin/*", "bin_t", 3);
    rule("/opt/v/x.so", "staff_u:object_r:lib_t:s0", 4);
    rule("/opt/v/y", "", 5);
    Contexts contexts;
    selinux::add_overlay_labels(overlays, true, contexts);
    EXPECT_EQ(contexts, (Contexts{{{"/opt/v/bin/[^/]*", ""}, "system_u:object_r:bin_t:s0"},
                                  {{"/opt/v/x\\.so", ""}, "staff_u:object_r:lib_t:s0"}}));
    contexts.clear();
    selinux::add_overlay_labels(overlays, false, contexts);
    EXPECT_EQ((contexts[{"/opt/v/bin/[^/]*", ""}]), "system_u:object_r:bin_t");
}

TEST_F(OverlayLabels, TheTreeHasWhatTheRulesSay) {
    rule("/opt/v/**", "lib_t", 3);
    rule("/opt/v/bin/*", "bin_t", 4);
    rule("/etc/v/*", "system_u:object_r:v_etc_t:s0", 5);
    labelled("/usr/lib/opt/v/x", "lib_t");
    labelled("/usr/lib/opt/v/bin/x", "bin_t");
    labelled("/usr/etc/v/x", "v_etc_t");
    labelled("/usr/bin/other", "bin_t");
    tree.entries.at("/usr/lib/opt/v/bin").label = "system_u:object_r:lib_t:s0";
    overlays[0].rules[1].path = "/opt/v/bin/**";
    check_overlay_labels(overlays, tree);
    labelled("/usr/lib/opt/v/bin/x", "shell_exec_t");
    EXPECT_EQ(error_of([&] { check_overlay_labels(overlays, tree); }),
              "b.toml:4:1: /usr/lib/opt/v/bin/x gets the label system_u:object_r:shell_exec_t:s0, "
              "not bin_t|file contexts of a path override patterns: use that path in the rule");
    overlays[0].rules = {overlays[0].rules[2]};
    file("/usr/etc/v/x", "");
    EXPECT_EQ(error_of([&] { check_overlay_labels(overlays, tree); }),
              "b.toml:5:1: the image has no SELinux policy to label /usr/etc/v/x with|add "
              "selinux-policy-targeted to the packages");
}

TEST_F(OverlayLabels, OtherFailuresOfSemoduleAreNotTheirs) {
    rule("/opt/v/**", "lib_t", 3);
    const auto policy = [] { return selinux::PolicyDb(Context(), "/no/such/policy"); };
    selinux::explain_refused_label(overlays, "semodule:  Failed!\n", policy);
    EXPECT_EQ(error_of([&] {
                  selinux::explain_refused_label(
                      overlays,
                      "libsemanage.validate_handler: invalid context system_u:object_r:lib_t:s9 "
                      "specified for /opt/v/.* [all files] (Invalid argument).\n",
                      policy);
              }),
              "b.toml:3:1: the image's SELinux policy has no context \"lib_t\"|");
}

}  // namespace
}  // namespace edgegpu::test
