// Repositories that a commit cannot be written to: the program has to end with the exit status and
// the exact message that say what to do.

#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "integration/bad_input_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A tmpfs that goes with the object; `works` is false where mounting is not permitted.
class SmallDisk {
public:
    SmallDisk(fs::path path, const std::string& options, unsigned long flags = 0)
        : path_(std::move(path)) {
        fs::create_directories(path_);
        works_ = ::mount("tmpfs", path_.c_str(), "tmpfs", flags, options.c_str()) == 0;
    }
    ~SmallDisk() {
        if (works_) {
            ::umount2(path_.c_str(), MNT_DETACH);
        }
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    [[nodiscard]] bool works() const { return works_; }
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool works_ = false;
};

class BadDestination : public test::BadInput {};

TEST_F(BadDestination, FullDiskAtTheStart) {
    const SmallDisk disk(work_.path() / "disk", "size=16k,nr_inodes=4,mode=0755");
    if (!disk.works()) {
        GTEST_SKIP() << "mounting is not permitted here";
    }
    blueprint(shared());
    EXPECT_EQ(build(disk.path()), "error: " + disk.path().string() + ": no space left on device\n" +
                                      during("opening the repository for") +
                                      "hint: free some space, and run the "
                                      "command again\n");
    EXPECT_EQ(status_, 1);
}

TEST_F(BadDestination, ReadOnlyRepository) {
    const SmallDisk disk(work_.path() / "disk", "size=64k,mode=0755", MS_RDONLY);
    if (!disk.works()) {
        GTEST_SKIP() << "mounting is not permitted here";
    }
    blueprint(shared());
    const std::string message = ": cannot write to the repository: Read-only file system\n" +
                                during("opening the repository for") +
                                "hint: name a directory that you may write to\n";
    EXPECT_EQ(build(disk.path()), "error: " + disk.path().string() + message);
    EXPECT_EQ(status_, 1);
    EXPECT_EQ(build(disk.path() / "new"), "error: " + (disk.path() / "new").string() + message);
    EXPECT_EQ(status_, 1);
}

TEST_F(BadDestination, FileInPlaceOfTheRepository) {
    write_file(repo(), "a file\n");
    blueprint(shared());
    EXPECT_EQ(build(), "error: " + repo().string() +
                           ": cannot write to the repository: Not a directory\n" +
                           during("opening the repository for") +
                           "hint: name a directory that you may write to\n");
    EXPECT_EQ(status_, 1);
    EXPECT_EQ(read_file(repo()), "a file\n");
}

TEST_F(BadDestination, DirectoryThatIsNoRepository) {
    make_directories(repo());
    write_file(repo() / "precious", "a file\n");
    blueprint(shared());
    EXPECT_EQ(
        build(),
        "error: " + repo().string() + ": not an ostree repository, and not empty\n" +
            during("opening the repository for") +
            "hint: give an empty or absent directory, or an archive repository, with --repo\n");
    EXPECT_EQ(status_, 1);
}

TEST_F(BadDestination, TwoBuildsOnOneRef) {
    Console console(Color::never, true);
    Context ctx;
    ctx.console = &console;
    ctx.cache = work_.path() / "cache";
    const Repo held(ctx, repo(), "a/b");
    blueprint(shared());
    EXPECT_EQ(build(), "error: " + repo().string() + ": somebody else (pid " +
                           std::to_string(::getpid()) + " of its machine) is writing ref a/b\n" +
                           during("opening the repository for") +
                           "hint: try again when that has ended, or name another "
                           "repository\n");
    EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace edgegpu
