#include "disk/ext4/ext4.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/console.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint64_t ext4_mib = 1U << 20U;

/// A reader of `text`.
ContentReader ext4_content(std::string_view text) {
    return [left = std::string(text)](char* buffer, std::size_t size) mutable {
        const std::size_t got = left.copy(buffer, size);
        left.erase(0, got);
        return got;
    };
}

/// A directory with a disk whose file system begins at 1 MiB.
class Ext4Test : public ::testing::Test {
protected:
    Ext4Test() {
        std::string name = (fs::temp_directory_path() / "ext4-XXXXXX").string();
        directory = ::mkdtemp(name.data());
        ctx.console = &console;
    }
    ~Ext4Test() override { fs::remove_all(directory); }

    [[nodiscard]] static Ext4Format format(std::uint64_t size) {
        return {ext4_mib,
                size,
                "12345678-9abc-8def-8123-456789abcdef",
                "abcdef12-9abc-8def-8123-456789abcdef",
                "edge",
                1'700'000'000};
    }

    [[nodiscard]] fs::path disk(std::uint64_t size, const std::string& name = "disk") const {
        fs::path path = directory / name;
        std::ofstream(path).close();
        fs::resize_file(path, size + 2 * ext4_mib);
        return path;
    }

    /// What e2fsck and debugfs say about the file system, as a file of its own.
    [[nodiscard]] std::string check(const fs::path& path) const {
        run(fmt::format("dd if={} of={}/alone bs=1M skip=1 conv=sparse status=none", path.string(),
                        directory.string()));
        int status = -1;
        std::string output = test::output_of(
            fmt::format("PATH=$PATH:/usr/sbin e2fsck -fn {}/alone 2>&1", directory.string()),
            &status);
        return status == 0 ? "" : output;
    }

    [[nodiscard]] std::string debugfs(const std::string& command) const {
        return run(fmt::format("PATH=$PATH:/usr/sbin debugfs -R '{}' {}/alone 2>&1", command,
                               directory.string()));
    }

    static std::string run(const std::string& command) {
        int status = -1;
        std::string output = test::output_of(command, &status);
        EXPECT_EQ(status, 0) << command << output;
        return output;
    }

    fs::path directory;
    Console console{Color::never, true};
    Context ctx;
};

/// Blocks of zeros are not written: those that mke2fs used and that are free again must have none
/// of its bytes.
TEST_F(Ext4Test, ABlockOfZerosIsZeroWhereverItLies) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    const std::string content = std::string(4096, '\0') + std::string(4096, 'x');
    writer.add_file(writer.root(), "first", content.size(), ext4_content(content), {});
    writer.finish();
    EXPECT_EQ(check(path), "");
    run(fmt::format("PATH=$PATH:/usr/sbin debugfs -R 'dump /first {0}/dumped' {0}/alone 2>&1",
                    directory.string()));
    std::ifstream dumped(directory / "dumped", std::ios::binary);
    EXPECT_TRUE(content == std::string(std::istreambuf_iterator<char>(dumped), {}));
}

