#include "report/diff.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "unit/selinux_cil.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;
using test::output_of;

constexpr const char* units = "/usr/lib/systemd/system";
constexpr const char* local_units = "/usr/etc/systemd/system";

/// A tree with the directories that the parts of a diff look at.
class ReportDiff : public CilPolicies {
protected:
    ReportDiff() {
        for (const char* path :
             {"/usr/lib/systemd", units, "/usr/lib/systemd/system/sysinit.target.wants",
              "/usr/etc/systemd", local_units, "/usr/etc/systemd/system/multi-user.target.wants",
              "/usr/etc/modprobe.d", "/usr/etc/microshift", "/usr/etc/microshift/manifests",
              "/usr/etc/microshift/manifests.d", "/usr/etc/selinux", "/usr/etc/selinux/targeted",
              "/usr/etc/selinux/targeted/policy", "/usr/etc/selinux/targeted/contexts",
              "/usr/etc/selinux/targeted/contexts/files", "/usr/etc/selinux/targeted/active",
              "/usr/etc/selinux/targeted/active/modules",
              "/usr/etc/selinux/targeted/active/modules/100",
              "/usr/etc/selinux/targeted/active/modules/disabled"}) {
            fixture_.add_directory(path);
        }
        fixture_.add_file("/usr/etc/selinux/config",
                          "# SELINUX=x\nSELINUX=enforcing\nSELINUXTYPE=targeted\n");
    }

    void add_module(const std::string& name, const std::string& content) {
        const std::string path = "/usr/etc/selinux/targeted/active/modules/100/" + name;
        fixture_.add_directory(path);
        fixture_.add_file(path + "/cil", content);
        fixture_.add_file(path + "/lang_ext", "pp");
    }

    void add_policy(const std::string& rules) {
        fixture_.add_file("/usr/etc/selinux/targeted/policy/policy.33",
                          read_file(compile_file(rules)));
    }

    void add_package(const std::string& name, std::uint32_t epoch, const std::string& version) {
        fixture_.tree.packages.push_back({name, epoch, version, "1", "x86_64"});
    }

    void erase(const std::string& path) { fixture_.tree.entries.erase(path); }

    /// Commits the tree as it is now.
    void commit(const std::string& inputs) { (void)fixture_.build(inputs); }

    /// Compares the newest commit with its parent.
    [[nodiscard]] Diff diff() const {
        const RepositoryView repository(fixture_.repo());
        return diff_commits(fixture_.ctx(), repository.open(fixture_.blueprint.ostree.ref + "^"),
                            repository.open(fixture_.blueprint.ostree.ref));
    }

    [[nodiscard]] std::string text(DiffTextOptions options = {}) const {
        return diff_text(diff(), options);
    }

    CommitFixture fixture_;
};

/// The section that begins with `title`, without the empty line behind it.
std::string section(const std::string& text, const std::string& title) {
    const std::size_t begin = text.find("\n" + title);
    if (begin == std::string::npos) {
        return "no section " + title + " in:\n" + text;
    }
    return text.substr(begin + 1, text.find("\n\n", begin + 1) - begin);
}

TEST_F(ReportDiff, PackagesInRpmsOrderOfVersions) {
    add_package("older", 0, "1.9");
    add_package("newer", 1, "1.0");
    add_package("gone", 0, "1");
    add_package("same", 0, "1");
    add_package("kernel-core", 0, "5.1");
    add_package("kernel-core", 0, "5.2");
    commit("one");
    fixture_.tree.packages.clear();
    add_package("older", 0, "1.10");
    add_package("newer", 0, "2.0");
    add_package("came", 2, "1");
    add_package("same", 0, "1");
    add_package("kernel-core", 0, "5.2");
    add_package("kernel-core", 0, "5.3");
    fixture_.blueprint.version = "1.3.0";
    fixture_.resolution.driver_version = "535.1";
    commit("two");
    const std::string shown = text();
    EXPECT_EQ(section(shown, "Packages"),
              "Packages: 1 added, 1 removed, 2 upgraded, 1 downgraded\n"
              "  + came.x86_64         2:1-1\n"
              "  - gone.x86_64         1-1\n"
              "  ~ kernel-core.x86_64  5.1-1 -> 5.3-1\n"
              "  ~ newer.x86_64        1:1.0-1 -> 2.0-1  (downgrade)\n"
              "  ~ older.x86_64        1.9-1 -> 1.10-1\n");
    EXPECT_EQ(section(shown, "version"),
              "version  1.2.3 -> 1.3.0\n"
              "kernel   6.1.0-50-amd64\n"
              "driver   none -> 535.1\n");
    EXPECT_TRUE(shown.ends_with(
        "\nNo difference: Kernel arguments, Units, Users, Groups, SELinux, modprobe.d, Manifests, "
        "Files.\n"))
        << shown;
}

