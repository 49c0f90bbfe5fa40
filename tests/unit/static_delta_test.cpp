#include "delta/static_delta.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// Text that does not shrink to nothing.
std::string program(std::string_view version, std::size_t lines) {
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) {
        text += fmt::format("function {} at {:x} of {}\n", i, i * 2654435761U, version);
    }
    return text;
}

/// Two commits, and what a delta from one to the other is made of.
class StaticDeltaTest : public testing::Test {
protected:
    StaticDeltaTest() {
        for (const char* path : {"/usr/share", "/usr/lib/modules", "/usr/lib/modules/6.1.0-47",
                                 "/usr/share/rpm", "/usr/lib/sysimage"}) {
            fixture.add_directory(path);
        }
        fixture.add_file("/usr/lib/libcuda.so.550.54", program("550.54", 20000));
        fixture.add_file("/usr/lib/modules/6.1.0-47/nvidia.ko", program("one module", 3000));
        fixture.add_file("/usr/share/rpm/db", program("of packages", 3000));
        fixture.add_file("/usr/lib/sysimage/db", program("of packages", 3000));
        from_ = fixture.build("one").checksum;
        fixture.tree.entries.erase("/usr/lib/libcuda.so.550.54");
        fixture.tree.entries.erase("/usr/lib/modules/6.1.0-47/nvidia.ko");
        fixture.tree.entries.erase("/usr/lib/modules/6.1.0-47");
        fixture.add_directory("/usr/lib/modules/6.1.0-56");
        fixture.add_file("/usr/lib/libcuda.so.565.57", program("565.57", 20100));
        fixture.add_file("/usr/lib/modules/6.1.0-56/nvidia.ko", program("one modul3", 3010), 0600);
        fixture.add_file("/usr/share/rpm/db", program("of packageS", 3000));
        fixture.add_file("/usr/lib/sysimage/db", program("of packageS", 3000), 0755);
        fixture.add_file("/usr/lib/setuid", "new and small", 04755);
        fixture.add_file("/usr/lib/empty", "");
        fixture.add_link("/usr/lib/link", "libcuda.so.565.57");
        to_ = fixture.build("two").checksum;
    }

    [[nodiscard]] CommitView open(const std::string& checksum) const {
        return RepositoryView(fixture.repo()).open(checksum);
    }

    /// Makes the delta in a directory of this name.
    StaticDelta make(const std::string& name, unsigned jobs = 2, const DeltaOptions& options = {}) {
        const fs::path place = fixture.directory() / name;
        fs::create_directory(place);
        Context ctx = fixture.ctx();
        ctx.jobs = jobs;
        return write_static_delta(ctx, open(from_), open(to_), opened(place), options);
    }

    [[nodiscard]] static Fd opened(const fs::path& place) {
        return Fd(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    static std::map<std::string, std::string> files_of(const fs::path& place) {
        std::map<std::string, std::string> files;
        for (const fs::directory_entry& file : children_of(place)) {
            files[file.path().filename()] = read_file(file.path());
        }
        return files;
    }

    /// What ostree says when a new repository, which has `from_` alone, applies a delta.
    std::string apply(const std::string& name) {
        const fs::path client = fixture.directory() / ("client-" + name);
        return test::output_of(
            fmt::format(
                "exec 2>&1; set -e; ostree init --repo={0} --mode=bare-user; "
                "ostree pull-local --repo={0} {1} {2}; "
                "ostree static-delta apply-offline --repo={0} {3}; ostree fsck -q --repo={0}; "
                "ostree --repo={0} ls -R {4} /usr >{0}/got; ostree --repo={1} ls -R {4} /usr "
                ">{0}/wanted; cmp {0}/got {0}/wanted; "
                // Every object of the new commit is there, from the delta.
                "ostree --repo={0} refs --create=new {4}; "
                "test ! -e {0}/state/{4}.commitpartial",
                client.string(), fixture.repo().string(), from_,
                (fixture.directory() / name).string(), to_),
            &status_);
    }

    test::CommitFixture fixture;
    std::string from_;
    std::string to_;
    int status_ = 0;
};

TEST_F(StaticDeltaTest, WhatCannotBeWrittenIsNamed) {
    const fs::path taken = fixture.directory() / "taken/superblock";
    fs::create_directories(taken);
    try {
        make("taken");
        ADD_FAILURE() << "a directory was replaced by a file";
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), testing::HasSubstr(taken.string()));
    }
}

TEST_F(StaticDeltaTest, OstreeMakesTheNewCommitOfIt) {
    const StaticDelta delta = make("delta");
    EXPECT_EQ(delta.fallbacks, 0U);
    EXPECT_EQ(delta.parts, 1U);
    EXPECT_GT(delta.unpacked, 1U << 20U);
    const std::string said = apply("delta");
    EXPECT_EQ(status_, 0) << said;
    // Both libraries have lines of their own, nearly all alike: a hundredth is what they differ in.
    EXPECT_LT(delta.bytes, delta.stored / 10) << delta.bytes << " of " << delta.stored;
}

