#include "customise/images/layers.hpp"

#include <string>

#include <gtest/gtest.h>

#include "image_fixture.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

using test::tar_archive;

class LayersTest : public test::ImageTest {
protected:
    /// The message with which unpacking one layer fails.
    std::string refused(std::initializer_list<test::TarPart> parts) {
        try {
            static_cast<void>(unpack_image(ctx, image({tar_archive(parts)})));
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_NE(problem.hint(), "");
            return problem.message();
        }
        return "no error";
    }
};

std::string content_at(const Entries& entries, const std::string& path) {
    const auto found = entries.find(path);
    return found == entries.end() ? "(none)" : read_file(found->second.content);
}

TEST_F(LayersTest, LaterLayersReplaceAndDelete) {
    const Entries files = unpack_image(
        ctx, image({tar_archive({{.name = "./", .type = '5', .mode = 0750},
                                 {.name = "etc/", .type = '5', .mode = 0755},
                                 {.name = "etc/old", .content = "old"},
                                 {.name = "etc/both", .content = "1"},
                                 {.name = "data", .type = '5', .mode = 0700},
                                 {.name = "data/a/b", .content = "deep"},
                                 {.name = "gone", .type = '5', .mode = 0755},
                                 {.name = "gone/x", .content = "x"},
                                 {.name = "lib", .type = '2', .link = "usr/lib"}}),
                    tar_archive({{.name = "etc/.wh.old"},
                                 {.name = "etc/both", .content = "22", .mode = 04755},
                                 {.name = ".wh.gone"},
                                 {.name = "data/new", .content = "new"},
                                 {.name = "data/.wh..wh..opq"},
                                 {.name = "lib/x", .content = "a directory hides the link"},
                                 {.name = "hard", .type = '1', .link = "./etc/both"}})}));
    EXPECT_EQ(files.at("/").mode, 0750U);
    EXPECT_FALSE(files.contains("/etc/old"));
    EXPECT_FALSE(files.contains("/gone"));
    EXPECT_FALSE(files.contains("/gone/x"));
    EXPECT_FALSE(files.contains("/data/a"));
    EXPECT_FALSE(files.contains("/data/a/b"));
    EXPECT_EQ(content_at(files, "/data/new"), "new");
    EXPECT_EQ(content_at(files, "/etc/both"), "22");
    EXPECT_EQ(files.at("/etc/both").mode, 04755U);
    EXPECT_EQ(files.at("/etc/both").uid, 4242U);
    EXPECT_EQ(files.at("/lib").type, EntryType::directory);
    EXPECT_EQ(files.at("/hard").digest, files.at("/etc/both").digest);
    for (const auto& [path, entry] : files) {
        EXPECT_EQ(path.find(".wh."), std::string::npos) << path;
    }
}

TEST_F(LayersTest, AWhiteoutDeletesNothingOfItsOwnLayer) {
    const Entries files =
        unpack_image(ctx, image({tar_archive({{.name = "d", .type = '5', .mode = 0755},
                                              {.name = "d/old", .content = "old"}}),
                                 tar_archive({{.name = "d", .type = '5', .mode = 0711},
                                              {.name = "d/new", .content = "new"},
                                              {.name = ".wh.d"}})}));
    EXPECT_EQ(files.at("/d").mode, 0711U);
    EXPECT_TRUE(files.contains("/d/new"));
    EXPECT_FALSE(files.contains("/d/old"));
}

TEST_F(LayersTest, WhatEnginesCreateInContainersIsThere) {
    const Entries files =
        unpack_image(ctx, image({tar_archive({{.name = "etc/hosts", .content = "mine"},
                                              {.name = "run", .type = '2', .link = "var/run"}})}));
    EXPECT_EQ(content_at(files, "/etc/hosts"), "mine");
    EXPECT_EQ(files.at("/etc/mtab").target, "/proc/mounts");
    EXPECT_EQ(files.at("/proc").type, EntryType::directory);
    EXPECT_FALSE(files.contains("/run/.containerenv"));
}

TEST_F(LayersTest, DevicesAreLeftOutWithAWarning) {
    const Entries files = unpack_image(
        ctx, image({tar_archive({{.name = "dev/null", .type = '3'}, {.name = "p", .type = '6'}})}));
    EXPECT_FALSE(files.contains("/dev/null"));
    EXPECT_FALSE(files.contains("/p"));
    console.end_stage("");
    ASSERT_EQ(console.warnings().size(), 1U);
    EXPECT_NE(console.warnings()[0].find("quay.io/x/app:1 (2)"), std::string::npos)
        << console.warnings()[0];
}

TEST_F(LayersTest, HostileNamesAreErrors) {
    EXPECT_NE(refused({{.name = "../x"}}).find("leaves the image"), std::string::npos);
    EXPECT_NE(refused({{.name = "a/../../x"}}).find("leaves the image"), std::string::npos);
    EXPECT_NE(refused({{.name = "a", .type = '2', .link = "/etc"}, {.name = "a/passwd"}})
                  .find("below a link or file of the same layer"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "d/.ostree-wh.x"}}).find("ostree"), std::string::npos);
    EXPECT_NE(refused({{.name = "h", .type = '1', .link = "../../etc/shadow"}}).find("leaves"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "h", .type = '1', .link = "nothing"}}).find("hard link"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "."}}).find("is not a directory"), std::string::npos);
    EXPECT_NE(refused({{.name = "huge", .size = "77777777777777"}}).find("huge"),
              std::string::npos);
}

TEST_F(LayersTest, AbsoluteNamesAreOfTheImage) {
    const Entries files =
        unpack_image(ctx, image({tar_archive({{.name = "/etc/x", .content = "x"}})}));
    EXPECT_EQ(content_at(files, "/etc/x"), "x");
}

TEST_F(LayersTest, ADamagedLayerIsForgotten) {
    const StoredImage damaged = image({tar_archive({{.name = "a", .content = "a"}})});
    write_file(damaged.layers[0].path, "something else");
    EXPECT_THROW(static_cast<void>(unpack_image(ctx, damaged)), Error);
    EXPECT_FALSE(std::filesystem::exists(damaged.layers[0].path));
}

TEST_F(LayersTest, AnImageIsUnpackedOnce) {
    const StoredImage once = image({tar_archive({{.name = "a", .content = "a"}})});
    const Entries first = unpack_image(ctx, once);
    std::filesystem::remove(once.layers[0].path);
    const Entries second = unpack_image(ctx, once);
    ASSERT_EQ(first.size(), second.size());
    EXPECT_EQ(second.at("/a").digest, first.at("/a").digest);
    EXPECT_EQ(second.at("/a").mode, first.at("/a").mode);
}

}  // namespace
}  // namespace edgegpu