TEST_F(ReportDiff, KernelArgumentsCountAsOftenAsTheyAreThere) {
    fixture_.tree.kernel_arguments = {"console=tty0", "quiet", "console=ttyS0"};
    commit("one");
    fixture_.tree.kernel_arguments = {"console=ttyS0", "nosmt", "console=tty0", "console=tty0"};
    commit("two");
    EXPECT_EQ(section(text(), "Kernel arguments"),
              "Kernel arguments: 2 added, 1 removed\n"
              "  + nosmt\n"
              "  + console=tty0\n"
              "  - quiet\n");
    fixture_.tree.kernel_arguments = {"console=tty0", "console=ttyS0", "nosmt", "console=tty0"};
    commit("three");
    EXPECT_EQ(section(text(), "Kernel arguments"), "Kernel arguments: the same in another order\n");
}

TEST_F(ReportDiff, UnitsAsSystemdReadsThem) {
    const std::string lib = units;
    const std::string etc = local_units;
    fixture_.add_file(lib + "/a.service", "[Service]\n");
    fixture_.add_file(lib + "/b.service", "[Service]\n");
    fixture_.add_file(lib + "/gone.service", "[Service]\n");
    fixture_.add_link(lib + "/sysinit.target.wants/a.service", "../a.service");
    fixture_.add_link(etc + "/unmasked.service", "/dev/null");
    fixture_.add_link(etc + "/multi-user.target.wants/b.service", "/usr/lib/systemd/b.service");
    commit("one");
    fixture_.add_file(lib + "/a.service", "[Service]\nNice=1\n");
    fixture_.tree.entries.at(lib + "/b.service").label = "x";
    fixture_.add_link(etc + "/b.service", "/dev/null");
    fixture_.add_file(etc + "/empty.service", "");
    erase(lib + "/gone.service");
    erase(etc + "/unmasked.service");
    erase(etc + "/multi-user.target.wants/b.service");
    fixture_.add_link(etc + "/multi-user.target.wants/a.service", "/usr/lib/systemd/a.service");
    // Both directories have it: nothing is enabled anew.
    fixture_.add_directory(etc + "/sysinit.target.wants");
    fixture_.add_link(etc + "/sysinit.target.wants/a.service", "/usr/lib/systemd/a.service");
    fixture_.add_directory(etc + "/a.service.requires");
    fixture_.add_link(etc + "/a.service.requires/new.socket", "../new.socket");
    fixture_.add_directory(etc + "/a.service.d");
    fixture_.add_file(etc + "/a.service.d/10.conf", "[Service]\n");
    fixture_.add_directory(etc + "/strange");
    fixture_.add_file(etc + "/strange/file", "x");
    fixture_.add_link(etc + "/alias.service", "/usr/lib/systemd/system/a.service");
    commit("two");
    EXPECT_EQ(section(text(), "Units"),
              "Units: 2 enabled, 1 disabled, 2 masked, 1 unmasked, 2 added, 1 removed, 1 changed\n"
              "  + enabled   a.service            wanted by multi-user.target\n"
              "  + enabled   new.socket           required by a.service\n"
              "  - disabled  b.service            wanted by multi-user.target\n"
              "  - masked    b.service\n"
              "  - masked    empty.service\n"
              "  + unmasked  unmasked.service\n"
              "  + drop-in   a.service.d/10.conf  /usr/etc/systemd/system\n"
              "  + alias     alias.service        /usr/etc/systemd/system\n"
              "  ~ unit      a.service            /usr/lib/systemd/system\n"
              "  - unit      gone.service         /usr/lib/systemd/system\n");
}

