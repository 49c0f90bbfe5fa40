#include "report/upgrade.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/format/formats.hpp"
#include "unit/report_diff_fixture.hpp"

namespace edgegpu {
namespace {

using Classes = std::vector<RestartClass>;

class Upgrade : public test::ReportDiff {
protected:
    Upgrade() {
        for (const char* path :
             {"/usr/lib/modules", "/usr/lib/modules/6.1", "/usr/lib/modules/6.1/kernel",
              "/usr/lib/bootc", "/usr/lib/bootc/kargs.d"}) {
            fixture_.add_directory(path);
        }
        fixture_.add_file("/usr/lib/modules/6.1/vmlinuz", std::string(5000, 'v'));
        fixture_.add_file("/usr/lib/modules/6.1/initramfs.img", std::string(9000, 'i'));
        fixture_.add_file("/usr/lib/modules/6.1/kernel/nvidia.ko", "module");
        commit("one");
    }

    /// Of the tree as it is now.
    Classes restart() {
        commit(std::to_string(++number_));
        return upgrade_cost(diff()).restart;
    }

    void add_advisory(const std::string& id, const std::string& severity,
                      const std::vector<std::string>& packages, const std::string& title = "") {
        FixedAdvisory advisory{id, severity, packages, {}};
        if (!title.empty()) {
            advisory.references.push_back({"https://example.invalid/CVE-1999-0001", title});
        }
        fixture_.resolution.advisories.push_back(advisory);
    }

    [[nodiscard]] std::vector<std::string> advisories() const {
        std::vector<std::string> ids;
        for (const CommitAdvisory& advisory : diff().advisories) {
            ids.push_back(advisory.id);
        }
        return ids;
    }

private:
    int number_ = 1;
};

TEST_F(Upgrade, WhatTheRestartIsFor) {
    fixture_.add_file("/usr/lib/modules/6.1/initramfs.img", std::string(9001, 'i'));
    EXPECT_EQ(restart(), (Classes{{"kernel", {"initramfs"}}}));
    fixture_.add_file("/usr/lib/modules/6.1/kernel/nvidia.ko", "another");
    fixture_.add_file("/usr/lib/modules/6.1/kernel/new.ko.xz", "new");
    EXPECT_EQ(restart(), (Classes{{"kernel", {"2 kernel modules"}}}));
    fixture_.tree.kernel_arguments = {"nosmt"};
    EXPECT_EQ(restart(), (Classes{{"kernel", {"kernel arguments"}}}));
    fixture_.add_file("/usr/lib/bootc/kargs.d/10-x.toml", "kargs = []\n");
    EXPECT_EQ(restart(), (Classes{{"kernel", {"kernel arguments"}}}));
    fixture_.add_file("/usr/etc/selinux/targeted/contexts/files/file_contexts", "/x  y\n");
    EXPECT_EQ(restart(), (Classes{{"policy", {"file contexts"}}}));
    fixture_.add_file("/usr/lib/x.ko", "no module of a kernel");
    EXPECT_EQ(restart(), (Classes{{"user space", {"1 path"}}}));
    // Another label of a kernel is no other kernel.
    fixture_.tree.entries.at("/usr/lib/modules/6.1/vmlinuz").label = "x";
    EXPECT_EQ(restart(), (Classes{{"user space", {"1 path"}}}));
    fixture_.blueprint.version = "9";
    EXPECT_EQ(restart(), Classes{});
    EXPECT_EQ(upgrade_cost(diff()).requests, 2U);
}

TEST_F(Upgrade, AllThatHoldStrongestFirst) {
    for (const char* path : {"/usr/lib/modules/6.1/vmlinuz", "/usr/lib/modules/6.1/initramfs.img",
                             "/usr/lib/modules/6.1/kernel/nvidia.ko", "/usr/lib/modules/6.1/kernel",
                             "/usr/lib/modules/6.1"}) {
        erase(path);
    }
    fixture_.add_directory("/usr/lib/modules/6.2");
    fixture_.add_file("/usr/lib/modules/6.2/vmlinuz", std::string(5001, 'w'));
    fixture_.add_file("/usr/lib/modules/6.2/initramfs.img", "initramfs");
    fixture_.add_file("/usr/lib/modules/6.2/nvidia.ko", "module");
    add_policy("(type added_t)");
    fixture_.add_file("/usr/bin/tool", "new");
    const Classes found = restart();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0], (RestartClass{"kernel", {"kernel", "initramfs", "1 kernel module"}}));
    EXPECT_EQ(found[1], (RestartClass{"policy", {"SELinux policy"}}));
    EXPECT_EQ(found[2].name, "user space");
    // Kernel and initramfs, in blocks.
    EXPECT_EQ(diff().new_content.boot_bytes, 8192U + 4096U);
    const std::string shown = text();
    EXPECT_NE(shown.find("in /boot\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("\n  restart         kernel: kernel, initramfs, 1 kernel module\n"
                         "                  policy: SELinux policy\n"
                         "                  user space: "),
              std::string::npos)
        << shown;
}

