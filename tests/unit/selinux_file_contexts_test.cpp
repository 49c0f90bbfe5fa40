#include "selinux/labels/file_contexts.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <selinux/label.h>
#include <selinux/selinux.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu::selinux {
namespace {

namespace fs = std::filesystem;

/// What libselinux says; empty where it has nothing.
class Oracle {
public:
    explicit Oracle(const std::string& file) {
        const selinux_opt option{SELABEL_OPT_PATH, file.c_str()};
        handle_.reset(selabel_open(SELABEL_CTX_FILE, &option, 1));
        EXPECT_NE(handle_, nullptr) << file;
    }
    [[nodiscard]] std::string look_up(const std::string& path, EntryType type) const {
        const int mode = type == EntryType::directory ? S_IFDIR
                         : type == EntryType::symlink ? S_IFLNK
                                                      : S_IFREG;
        char* raw = nullptr;
        if (selabel_lookup_raw(handle_.get(), &raw, path.c_str(), mode) != 0) {
            EXPECT_EQ(errno, ENOENT) << path;
            return {};
        }
        const Handle<char, freecon> context(raw);
        return context.get();
    }

private:
    Handle<selabel_handle, selabel_close> handle_;
};

class FileContextsTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "edgegpu-contexts.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        file_ = directory_ / "file_contexts";
    }
    void TearDown() override { fs::remove_all(directory_); }

    /// Both must say the same of every path as every type.
    void compare(const std::vector<std::string>& paths) const {
        const FileContexts contexts(file_);
        const Oracle oracle(file_.string());
        for (const std::string& path : paths) {
            for (const EntryType type :
                 {EntryType::file, EntryType::directory, EntryType::symlink}) {
                EXPECT_EQ(contexts.look_up(path, type), oracle.look_up(path, type)) << path;
            }
        }
    }

    fs::path directory_;
    fs::path file_;
};

TEST_F(FileContextsTest, order_types_and_none) {
    write_file(file_,
               "# comment\n"
               "/.*\tu:r:any_t:s0\n"
               "/usr/.* u:r:usr_t:s0\n"
               "/usr/bin/bash -- u:r:shell_t:s0\n"
               "/usr/bin(/.*)? u:r:bin_t:s0\n"
               "/usr/bin -d u:r:bin_dir_t:s0\n"
               "/proc/.* <<none>>\n"
               "/usr/x\\.y u:r:literal_t:s0\n"
               "/usr/x.y u:r:late_t:s0\n",
               0644);
    const FileContexts contexts(file_);
    EXPECT_EQ(contexts.look_up("/usr/bin/bash", EntryType::file), "u:r:shell_t:s0");
    EXPECT_EQ(contexts.look_up("/usr/bin/bash", EntryType::symlink), "u:r:bin_t:s0");
    EXPECT_EQ(contexts.look_up("/usr/bin", EntryType::directory), "u:r:bin_dir_t:s0");
    EXPECT_EQ(contexts.look_up("/proc/1", EntryType::file), "");
    EXPECT_EQ(contexts.look_up("/", EntryType::directory), "u:r:any_t:s0");
    EXPECT_EQ(contexts.look_up("relative", EntryType::file), "");
    // Without metacharacters it comes last, wherever it stands.
    EXPECT_EQ(contexts.look_up("/usr/x.y", EntryType::file), "u:r:literal_t:s0");
    EXPECT_EQ(contexts.look_up("/usr/xzy", EntryType::file), "u:r:late_t:s0");
    compare({"/usr/bin/bash", "/usr/bin", "/usr/binx", "/proc/1", "/", "/usr/x.y", "/usr"});
}

TEST_F(FileContextsTest, peculiarities_of_patterns) {
    write_file(file_,
               "/.* u:r:any_t:s0\n"
               "/a/b|/c/d u:r:open_t:s0\n"  // '^' belongs to one side, '$' to the other
               "/b.* | u:r:bar_t:s0\n",
               0644);
    EXPECT_THROW(FileContexts{file_}, Error);
    write_file(file_,
               "/.* u:r:any_t:s0\n"
               "/a/b|/c/d u:r:open_t:s0\n"
               "(/x|/y)/z u:r:group_t:s0\n"
               "/lib/? u:r:slash_t:s0\n"
               "/lib/ab?c u:r:optional_t:s0\n"
               "/lib/d\\.?e u:r:escaped_t:s0\n"
               "/lib/f{2}g u:r:count_t:s0\n"
               "/lib/[h/]i u:r:class_t:s0\n"
               "/lib/[|]j u:r:class_t:s0\n"
               "/lib/k\\d u:r:digit_t:s0\n"
               "/l\\.m/n u:r:stem_t:s0\n"
               "/l.m/o u:r:no_stem_t:s0\n"
               "/lib/p+ -- u:r:plus_t:s0\n",
               0644);
    compare({"/a/b",    "/a/bx",   "/a/c/d",  "/a/x/c/d", "/c/d",    "/x/z",     "/y/z",
             "/z",      "/lib",    "/lib/ac", "/lib/abc", "/lib/de", "/lib/d.e", "/lib/ffg",
             "/lib/fg", "/lib/hi", "/lib/|j", "/lib/k5",  "/lib/kd", "/l.m/n",   "/lxm/n",
             "/l.m/o",  "/lxm/o",  "/lib/p",  "/lib/ppp"});
}