TEST_F(ReportDiff, AccountsAsADeviceSeesThem) {
    fixture_.add_file("/usr/lib/passwd", "root:x:0:0:root:/root:/bin/bash\nnv:x:996:996::/:/no\n");
    fixture_.add_file("/usr/etc/shadow", "root:!:1::::::\ncore:$6$aaa:1::::::\n");
    fixture_.add_file("/usr/lib/group", "root:x:0:\nwheel:x:10:core,gone\nold:x:5:\n");
    commit("one");
    // What is no row of passwd(5) stays what it is.
    fixture_.add_file("/usr/lib/passwd",
                      "root:x:0:0:root:/root:/bin/bash\nnv:x:995:996::/:/no\nbroken\n:::\n");
    fixture_.add_file(
        "/usr/etc/passwd",
        "core:x:1000:1000::/home/core:/bin/sh\nnew:x:1001:1001:N:/home/new:/bin/sh\n");
    fixture_.add_file("/usr/etc/shadow",
                      "root::1::::::\ncore:$6$bbb:1::::::\nnew:$6$ccc:1::::::\n");
    fixture_.add_file("/usr/lib/group", "root:x:0:\nwheel:x:10:new,core\nnew:x:1001:\n");
    commit("two");
    const std::string shown = text();
    EXPECT_EQ(
        section(shown, "Users"),
        "Users: 3 added, 3 changed\n"
        "  +         password locked\n"
        "  + broken  password locked\n"
        "  ~ core    shell /bin/bash -> /bin/sh, password set -> set anew\n"
        "  + new     uid 1001, gid 1001, home /home/new, shell /bin/sh, comment N, password set\n"
        "  ~ nv      uid 996 -> 995\n"
        "  ~ root    password locked -> none\n");
    EXPECT_EQ(section(shown, "Groups"),
              "Groups: 1 added, 1 removed, 1 changed\n"
              "  + new    gid 1001\n"
              "  - old    gid 5\n"
              "  ~ wheel  members +new, -gone\n");
    EXPECT_EQ(shown.find("$6$"), std::string::npos) << shown;
    EXPECT_EQ(diff_json(diff(), "/r").find("$6$"), std::string::npos);
}