TEST_F(StaticDeltaTest, OfLargeFilesHasPiecesThatDevicesHave) {
    // The same content at two paths, with two modes, is in it once.
    std::string large = program("both", 30000);
    fixture.add_file("/usr/lib/libnvinfer.so.10.0", large);
    fixture.add_file("/usr/share/libnvinfer.so.10.0", large, 0600);
    from_ = fixture.build("one").checksum;
    fixture.tree.entries.erase("/usr/lib/libnvinfer.so.10.0");
    fixture.tree.entries.erase("/usr/share/libnvinfer.so.10.0");
    large = program("new", 1000) + large.substr(large.size() / 2) + large.substr(0, 300'000);
    fixture.add_file("/usr/lib/libnvinfer.so.10.1", large);
    fixture.add_file("/usr/share/libnvinfer.so.10.1", large, 0600);
    to_ = fixture.build("two").checksum;
    DeltaOptions options;
    options.largest_compared = 100'000;
    const StaticDelta delta = make("delta", 2, options);
    EXPECT_EQ(delta.fallbacks, 0U);
    const std::string said = apply("delta");
    EXPECT_EQ(status_, 0) << said;
    EXPECT_LT(delta.bytes, 20'000U) << "of " << delta.stored;
    EXPECT_EQ(find_static_delta(opened(fixture.directory() / "delta"), from_, open(to_))->delta,
              delta);
}

TEST_F(StaticDeltaTest, OfLargeFilesThatAreLikeNoOldOneHasObjects) {
    DeltaOptions options;
    options.largest_compared = 100'000;
    // The lines of the library differ in their ends: they have nothing of 64 bytes in a row.
    const StaticDelta delta = make("delta", 2, options);
    EXPECT_GE(delta.fallbacks, 1U);
}

TEST_F(StaticDeltaTest, IsTheSameWithAnyNumberOfThreads) {
    const StaticDelta one = make("one", 1);
    const StaticDelta four = make("four", 4);
    EXPECT_EQ(one, four);
    EXPECT_EQ(files_of(fixture.directory() / "one"), files_of(fixture.directory() / "four"));
}

TEST_F(StaticDeltaTest, IsFoundAsItWasMade) {
    const StaticDelta made = make("delta");
    const fs::path place = fixture.directory() / "delta";
    const std::optional<FoundDelta> found = find_static_delta(opened(place), from_, open(to_));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->delta, made);
    EXPECT_FALSE(found->renewed);
    EXPECT_FALSE(find_static_delta(opened(place), to_, open(to_)));
    EXPECT_FALSE(find_static_delta(opened(place), from_, open(from_)));
}

TEST_F(StaticDeltaTest, IsNoneWithoutItsParts) {
    static_cast<void>(make("delta"));
    const fs::path place = fixture.directory() / "delta";
    const std::string part = read_file(place / "0");
    write_file(place / "0", part.substr(1));
    EXPECT_FALSE(find_static_delta(opened(place), from_, open(to_)));
    fs::remove(place / "0");
    EXPECT_FALSE(find_static_delta(opened(place), from_, open(to_)));
    write_file(place / "0", part);
    const std::string superblock = read_file(place / "superblock");
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, superblock.size() / 2, superblock.size() - 1}) {
        write_file(place / "superblock", superblock.substr(0, size));
        EXPECT_FALSE(find_static_delta(opened(place), from_, open(to_))) << size;
    }
}

TEST_F(StaticDeltaTest, ADamagedObjectIsNamedAndNothingIsMadeOfIt) {
    // Of the old commit: a client has the right one, and would make something else of it.
    const CommitView from = open(from_);
    const std::string checksum = from.find("/usr/lib/libcuda.so.550.54")->checksum;
    const fs::path object =
        fixture.repo() / "objects" / checksum.substr(0, 2) / (checksum.substr(2) + ".filez");
    const std::string other = from.find("/usr/share/rpm/db")->checksum;
    fs::remove(object);
    fs::copy_file(fixture.repo() / "objects" / other.substr(0, 2) / (other.substr(2) + ".filez"),
                  object);
    try {
        static_cast<void>(make("delta"));
        FAIL();
    } catch (const Error& failure) {
        EXPECT_NE(std::string(failure.what()).find("/usr/lib/libcuda.so.550.54"), std::string::npos)
            << failure.what();
    }
}

TEST(StaticDelta, HasThePathThatClientsAskFor) {
    const std::string one(64, '0');
    const std::string two = "ff" + std::string(62, '0');
    EXPECT_EQ(delta_path(one, two),
              "deltas/AA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-"
              "_wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    EXPECT_EQ(delta_path("", two), "deltas/_w/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
}

}  // namespace
}  // namespace edgegpu