TEST_F(FileContextsTest, files_beside_it) {
    write_file(file_, "/.* u:r:any_t:s0\n/usr/lib/.* u:r:lib_t:s0\n/home -d u:r:home_t:s0\n", 0644);
    write_file(file_.string() + ".homedirs", "/home/[^/]+/.* u:r:user_home_t:s0\n", 0644);
    write_file(file_.string() + ".local", "/usr/lib/local u:r:local_t:s0\n", 0644);
    write_file(file_.string() + ".subs_dist",
               "/usr/lib64 /usr/lib\n# x y\n/var/home /home\n/two /one\n/two /usr/lib\n/all /\n",
               0644);
    write_file(file_.string() + ".subs", "/opt/lib /usr/lib64\n", 0644);
    const FileContexts contexts(file_);
    EXPECT_EQ(contexts.look_up("/usr/lib64/local", EntryType::file), "u:r:local_t:s0");
    EXPECT_EQ(contexts.look_up("/opt/lib/x", EntryType::file), "u:r:lib_t:s0");
    compare({"/usr/lib64/local", "/usr/lib64", "/usr/lib640/x", "/var/home", "/var/home/ann/x",
             "/home/ann/x", "/opt/lib/x", "/opt/lib/local", "/two/x", "/all/usr/lib/x", "/all"});
}

TEST_F(FileContextsTest, malformed_lines_are_named) {
    const auto failure_of = [&](const std::string& text) {
        write_file(file_, text, 0644);
        try {
            static_cast<void>(FileContexts(file_).look_up("/x/y", EntryType::file));
        } catch (const Error& failure) {
            return failure.message();
        }
        return std::string();
    };
    EXPECT_THAT(failure_of("/x\n"),
                ::testing::EndsWith("file_contexts:1: not a line of file contexts"));
    EXPECT_THAT(failure_of("\n/x -q u:r:t\n"), ::testing::HasSubstr("file_contexts:2: not a line"));
    EXPECT_THAT(failure_of("/x/(.* u:r:t\n"),
                ::testing::HasSubstr("file_contexts:1: '/x/(.*' is not a regular expression: "));
    EXPECT_THAT(failure_of("/x/(a+)+b u:r:t\n"), "");
}

/// The whole policy of a distribution: paths made of its own expressions.
TEST_F(FileContextsTest, a_real_policy) {
    const fs::path real = "/etc/selinux/default/contexts/files/file_contexts";
    if (!fs::exists(real)) {
        GTEST_SKIP() << "no SELinux policy is installed here (package selinux-policy-default)";
    }
    for (const char* suffix : {"", ".homedirs", ".local", ".subs", ".subs_dist"}) {
        if (fs::exists(real.string() + suffix)) {
            fs::copy_file(real.string() + suffix, file_.string() + suffix);
        }
    }
    std::set<std::string> paths{"/", "/usr", "/usr/bin/bash", "/dev/nvidia0"};
    std::ifstream lines(file_);
    std::string line;
    for (std::size_t number = 0; std::getline(lines, line); ++number) {
        const std::string regex = line.substr(0, line.find_first_of(" \t"));
        const std::string plain = regex.substr(0, regex.find_first_of(".^$?*+|[({\\"));
        // libselinux takes a third of a millisecond for each: every fourth will do.
        if (number % 4 == 0 && plain.size() > 1 && plain.back() != '/') {
            paths.insert(plain);
            paths.insert(plain + "/lib/x-1.2.so.3");
            paths.insert("/usr" + plain);
        }
    }
    EXPECT_GT(paths.size(), 1000U);
    compare({paths.begin(), paths.end()});
}

}  // namespace
}  // namespace edgegpu::selinux