TEST_F(ReportDiff, ThePolicyByItsRules) {
    add_policy(
        "(boolean use_devices false)\n(boolean old true)\n(type gone_t)\n"
        "(allow spc_t gone_t (chr_file (read)))\n"
        "(booleanif use_devices (true (allow container_domain device_node "
        "(chr_file (read write)))))\n");
    add_module("one", "1");
    add_module("two", "1");
    add_module("three", "1");
    fixture_.add_file("/usr/etc/selinux/targeted/active/modules/disabled/two", "");
    fixture_.add_file("/usr/etc/selinux/targeted/contexts/files/file_contexts",
                      "# a comment\n/usr/a\tu:r:a_t:s0\n/usr/b u:r:b_t:s0\n");
    fixture_.tree.entries.at("/usr/bin/tool").label = "u:r:a_t:s0";
    commit("one");
    fixture_.add_file("/usr/etc/selinux/config", "SELINUX=permissive\nSELINUXTYPE=targeted\n");
    add_policy(
        "(boolean use_devices true)\n(boolean new false)\n(type new_t)\n"
        "(typeattributeset container_domain (new_t))\n(typepermissive new_t)\n"
        "(booleanif use_devices (true (allow container_domain device_node "
        "(chr_file (read write map)))))\n"
        "(allow other_t null_device_t (chr_file (read open)))\n");
    add_module("two", "2");
    for (const char* path : {"/cil", "/lang_ext", ""}) {
        erase("/usr/etc/selinux/targeted/active/modules/100/one" + std::string(path));
    }
    add_module("four", "4");
    erase("/usr/etc/selinux/targeted/active/modules/disabled/two");
    fixture_.add_file("/usr/etc/selinux/targeted/active/modules/disabled/three", "");
    fixture_.add_file("/usr/etc/selinux/targeted/contexts/files/file_contexts",
                      "# another\n/usr/b u:r:b_t:s0\n/usr/c u:r:c_t:s0\n");
    fixture_.tree.entries.at("/usr/bin/tool").label = "u:r:b_t:s0";
    fixture_.tree.entries.at("/usr/bin").label = "u:r:c_t:s0";
    commit("two");
    EXPECT_EQ(section(text(), "SELinux"),
              "SELinux: 5 modules, 3 booleans, 2 types, 3 rules, 2 labels\n"
              "  ~ mode        enforcing -> permissive\n"
              "  + module      four@100\n"
              "  - module      one@100\n"
              "  - module      three (disabled)\n"
              "  + module      two (enabled)\n"
              "  ~ module      two@100\n"
              "  + boolean     new  off\n"
              "  - boolean     old  on\n"
              "  ~ boolean     use_devices  off -> on\n"
              "  + permissive  new_t\n"
              "  + type        new_t\n"
              "  - type        gone_t\n"
              "  rules: 2 gained, 1 lost\n"
              "  + allow container_domain device_node:chr_file map [ use_devices ]:True\n"
              "  + allow other_t null_device_t:chr_file { open read }\n"
              "  - allow spc_t gone_t:chr_file read\n"
              "  attributes of types: 1 gained, 0 lost\n"
              "  + new_t: container_domain\n"
              "  labels: 2 paths with another label\n"
              "  ~ /usr/bin  none -> u:r:c_t:s0\n"
              "  ~ /usr/bin/tool  u:r:a_t:s0 -> u:r:b_t:s0\n"
              "  file contexts: 1 gained, 1 lost\n"
              "  + /usr/c u:r:c_t:s0\n"
              "  - /usr/a u:r:a_t:s0\n");
}

TEST_F(ReportDiff, ManyRulesAreCutShort) {
    std::string rules;
    for (int i = 10; i < 60; ++i) {
        rules += fmt::format("(type t{}_t)\n(allow t{}_t null_device_t (chr_file (read)))\n", i, i);
    }
    add_policy("");
    commit("one");
    add_policy(rules);
    commit("two");
    const std::string shown = section(text(), "SELinux");
    EXPECT_NE(shown.find("\n  rules: 50 gained, 0 lost\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("\n  + allow t39_t null_device_t:chr_file read\n"
                         "    … 20 more (--json has all)\n"),
              std::string::npos)
        << shown;
    EXPECT_EQ(shown.find("allow t40_t"), std::string::npos) << shown;
    EXPECT_NE(diff_json(diff(), "/r").find("allow t59_t null_device_t:chr_file read"),
              std::string::npos);
}

TEST_F(ReportDiff, APolicyThatIsNoneIsAnError) {
    add_policy("");
    commit("one");
    fixture_.add_file("/usr/etc/selinux/targeted/policy/policy.33", "no policy at all");
    commit("two");
    try {
        (void)diff();
        FAIL() << "it was read";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find(": /usr/etc/selinux/targeted/policy/policy.33 is not a "
                                        "binary policy that can be read"),
                  std::string::npos)
            << caught.message();
    }
    erase("/usr/etc/selinux/targeted/policy/policy.33");
    commit("three");
    add_policy("");
    commit("four");
    EXPECT_NE(text().find("\nNot compared: SELinux rules: commit "), std::string::npos) << text();
}