TEST_F(Ext4Test, FilesHaveContentOwnerModeTimeAndAttributes) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    NodeAttributes attributes{04755, 100'000, 70'000, -1, {}};
    attributes.attributes["security.selinux"] = std::string("system_u:object_r:bin_t:s0\0", 27);
    attributes.attributes["security.capability"] =
        std::string("\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    attributes.attributes["user.large"] = std::string(3000, 'x');
    const Inode bin = writer.add_directory(writer.root(), "bin", {0711, 1, 2, 4'000'000'000, {}});
    writer.add_file(bin, "tool", 5, ext4_content("hello"), attributes);
    writer.add_file(bin, "empty", 0, ext4_content(""), {});
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_EQ(debugfs("cat /bin/tool"), "debugfs 1.47.0 (5-Feb-2023)\nhello");
    const std::string tool = debugfs("stat /bin/tool");
    EXPECT_THAT(tool, HasSubstr("Mode:  04755"));
    EXPECT_THAT(tool, HasSubstr("User: 100000   Group: 70000"));
    EXPECT_THAT(tool, HasSubstr("mtime: 0xffffffff"));
    EXPECT_THAT(tool, HasSubstr("crtime: 0x6553f100"));
    EXPECT_THAT(tool, HasSubstr("security.selinux (27) = \"system_u:object_r:bin_t:s0\\000\""));
    EXPECT_THAT(tool, HasSubstr("security.capability (20) = 01 00 00 02 00 04"));
    EXPECT_THAT(tool, HasSubstr("user.large (3000)"));
    const std::string bin_stat = debugfs("stat /bin");
    EXPECT_THAT(bin_stat, HasSubstr("Mode:  0711"));
    EXPECT_THAT(bin_stat, HasSubstr("Tue Oct  2 07:06:40 2096"));
    EXPECT_THAT(debugfs("stat /bin/empty"), HasSubstr("Size: 0"));
}

TEST_F(Ext4Test, TheSameCallsMakeTheSameBytes) {
    const auto make = [&](const std::string& name, mode_t mask) {
        const mode_t old = ::umask(mask);
        const fs::path path = disk(64 * ext4_mib, name);
        {
            Ext4Writer writer(ctx, path, format(64 * ext4_mib));
            NodeAttributes labelled;
            labelled.attributes["user.b"] = std::string(200, 'b');
            labelled.attributes["user.a"] = "a";
            for (int i = 0; i < 100; ++i) {
                const Inode inner =
                    writer.add_directory(writer.root(), fmt::format("d{}", i), labelled);
                writer.add_file(inner, "f", 100'000, ext4_content(std::string(100'000, 'z')),
                                labelled);
            }
            writer.finish();
        }
        ::umask(old);
        return sha256_file(path);
    };
    const std::string first = make("one", 022);
    test::wait_for_another_time(1);
    EXPECT_EQ(make("two", 0077), first);
}

TEST_F(Ext4Test, ADirectoryOfManyNamesAndManyDirectories) {
    const fs::path path = disk(256 * ext4_mib);
    Ext4Writer writer(ctx, path, format(256 * ext4_mib));
    const Inode many = writer.add_directory(writer.root(), "many", {});
    for (int i = 0; i < 5000; ++i) {
        writer.add_file(many, fmt::format("file-{}", i), 1, ext4_content("x"), {});
    }
    const Inode deep = writer.add_directory(writer.root(), "directories", {});
    for (int i = 0; i < 3000; ++i) {
        writer.add_directory(deep, fmt::format("directory-{}", i), {});
    }
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs("cat /many/file-4999"), HasSubstr("\nx"));
    EXPECT_THAT(debugfs("stat /directories"), HasSubstr("Links: 3002"));
}

TEST_F(Ext4Test, HardLinksShareAnInode) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    const Inode file = writer.add_file(writer.root(), "a", 3, ext4_content("abc"), {});
    const Inode link = writer.add_symlink(writer.root(), "l", "a", {0777, 0, 0, 0, {}});
    writer.add_link(writer.root(), "b", file);
    writer.add_link(writer.root(), "m", link);
    EXPECT_THROW(writer.add_link(writer.root(), "c", writer.root()), Error);
    EXPECT_THROW(writer.add_link(writer.root(), "a", file), Error);
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs("stat /b"), HasSubstr("Links: 2"));
    EXPECT_THAT(debugfs("stat /m"), HasSubstr("Fast link dest: \"a\""));
}

TEST_F(Ext4Test, SymlinksOfAnyLength) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    const NodeAttributes plain{0777, 0, 0, 0, {}};
    NodeAttributes labelled = plain;
    labelled.attributes["security.selinux"] = std::string(150, 'l');
    for (const std::size_t length : {1U, 59U, 60U, 61U, 4095U}) {
        writer.add_symlink(writer.root(), fmt::format("l{}", length), std::string(length, 't'),
                           labelled);
    }
    EXPECT_THROW(writer.add_symlink(writer.root(), "none", "", plain), Error);
    EXPECT_THROW(writer.add_symlink(writer.root(), "long", std::string(4096, 't'), plain), Error);
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs("stat /l59"),
                HasSubstr(fmt::format("Fast link dest: \"{}\"", std::string(59, 't'))));
    EXPECT_THAT(debugfs("stat /l60"), HasSubstr("Size: 60"));
    EXPECT_THAT(debugfs("cat /l4095"), HasSubstr(std::string(4095, 't')));
}

