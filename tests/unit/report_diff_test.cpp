#include "report/diff.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/format/formats.hpp"
#include "support/error.hpp"
#include "unit/report_diff_fixture.hpp"

namespace edgegpu {
namespace {

using test::output_of;
using test::ReportDiff;

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
    EXPECT_NE(
        shown.find("\nNo difference: Kernel arguments, Units, Users, Groups, SELinux, modprobe.d, "
                   "Manifests, Files.\n"),
        std::string::npos)
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
    fixture_.add_directory("/usr/etc/microshift/manifests/two");
    fixture_.add_file("/usr/etc/microshift/manifests/two/a.yaml", "1\n");
    fixture_.add_directory("/usr/etc/microshift/manifests.d/delete");
    fixture_.add_directory("/usr/etc/microshift/manifests.d/delete/old");
    fixture_.add_file("/usr/etc/microshift/manifests.d/delete/old/objects.yaml", "1\n");
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
              "Manifests: 3 added, 1 changed\n"
              "  ~ /usr/etc/microshift/manifests/\n"
              "    ~ rbac.yaml\n"
              "  + /usr/etc/microshift/manifests.d/app/\n"
              "    + base/pod.yaml\n"
              "    + kustomization.yaml\n"
              "  + /usr/etc/microshift/manifests.d/delete/old/\n"
              "    + objects.yaml\n"
              "  + /usr/etc/microshift/manifests/two/\n"
              "    + a.yaml\n");
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
              "Files: 3 added (800 B), 2 removed (300 B), 1 changed (1000 B -> 2.0 KiB), 1 with "
              "another mode, owner or label alone\n"
              "  ~ /usr/lib/grows          1000 B -> 2.0 KiB\n"
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
    EXPECT_EQ(found.unknown, (std::vector<Unknown>{
                                 {"packages", whose + "rpmostree.rpmdb.pkglist in its metadata"},
                                 {"kernel arguments", whose + "edgegpu.kargs in its metadata"},
                                 {"advisories", whose + "rpmostree.advisories in its metadata"}}))
        << output;
    EXPECT_GT(found.files.removed, 3U);
    EXPECT_EQ(found.files.added, 1U);
    const std::string shown = diff_text(found, {});
    EXPECT_NE(shown.find("\nkernel   6.1.0-50-amd64 -> none\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("\n\nNot compared: packages: " + whose), std::string::npos) << shown;
    EXPECT_NE(shown.find("\nNo difference: Units, "), std::string::npos) << shown;
    const nlohmann::json document = nlohmann::json::parse(diff_json(found, "/r"));
    EXPECT_EQ(document.at("unknown").size(), 3U);
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

}  // namespace
}  // namespace edgegpu