TEST_F(Upgrade, EachObjectIsRequestedAndCountedOnce) {
    fixture_.add_directory("/usr/lib/twice");
    fixture_.add_file("/usr/lib/twice/a", std::string(70000, 'a'));
    fixture_.add_file("/usr/lib/twice/b", std::string(70000, 'a'));
    // The content of a file that the device has.
    fixture_.add_file("/usr/lib/twice/c", "module");
    commit("two");
    const Diff found = diff();
    // One file; the dirtrees of /, /usr, /usr/lib and the new directory, whose dirmeta is known.
    EXPECT_EQ(found.new_content.objects, 1U);
    EXPECT_EQ(found.new_content.directories, 4U);
    EXPECT_EQ(found.new_content.largest_path, "/usr/lib/twice/a");
    EXPECT_EQ(found.new_content.boot_bytes, 0U);
    const UpgradeCost cost = upgrade_cost(found);
    EXPECT_EQ(cost.requests, 1U + 4U + 2U);
    EXPECT_GE(cost.free_bytes, 70000U);
    EXPECT_EQ(cost.download_bytes, found.new_content.stored_bytes +
                                       found.new_content.directory_bytes +
                                       found.new_content.commit_bytes);
    const nlohmann::json document = nlohmann::json::parse(diff_json(found, "/r"));
    EXPECT_EQ(document.at("upgrade").at("requests"), 7U);
    EXPECT_EQ(document.at("upgrade").at("restart").at(0).at("class"), "user space");
    EXPECT_NE(text().find("\n  restart         user space only: "), std::string::npos) << text();
}

TEST_F(Upgrade, AdvisoriesOfWhatHasChanged) {
    for (const char* name : {"bash", "kept", "down"}) {
        add_package(name, 0, "2");
    }
    add_advisory("OLD", "Critical", {"bash-2-1.x86_64"});
    commit("two");
    fixture_.tree.packages.clear();
    add_package("bash", 1, "1");
    add_package("kept", 0, "2");
    add_package("down", 0, "1");
    add_package("came", 0, "1");
    add_advisory("NOT-CHANGED", "Critical", {"kept-2-1.x86_64"});
    add_advisory("DOWNGRADED", "Critical", {"down-1-1.x86_64"});
    add_advisory("ADDED", "Critical", {"came-1-1.x86_64"});
    add_advisory("B-LOW", "Low", {"bash-1:1-1.x86_64"},
                 "CVE-2024-1086 and CVE-2024-20001: both, not CVE-24-1, CVE-2024-12, CVE-");
    add_advisory("A-IMPORTANT", "Important", {"bash-1:1-1.x86_64"}, "no id here");
    add_advisory("A-IMPORTANT", "Important", {"bash-1:1-1.x86_64"});
    fixture_.resolution.advisories.front().packages = {"bash-1:1-1.x86_64"};
    commit("three");
    EXPECT_EQ(advisories(), (std::vector<std::string>{"A-IMPORTANT", "B-LOW"}));
    EXPECT_EQ(section(text(), "Advisories"),
              "Advisories: 2 fixed\n"
              "  + A-IMPORTANT  security, important  CVE-1999-0001\n"
              "  + B-LOW        security, low        CVE-2024-1086, CVE-2024-20001\n");
    fixture_.resolution.advisories.clear();
    commit("four");
    const Diff none = diff();
    EXPECT_TRUE(none.advisories.empty());
    EXPECT_TRUE(none.unknown.empty());
    EXPECT_EQ(text().find("dvisories"), std::string::npos) << text();
}

TEST_F(Upgrade, OneCommitTwiceCostsNothing) {
    const RepositoryView repository(fixture_.repo());
    const CommitView only = repository.open(fixture_.blueprint.ostree.ref);
    const UpgradeCost cost = upgrade_cost(diff_commits(fixture_.ctx(), only, only));
    EXPECT_EQ(cost.requests + cost.download_bytes + cost.free_bytes, 0U);
    EXPECT_TRUE(cost.restart.empty());
}

}  // namespace
}  // namespace edgegpu