TEST_F(Ext4Test, ABigFileOfZerosTakesNoSpaceOnTheDisk) {
    const fs::path path = disk(1024 * ext4_mib);
    Ext4Writer writer(ctx, path, format(1024 * ext4_mib));
    std::uint64_t left = 700 * ext4_mib;
    writer.add_file(writer.root(), "big", left,
                    [&](char* buffer, std::size_t size) {
                        const std::size_t got = std::min<std::uint64_t>(size, left);
                        std::memset(buffer, 0, got);
                        left -= got;
                        return got;
                    },
                    {});
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs("stat /big"), HasSubstr("Size: 734003200"));
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_LT(status.st_blocks * 512U, 8 * ext4_mib);
}

TEST_F(Ext4Test, AFullFileSystemSaysHowMuchIsMissing) {
    const fs::path path = disk(16 * ext4_mib);
    Ext4Writer writer(ctx, path, format(16 * ext4_mib));
    const std::uint64_t room = writer.free_bytes();
    EXPECT_GT(room, 10 * ext4_mib);
    try {
        writer.add_file(writer.root(), "big", 64 * ext4_mib, ext4_content(""), {});
        FAIL();
    } catch (const Error& failure) {
        EXPECT_EQ(failure.message(),
                  fmt::format("the file system is full: big needs {} bytes, {} are left: {} are "
                              "missing",
                              64 * ext4_mib, room, 64 * ext4_mib - room));
    }
    try {
        for (int i = 0; i < 100'000; ++i) {
            writer.add_file(writer.root(), fmt::format("f{}", i), 0, ext4_content(""), {});
        }
        FAIL();
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("no inode is left for f"));
    }
}

TEST_F(Ext4Test, NamesAreChecked) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    const std::string longest(255, 'n');
    writer.add_directory(writer.root(), longest, {});
    EXPECT_THROW(writer.add_directory(writer.root(), longest, {}), Error);
    EXPECT_THROW(writer.add_directory(writer.root(), "lost+found", {}), Error);
    for (const std::string& bad : {longest + "n", std::string(), std::string("."),
                                   std::string(".."), std::string("a/b"), std::string("a\0b", 3)}) {
        EXPECT_THROW(writer.add_directory(writer.root(), bad, {}), Error);
    }
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs(fmt::format("stat /{}", longest)), HasSubstr("Type: directory"));
}

TEST_F(Ext4Test, ContentOfAnotherSizeIsAnError) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    EXPECT_THROW(writer.add_file(writer.root(), "short", 4, ext4_content("abc"), {}), Error);
    EXPECT_THROW(writer.add_file(writer.root(), "long", 2, ext4_content("abc"), {}), Error);
}

TEST_F(Ext4Test, TheSizeForFilesIsEnough) {
    for (const std::uint64_t count : {10U, 5000U}) {
        const std::uint64_t size = ext4_size_for(count * 3 + 200, count + 10);
        const fs::path path = disk(size);
        Ext4Writer writer(ctx, path, format(size));
        for (std::uint64_t i = 0; i < count; ++i) {
            writer.add_file(writer.root(), fmt::format("f{}", i), 12'000,
                            ext4_content(std::string(12'000, 'x')), {});
        }
        writer.finish();
        EXPECT_EQ(check(path), "");
    }
}

TEST_F(Ext4Test, AnImmutableDirectoryAndLostAndFound) {
    const fs::path path = disk(32 * ext4_mib);
    Ext4Writer writer(ctx, path, format(32 * ext4_mib));
    NodeAttributes labelled{0700, 0, 0, 5, {}};
    labelled.attributes["security.selinux"] = std::string("lost\0", 5);
    writer.set_attributes(writer.lost_and_found(), labelled);
    writer.set_immutable(writer.add_directory(writer.root(), "d", {}));
    writer.finish();
    EXPECT_EQ(check(path), "");
    EXPECT_THAT(debugfs("stat /lost+found"), HasSubstr("security.selinux (5) = 6c 6f 73 74 00"));
    EXPECT_THAT(debugfs("stat /d"), HasSubstr("Flags: 0x80010"));
}

}  // namespace
}  // namespace edgegpu