TEST_F(ReportDiff, ModprobeAndManifestsAreNamed) {
    fixture_.add_file("/usr/etc/modprobe.d/a.conf", "blacklist floppy\nblacklist nouveau\n");
    fixture_.add_file("/usr/etc/microshift/manifests/kustomization.yaml", "1\n");
    fixture_.add_file("/usr/etc/microshift/manifests/rbac.yaml", "1\n");
    fixture_.add_file("/usr/etc/microshift/config.yaml", "1\n");
    commit("one");
    fixture_.add_file("/usr/etc/modprobe.d/a.conf", "# why\nblacklist nouveau\n");
    fixture_.add_file("/usr/etc/modprobe.d/b.conf", "options nvidia x=1\n");
    fixture_.add_file("/usr/etc/microshift/manifests/rbac.yaml", "2\n");
    fixture_.add_directory("/usr/etc/microshift/manifests.d/app");
    fixture_.add_directory("/usr/etc/microshift/manifests.d/app/base");
    fixture_.add_file("/usr/etc/microshift/manifests.d/app/kustomization.yaml", "1\n");
    fixture_.add_file("/usr/etc/microshift/manifests.d/app/base/pod.yaml", "1\n");
    fixture_.add_file("/usr/etc/microshift/config.yaml", "2\n");
    commit("two");
    const std::string shown = text();
    EXPECT_EQ(section(shown, "modprobe.d"),
              "modprobe.d: 1 added, 1 changed\n"
              "  ~ /usr/etc/modprobe.d/a.conf\n"
              "    - blacklist floppy\n"
              "  + /usr/etc/modprobe.d/b.conf\n"
              "    + options nvidia x=1\n");
    EXPECT_EQ(section(shown, "Manifests"),
              "Manifests: 1 added, 1 changed\n"
              "  ~ /usr/etc/microshift/manifests/\n"
              "    ~ rbac.yaml\n"
              "  + /usr/etc/microshift/manifests.d/app/\n"
              "    + base/pod.yaml\n"
              "    + kustomization.yaml\n");
}

TEST_F(ReportDiff, FilesAreCountedAndTheLargestShown) {
    fixture_.add_directory("/usr/lib/old");
    fixture_.add_file("/usr/lib/old/a", std::string(100, 'a'));
    fixture_.add_file("/usr/lib/old/b", std::string(200, 'b'));
    fixture_.add_file("/usr/lib/grows", std::string(1000, 'g'));
    commit("one");
    for (const char* path : {"/usr/lib/old/a", "/usr/lib/old/b", "/usr/lib/old"}) {
        erase(path);
    }
    fixture_.add_file("/usr/lib/grows", std::string(2000, 'g'));
    fixture_.add_directory("/usr/lib/new");
    fixture_.add_directory("/usr/lib/new/d");
    fixture_.add_file("/usr/lib/new/d/file", std::string(500, 'n'));
    fixture_.add_file("/usr/lib/new-neighbour", std::string(300, 'o'));
    fixture_.add_link("/usr/lib/link", "new");
    fixture_.tree.entries.at("/usr/bin/tool").mode = 0700;
    fixture_.tree.entries.at("/usr/bin/tool").uid = 7;
    commit("two");
    EXPECT_EQ(section(text(), "Files"),
              "Files: 3 added (800 B), 2 removed (300 B), 1 changed (1.0 kB -> 2.0 kB), 1 with "
              "another mode, owner or label alone\n" +
                  fmt::format("  new to a device: 5 objects, 2.8 kB of content; {} to download "
                              "without a delta\n",
                              human_size(diff().new_content.stored_bytes)) +
                  "  ~ /usr/lib/grows          1.0 kB -> 2.0 kB\n"
                  "  + /usr/lib/new/           1 file, 500 B\n"
                  "  + /usr/lib/new-neighbour  300 B\n"
                  "  - /usr/lib/old/           2 files, 300 B\n"
                  "  ~ /usr/bin/tool           mode 0755 -> 0700, owner 0:0 -> 7:0\n"
                  "  + /usr/lib/link           -> new\n");
    const std::string all = section(text({false, true}), "Files");
    EXPECT_NE(all.find("\n  + /usr/lib/new/\n"
                       "  + /usr/lib/new-neighbour  300 B\n"
                       "  + /usr/lib/new/d/\n"
                       "  + /usr/lib/new/d/file     500 B\n"
                       "  - /usr/lib/old/\n"),
              std::string::npos)
        << all;
}

