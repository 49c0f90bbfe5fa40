#include "image/image_root.hpp"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "image/capabilities.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

const FileAttributes plain{0, 0, 0644, {}};

/// A directory as an image's root, and beside it a file of the builder that nothing may touch.
class ImageRootTest : public ::testing::Test {
protected:
    ImageRootTest() {
        fs::create_directories(inside_ / "usr/bin");
        fs::create_directories(outside_ / "below");
        write_file(outside_ / "canary", "builder", 0600);
        write_file(inside_ / "canary", "image", 0644);
        root_.emplace(inside_);
    }

    ~ImageRootTest() override {
        EXPECT_EQ(read_file(outside_ / "canary"), "builder");
        struct stat status {};
        EXPECT_EQ(::stat((outside_ / "canary").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777U, 0600U);
        EXPECT_NE(status.st_uid, 7U);
        std::set<std::string> names;
        for (const auto& item : fs::directory_iterator(outside_)) {
            names.insert(item.path().filename().string());
        }
        EXPECT_EQ(names, (std::set<std::string>{"below", "canary"}));
        root_.reset();
        remove_tree(inside_);
    }

    void link(const std::string& target, const std::string& path) {
        ASSERT_EQ(::symlink(target.c_str(), (inside_ / path).c_str()), 0);
    }

    [[nodiscard]] unsigned mode_of(const std::string& path) const {
        return root_->status(path)->st_mode & 07777U;
    }

    test::TemporaryDirectory directory_;
    fs::path inside_ = directory_.path() / "root";
    fs::path outside_ = directory_.path() / "outside";
    std::optional<ImageRoot> root_;
};

TEST_F(ImageRootTest, LinksLeadWhereTheImageSeesThem) {
    link("/canary", "absolute");
    link("../../../../../../../../canary", "usr/up");
    link(outside_.string() + "/canary", "out");
    link("../outside", "usr/dir");
    link(outside_.string(), "dir");
    EXPECT_EQ(root_->read("/absolute"), "image");
    EXPECT_EQ(root_->read("/usr/up"), "image");
    EXPECT_EQ(root_->read("../../canary"), "image");
    for (const char* path : {"/out", "/usr/dir/canary", "/dir/canary"}) {
        EXPECT_FALSE(root_->status(path, LastLink::followed)) << path;
        EXPECT_THROW(static_cast<void>(root_->read(path)), Error) << path;
    }
    EXPECT_THROW(root_->write("/dir/new", "x", plain), Error);
    EXPECT_THROW(root_->make_link("/usr/dir/new", "x"), Error);
    root_->remove("/dir/canary");
    root_->set_attributes("/dir/canary", {7, 7, 0777, {}});
    EXPECT_EQ(root_->resolve("/usr/up"), "/canary");
    EXPECT_EQ(root_->resolve("/usr/up", LastLink::not_followed), "/usr/up");
    EXPECT_EQ(root_->resolve("/dir/x"), outside_.string() + "/x");  // a path of the image
    EXPECT_EQ(root_->resolve("/../../usr/./bin/../x"), "/usr/x");
    EXPECT_EQ(root_->read_link("/out"), outside_.string() + "/canary");
}

TEST_F(ImageRootTest, MagicLinksAreNotFollowed) {
    const Fd open(::open((outside_ / "canary").c_str(), O_RDONLY | O_CLOEXEC));
    link("/proc/self/fd/" + std::to_string(open.get()), "magic");
    EXPECT_THROW(static_cast<void>(root_->read("/magic")), Error);
    // Also where /proc is really there.
    const ImageRoot proc("/proc");
    const std::string self = "/self/fd/" + std::to_string(open.get());
    EXPECT_THROW(static_cast<void>(proc.read(self)), Error);
    EXPECT_FALSE(proc.status("/self/root/etc", LastLink::followed));
    EXPECT_FALSE(proc.has_directory("/self/cwd"));
}

TEST_F(ImageRootTest, Loops) {
    link("b", "a");
    link("a", "b");
    link("self/x", "self");
    EXPECT_FALSE(root_->status("/a", LastLink::followed));
    EXPECT_TRUE(root_->status("/a"));
    EXPECT_FALSE(root_->has_file("/self"));
    EXPECT_THROW(static_cast<void>(root_->resolve("/a")), Error);
    EXPECT_THROW(static_cast<void>(root_->read("/self")), Error);
    EXPECT_THROW(root_->make_directories("/a/b"), Error);
    root_->remove("/a");
    EXPECT_FALSE(root_->status("/a"));
}

TEST_F(ImageRootTest, SpecialFilesAreNeverOpened) {
    root_->make_special("/fifo", S_IFIFO, plain);
    root_->make_special("/socket", S_IFSOCK, plain);
    root_->make_special("/whiteout", S_IFCHR, plain);
    EXPECT_THROW(root_->make_special("/disk", S_IFBLK, plain), Error);
    link("/fifo", "to-fifo");
    for (const char* path : {"/fifo", "/socket", "/whiteout", "/to-fifo", "/usr"}) {
        EXPECT_FALSE(root_->has_file(path)) << path;
        EXPECT_THROW(static_cast<void>(root_->read(path)), Error) << path;
        EXPECT_THROW(static_cast<void>(root_->open_file(path)), Error) << path;
        EXPECT_EQ(root_->attribute(path, "user.x"), "") << path;
    }
    EXPECT_THROW(static_cast<void>(root_->list("/fifo")), Error);
    EXPECT_TRUE(S_ISCHR(root_->status("/whiteout")->st_mode));
    EXPECT_EQ(root_->status("/whiteout")->st_rdev, 0U);
    root_->write("/fifo", "now a file", plain);
    EXPECT_EQ(root_->read("/fifo"), "now a file");
    root_->remove("/socket");
    root_->remove("/whiteout");
    EXPECT_EQ(root_->list("/"), (std::vector<std::string>{"canary", "fifo", "to-fifo", "usr"}));
}

TEST_F(ImageRootTest, Names) {
    const std::string odd = "a\n\\\"\xff\x1b[31m*";
    root_->write("/usr/" + odd, "odd", plain);
    EXPECT_EQ(root_->read("/usr/" + odd), "odd");
    EXPECT_EQ(root_->list("/usr"), (std::vector<std::string>{odd, "bin"}));
    const std::string longest(255, 'n');
    root_->write(longest, "long", plain);
    EXPECT_EQ(root_->read("/" + longest), "long");
    EXPECT_THROW(root_->write("/" + longest + "n", "", plain), Error);
    for (const std::string path : {"", "/", ".", "..", "/usr/.", "/usr/..", "///"}) {
        EXPECT_THROW(root_->write(path, "", plain), Error) << path;
        EXPECT_THROW(root_->remove(path), Error) << path;
    }
    const std::string nul = std::string("/canary") + '\0' + "x";
    EXPECT_THROW(static_cast<void>(root_->read(nul)), Error);
    EXPECT_THROW(root_->write(nul, "", plain), Error);
    EXPECT_THROW(root_->remove(nul), Error);
    EXPECT_THROW(static_cast<void>(root_->status(nul)), Error);
    EXPECT_EQ(root_->read("/canary"), "image");
    // A slash at the end does not follow a link.
    link("usr", "to-usr");
    EXPECT_TRUE(S_ISLNK(root_->status("/to-usr/")->st_mode));
    root_->remove("/to-usr///");
    EXPECT_TRUE(root_->has_directory("/usr"));
}

TEST_F(ImageRootTest, TheLongestPath) {
    std::string path;
    while (path.size() + 256 < 4095) {
        path += "/" + std::string(255, 'd');
        root_->make_directory(path, {0, 0, 0755, {}});
    }
    const std::string longest = path + "/" + std::string(4095 - path.size() - 1, 'f');
    ASSERT_EQ(longest.size(), 4095U);
    root_->write(longest, "end", plain);
    EXPECT_EQ(root_->read(longest), "end");
    std::size_t seen = 0;
    root_->walk("/", [&](const std::string&, const struct stat&) { ++seen; });
    EXPECT_EQ(seen, 19U);
    EXPECT_THROW(static_cast<void>(root_->read(longest + "f")), Error);
    // Deeper than a path can say.
    const Fd last = root_->open_path(path);
    ASSERT_EQ(::mkdirat(last.get(), std::string(255, 'x').c_str(), 0755), 0);
    EXPECT_THROW(root_->walk("/", [](const std::string&, const struct stat&) {}), Error);
    root_->remove("/" + std::string(255, 'd'));
    EXPECT_EQ(root_->list("/"), (std::vector<std::string>{"canary", "usr"}));
}

/// A chain of directories, each with a file, a name planted against the removal and no rights.
void make_deep(const fs::path& top, int levels) {
    Fd here(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < levels; ++i) {
        ASSERT_EQ(::mkdirat(here.get(), "d", 0700), 0);
        if (i % 100 == 0) {
            ASSERT_GE(Fd(::openat(here.get(), "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).get(), 0);
        }
        Fd next(::openat(here.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_TRUE(next);
        if (i % 7 == 0) {
            ASSERT_EQ(::fchmod(here.get(), 0500), 0);
        }
        here = std::move(next);
    }
}

/// With 256 KiB of stack and 128 descriptors.
void with_little(const std::function<void()>& work) {
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few { 128, before.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, 256UL * 1024UL);
    pthread_t thread = 0;
    const auto call = [](void* argument) -> void* {
        try {
            (*static_cast<const std::function<void()>*>(argument))();
        } catch (const Error& problem) {
            ADD_FAILURE() << problem.message();
        }
        return nullptr;
    };
    ASSERT_EQ(
        ::pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&work)), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(ImageRootTest, ADeepTreeIsRemoved) {
    fs::create_directory(inside_ / "deep");
    for (int number = 0; number < 50; ++number) {  // names that the removal would take
        fs::create_directories(inside_ / "deep" / (".deep-" + std::to_string(number)) / "x");
    }
    link(outside_.string(), "deep/link");
    make_deep(inside_ / "deep", 2000);
    with_little([&] { root_->remove("/deep"); });
    EXPECT_FALSE(root_->status("/deep"));
    fs::create_directory(directory_.path() / "deep");
    make_deep(directory_.path() / "deep", 500);
    with_little([&] { remove_tree(directory_.path() / "deep"); });
    EXPECT_FALSE(fs::exists(directory_.path() / "deep"));
}

TEST_F(ImageRootTest, RemovalFollowsNothing) {
    fs::create_directories(inside_ / "tree/locked");
    write_file(inside_ / "tree/locked/file", "", 0000);
    link(outside_.string(), "tree/locked/link");
    ASSERT_EQ(::link((outside_ / "canary").c_str(), (inside_ / "tree/hard").c_str()), 0);
    ASSERT_EQ(::chmod((inside_ / "tree/locked").c_str(), 0000), 0);
    ASSERT_EQ(::chmod((inside_ / "tree").c_str(), 0555), 0);
    root_->remove("/tree");
    EXPECT_FALSE(root_->status("/tree"));
    link(outside_.string(), "link");
    root_->remove("/link");
    EXPECT_FALSE(root_->status("/link"));
    link(outside_.string(), "tree");
    remove_tree(inside_ / "tree");
    remove_tree(inside_ / "absent");
    root_->remove("/absent/below");
    root_->remove("/canary/below");  // a file as a parent
}

TEST_F(ImageRootTest, AttributesAreOfTheObjectItself) {
    link("/canary", "link");
    root_->set_attributes("/link", {7, 8, 0777, {}});
    EXPECT_EQ(root_->status("/link")->st_uid, 7U);
    EXPECT_NE(root_->status("/canary")->st_uid, 7U);
    EXPECT_EQ(mode_of("/canary"), 0644U);
    root_->set_attributes("/canary", {7, 8, 06755, {}});
    EXPECT_EQ(mode_of("/canary"), 06755U);
    EXPECT_EQ(root_->status("/canary")->st_gid, 8U);
    root_->set_attributes("/absent", {7, 8, 0777, {}});
    root_->make_special("/fifo", S_IFIFO, {7, 8, 0640, {}});
    EXPECT_EQ(mode_of("/fifo"), 0640U);
    EXPECT_EQ(root_->status("/fifo")->st_uid, 7U);
    const mode_t before = ::umask(0077);
    root_->make_directory("/open", {1, 2, 01777, {}});
    root_->write("/open/file", "x", {3, 4, 0666, {}});
    ::umask(before);
    EXPECT_EQ(mode_of("/open"), 01777U);
    EXPECT_EQ(mode_of("/open/file"), 0666U);
    EXPECT_THROW(root_->write("/open/bad", "x", {65535, 0, 0644, {}}), Error);
    EXPECT_EQ(root_->list("/open"), (std::vector<std::string>{"file"}));  // nothing half-made
}

TEST_F(ImageRootTest, CapabilitiesAreOfRevision2) {
    const std::string raw = parse_capabilities("cap_net_raw=ep");
    root_->write("/usr/bin/ping", "x", {0, 0, 0755, raw});
    EXPECT_EQ(without_namespace(root_->attribute("/usr/bin/ping", "security.capability"), "ping"),
              raw);
    root_->set_attributes("/usr/bin", {0, 0, 0755, raw});  // a directory has none
    EXPECT_EQ(root_->attribute("/usr/bin", "security.capability"), "");
    // A change of owner takes them away.
    root_->set_attributes("/usr/bin/ping", plain);
    EXPECT_EQ(root_->attribute("/usr/bin/ping", "security.capability"), "");

    std::string third = raw + std::string(4, '\0');
    third[3] = 3;  // VFS_CAP_REVISION_3, little-endian
    EXPECT_EQ(without_namespace(third, "x"), raw);
    third[20] = 1;
    EXPECT_THROW(static_cast<void>(without_namespace(third, "x")), Error);
    EXPECT_EQ(without_namespace("", "x"), "");
    EXPECT_EQ(without_namespace("odd", "x"), "odd");
}

TEST_F(ImageRootTest, WritesReplaceAndDoNotFollow) {
    link(outside_.string() + "/canary", "usr/file");
    root_->write("/usr/file", "new", plain);
    EXPECT_TRUE(S_ISREG(root_->status("/usr/file")->st_mode));
    EXPECT_EQ(root_->read("/usr/file"), "new");
    ASSERT_EQ(::link((outside_ / "canary").c_str(), (inside_ / "hard").c_str()), 0);
    root_->write("/hard", "new", plain);
    EXPECT_EQ(root_->read("/hard"), "new");
    EXPECT_THROW(root_->write("/usr", "x", plain), Error);
    EXPECT_THROW(root_->make_link("/hard", "x"), Error);
    EXPECT_THROW(root_->make_directory("/hard", {0, 0, 0755, {}}), Error);
    link(outside_.string(), "planted-directory");
    EXPECT_THROW(root_->make_directory("/planted-directory", {7, 7, 0777, {}}), Error);
    // The temporary name is taken.
    const std::string name = ".edgegpu-" + std::to_string(::gettid()) + "-";
    link(outside_.string() + "/canary", name + "0");
    fs::create_directory(inside_ / (name + "1"));
    root_->write("/written", "x", plain);
    EXPECT_EQ(root_->read("/written"), "x");
    const Fd source(::open((inside_ / "written").c_str(), O_RDONLY | O_CLOEXEC));
    root_->copy_in("/copied", source.get(), {5, 6, 0600, {}});
    EXPECT_EQ(root_->read("/copied"), "x");
    EXPECT_TRUE(root_->link_in("/again", inside_ / "copied"));
    EXPECT_THROW(static_cast<void>(root_->link_in("/again", inside_ / "copied")), Error);
    EXPECT_EQ(root_->status("/again")->st_nlink, 2U);
}

TEST_F(ImageRootTest, LimitsOnWhatIsRead) {
    ASSERT_EQ(::truncate((inside_ / "canary").c_str(), 1LL << 40U), 0);
    EXPECT_THROW(static_cast<void>(root_->read("/canary")), Error);
    EXPECT_THROW(static_cast<void>(root_->read("/canary", 10)), Error);
}

TEST_F(ImageRootTest, TheRootItselfIsNoLink) {
    link(outside_.string(), "link");
    EXPECT_THROW(ImageRoot(inside_ / "link"), Error);
    EXPECT_THROW(ImageRoot(inside_ / "canary"), Error);
    root_->make_directory("/", {0, 0, 0750, {}});
    EXPECT_EQ(mode_of("/"), 0750U);
    EXPECT_FALSE(root_->status("/canary/below"));
    root_->make_directories("/a/b/c");
    EXPECT_TRUE(root_->has_directory("/a/b/c"));
    EXPECT_THROW(root_->make_directories("/canary/x"), Error);
}

/// While a directory becomes a link to the builder's and back again, all the time.
TEST_F(ImageRootTest, ASwapOnTheWayLeadsNowhere) {
    fs::create_directories(inside_ / "usr/swap/below");
    write_file(inside_ / "usr/swap/canary", "image", 0644);
    link(outside_.string(), "usr/absolute");
    link("../../outside", "usr/relative");
    std::atomic<bool> stop{false};
    std::thread swapper([&] {
        for (unsigned i = 0; !stop; ++i) {
            const fs::path other = inside_ / "usr" / (i % 4 < 2 ? "absolute" : "relative");
            ::renameat2(AT_FDCWD, (inside_ / "usr/swap").c_str(), AT_FDCWD, other.c_str(),
                        RENAME_EXCHANGE);
        }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    std::size_t rounds = 0;
    for (; std::chrono::steady_clock::now() < end || rounds < 20; ++rounds) {
        const auto attempt = [&](const std::function<void()>& work) {
            try {
                work();
            } catch (const Error&) {  // Absent just now.
            }
        };
        attempt([&] { EXPECT_EQ(root_->read("/usr/swap/canary"), "image"); });
        attempt([&] { EXPECT_EQ(root_->read("/usr/bin/../swap/canary"), "image"); });
        attempt([&] { root_->write("/usr/swap/new", "x", plain); });
        attempt([&] { root_->set_attributes("/usr/swap/canary", {7, 7, 0644, {}}); });
        attempt([&] { root_->make_directory("/usr/swap/made", {7, 7, 0777, {}}); });
        attempt([&] { root_->remove("/usr/swap/below"); });
        attempt([&] { root_->make_link("/usr/swap/link", "x"); });
        attempt([&] {
            root_->walk("/", [](const std::string& path, const struct stat&) {
                EXPECT_EQ(path.find("outside"), std::string::npos);
            });
        });
    }
    stop = true;
    swapper.join();
    EXPECT_GE(rounds, 20U);
}

}  // namespace
}  // namespace edgegpu
