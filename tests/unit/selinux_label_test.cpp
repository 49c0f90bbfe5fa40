#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "selinux/labels/label.hpp"
#include "selinux/selinux.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class Label : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "edgegpu-label.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        ctx_.cache = pattern;
        ctx_.jobs = 2;
        add_directory("/");
    }
    void TearDown() override { fs::remove_all(ctx_.cache); }

    void add_directory(const std::string& path) {
        Entry entry;
        entry.type = EntryType::directory;
        entry.mode = 0755;
        tree_.entries[path] = entry;
    }
    void add_link(const std::string& path, const std::string& target) {
        Entry entry;
        entry.type = EntryType::symlink;
        entry.target = target;
        tree_.entries[path] = entry;
    }
    void add_file(const std::string& path, const std::string& content = "x") {
        for (std::size_t at = path.find('/', 1); at != std::string::npos;
             at = path.find('/', at + 1)) {
            add_directory(path.substr(0, at));
        }
        tree_.entries[path] = make_file_entry(ctx_, content, 0644);
    }
    void add_policy(const std::string& etc, const std::string& contexts) {
        add_file(etc + "/selinux/config", "SELINUX=enforcing\nSELINUXTYPE=targeted\n");
        add_file(etc + "/selinux/targeted/contexts/files/file_contexts", contexts);
        add_file(etc + "/selinux/targeted/contexts/files/file_contexts.subs_dist",
                 "/usr/lib64 /usr/lib\n");
        add_file(etc + "/selinux/targeted/contexts/files/file_contexts.local",
                 "/usr/lib/local -- u:r:local_t:s0\n");
    }
    [[nodiscard]] std::string label(const std::string& path) const {
        return tree_.entries.at(path).label;
    }

    Context ctx_;
    Tree tree_;
    const std::string contexts_ =
        "/.* u:r:default_t:s0\n"
        "/ -d u:r:root_t:s0\n"
        "/etc(/.*)? u:r:etc_t:s0\n"
        "/etc/shadow -- u:r:shadow_t:s0\n"
        "/usr(/.*)? u:r:usr_t:s0\n"
        "/usr/lib(/.*)? u:r:lib_t:s0\n"
        "/usr/lib/a -l u:r:link_t:s0\n"
        "/home u:r:home_root_t:s0\n"
        "/proc -d <<none>>\n"
        "/proc/.* <<none>>\n";
};

TEST_F(Label, EveryPathGetsThePolicysLabelAsDeployed) {
    add_policy("/usr/etc", contexts_);
    add_file("/usr/etc/shadow");
    add_file("/usr/lib64/lib.so");
    add_file("/usr/lib/local");
    add_link("/usr/lib/a", "b");
    label_tree(ctx_, tree_);
    EXPECT_EQ(label("/"), "u:r:root_t:s0");
    EXPECT_EQ(label("/usr/etc"), "u:r:etc_t:s0");
    EXPECT_EQ(label("/usr/etc/shadow"), "u:r:shadow_t:s0");
    EXPECT_EQ(label("/usr/lib64/lib.so"), "u:r:lib_t:s0");
    EXPECT_EQ(label("/usr/lib/local"), "u:r:local_t:s0");
    EXPECT_EQ(label("/usr/lib/a"), "u:r:link_t:s0");
    for (const auto& [path, entry] : tree_.entries) {
        EXPECT_FALSE(entry.label.empty()) << path;
    }
}

TEST_F(Label, APathWithoutALabelInheritsItsDirectorys) {
    add_policy("/etc", contexts_);
    add_directory("/proc");
    add_file("/proc/x");
    label_tree(ctx_, tree_);
    EXPECT_EQ(label("/proc"), "u:r:root_t:s0");
    EXPECT_EQ(label("/proc/x"), "u:r:root_t:s0");
}

TEST_F(Label, RootLinksIntoVarCanBeReadByAll) {
    add_policy("/usr/etc", contexts_);
    add_link("/home", "var/home");
    add_link("/bin", "usr/bin");
    label_tree(ctx_, tree_);
    EXPECT_EQ(label("/home"), "u:r:root_t:s0");
    EXPECT_EQ(label("/bin"), "u:r:default_t:s0");
}

TEST_F(Label, OtherContextsGiveOtherLabels) {
    add_policy("/usr/etc", contexts_);
    add_file("/usr/lib/x");
    label_tree(ctx_, tree_);
    add_policy("/usr/etc", contexts_ + "/usr/lib/x -- u:r:x_t:s0\n");
    label_tree(ctx_, tree_);
    EXPECT_EQ(label("/usr/lib/x"), "u:r:x_t:s0");
    EXPECT_EQ(label("/usr/lib"), "u:r:lib_t:s0");
}

TEST_F(Label, ARootWithoutALabelIsAnError) {
    add_policy("/usr/etc", "/usr(/.*)? u:r:usr_t:s0\n");
    try {
        label_tree(ctx_, tree_);
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "the image's SELinux policy has no label for /");
    }
}

}  // namespace
}  // namespace edgegpu