TEST_F(ReportDiff, NamesFromTheRepositoryDoNotDriveTheTerminal) {
    commit("one");
    const std::string evil = "\033[2J\a";
    fixture_.add_file("/usr/lib/" + evil, "x");
    fixture_.add_file(std::string(units) + "/" + evil + ".service", "[Unit]\n");
    fixture_.add_file("/usr/etc/passwd", evil + ":x:1:1::/" + evil + ":/bin/sh\n");
    fixture_.add_file("/usr/etc/modprobe.d/" + evil, "options " + evil + "\n");
    fixture_.tree.entries.at("/usr/bin/tool").label = evil;
    fixture_.tree.kernel_arguments = {evil};
    fixture_.resolution.driver_version = evil;
    add_package(evil, 0, evil);
    commit("two");
    const Diff found = diff();
    for (const bool all : {false, true}) {
        const std::string shown = diff_text(found, {false, all});
        EXPECT_EQ(shown.find_first_of("\033\a"), std::string::npos) << shown;
        EXPECT_NE(shown.find("\\x1b[2J\\x07"), std::string::npos) << shown;
    }
    EXPECT_EQ(diff_json(found, "/r").find_first_of("\033\a"), std::string::npos);
    EXPECT_NE(diff_text(found, {true, false}).find("\033[32m+ \\x1b[2J\\x07\033[0m\n"),
              std::string::npos);
}

TEST_F(ReportDiff, CommitsOfOthersAreComparedAsFarAsTheyGo) {
    commit("one");
    const std::string tree = (fixture_.directory() / "tree").string();
    const std::string output =
        output_of("mkdir -p " + tree + "/usr/lib && echo hello > " + tree +
                  "/usr/lib/hello && ostree --repo=" + fixture_.repo().string() +
                  " commit -b other --timestamp=@253402300800000 --tree=dir=" + tree);
    const RepositoryView repository(fixture_.repo());
    const CommitView ours = repository.open(fixture_.blueprint.ostree.ref);
    const CommitView theirs = repository.open("other");
    const Diff found = diff_commits(fixture_.ctx(), ours, theirs);
    const std::string whose = "commit " + theirs.info().checksum + " has no ";
    EXPECT_EQ(found.unknown,
              (std::vector<Unknown>{{"packages", whose + "rpmostree.rpmdb.pkglist in its metadata"},
                                    {"kernel arguments", whose + "edgegpu.kargs in its metadata"}}))
        << output;
    EXPECT_GT(found.files.removed, 3U);
    EXPECT_EQ(found.files.added, 1U);
    const std::string shown = diff_text(found, {});
    EXPECT_NE(shown.find("\nkernel   6.1.0-50-amd64 -> none\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("\n\nNot compared: packages: " + whose), std::string::npos) << shown;
    EXPECT_NE(shown.find("\nNo difference: Units, "), std::string::npos) << shown;
    const nlohmann::json document = nlohmann::json::parse(diff_json(found, "/r"));
    EXPECT_EQ(document.at("unknown").size(), 2U);
    EXPECT_EQ(document.at("format"), "edgegpu-diff/1");
}

TEST_F(ReportDiff, OneCommitTwiceDiffersInNothing) {
    commit("one");
    const RepositoryView repository(fixture_.repo());
    const CommitView only = repository.open(fixture_.blueprint.ostree.ref);
    const Diff found = diff_commits(fixture_.ctx(), only, only);
    EXPECT_EQ(diff_text(found, {}),
              "Both are commit " + only.info().checksum + ": nothing differs.\n");
    EXPECT_EQ(found.new_content.objects, 0U);
}

TEST(MergedRules, OneLineForEachSourceTargetClassAndCondition) {
    EXPECT_EQ(merged_rules({"allow a b:file read", "allow a b:file read [ x ]:True",
                            "allow a b:file append", "allow a b:dir read",
                            "allow a b:file write [ x ]:True", "allow a b:file write [ x ]:False",
                            "type_transition a b:file c \"name with blanks\"", "allow", "allow a"}),
              (std::vector<std::string>{
                  "allow", "allow a", "allow a b:dir read", "allow a b:file { append read }",
                  "allow a b:file write [ x ]:False", "allow a b:file { read write } [ x ]:True",
                  "type_transition a b:file c \"name with blanks\""}));
}

}  // namespace
}  // namespace edgegpu
