#include "customise/images/layers.hpp"

#include <string>

#include <gtest/gtest.h>

#include "image_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

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
    EXPECT_NE(refused({{.name = "d/.ostree-wh.x"}}).find("ostree"), std::string::npos);
    EXPECT_NE(refused({{.name = "h", .type = '1', .link = "../../etc/shadow"}}).find("leaves"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "h", .type = '1', .link = "nothing"}}).find("hard link"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "."}}).find("is not a directory"), std::string::npos);
    EXPECT_NE(refused({{.name = "huge", .size = "77777777777777"}}).find("huge"),
              std::string::npos);
}

TEST_F(LayersTest, LinksOfTheSameLayerAreFollowedWithinTheImage) {
    // As podman and docker unpack it: each layer into a directory that is its root.
    const Entries files = unpack_image(
        ctx, image({tar_archive({{.name = "lower", .type = '5', .mode = 0755}}),
                    tar_archive({{.name = "usr/lib", .type = '5', .mode = 0755},
                                 {.name = "lib", .type = '2', .link = "usr/lib"},
                                 {.name = "lib/x", .content = "x"},
                                 {.name = "lib/new/deep", .content = "deep"},
                                 {.name = "abs", .type = '2', .link = "/usr/../lib"},
                                 {.name = "abs/y", .content = "y"},
                                 {.name = "etc", .type = '5', .mode = 0755},
                                 {.name = "out", .type = '2', .link = "../../../../etc"},
                                 {.name = "out/shadow", .content = "mine"},
                                 {.name = "down", .type = '2', .link = "lower"},
                                 {.name = "down/z", .content = "z"},
                                 {.name = "hard", .type = '1', .link = "abs/x"},
                                 {.name = "etc/../usr/up", .content = "up"}})}));
    EXPECT_EQ(files.at("/lib").type, EntryType::symlink);
    EXPECT_EQ(content_at(files, "/usr/lib/x"), "x");
    EXPECT_EQ(content_at(files, "/usr/lib/new/deep"), "deep");
    EXPECT_EQ(content_at(files, "/usr/lib/y"), "y");
    EXPECT_EQ(content_at(files, "/etc/shadow"), "mine");
    EXPECT_EQ(content_at(files, "/lower/z"), "z");
    EXPECT_EQ(content_at(files, "/hard"), "x");
    EXPECT_EQ(content_at(files, "/usr/up"), "up");
    for (const auto& [path, entry] : files) {
        const std::string parent = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
        EXPECT_EQ(files.at(parent).type, EntryType::directory) << path;
    }
}

TEST_F(LayersTest, WhatLiesBelowNoDirectoryIsAnError) {
    EXPECT_NE(refused({{.name = "a", .type = '2', .link = "gone"}, {.name = "a/x"}})
                  .find("\"a/x\" lies below /a, a link of the same layer to /gone, which is not a "
                        "directory"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "a", .type = '2', .link = "b"},
                       {.name = "b", .type = '2', .link = "a"},
                       {.name = "a/x"}})
                  .find("a link of the same layer that leads to itself"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "a"}, {.name = "a/x"}}).find("below /a, a file of the same layer"),
              std::string::npos);
}

TEST_F(LayersTest, WhiteoutsOfNothingAreErrors) {
    for (const char* name : {".wh.", "d/.wh.", "d/.wh..", "d/.wh..."}) {
        EXPECT_NE(refused({{.name = "d/x"}, {.name = name}}).find("deletes no file"),
                  std::string::npos)
            << name;
    }
    EXPECT_NE(refused({{.name = ".wh.b/x"}}).find("marks another as deleted"), std::string::npos);
    // Of aufs, and of directories that no layer has: engines pass them over.
    const Entries files =
        unpack_image(ctx, image({tar_archive({{.name = "b", .content = "b"}}),
                                 tar_archive({{.name = ".wh..wh.plnk/8.1", .content = "x"},
                                              {.name = ".wh.never"},
                                              {.name = "gone/.wh..wh..opq"}})}));
    EXPECT_EQ(content_at(files, "/b"), "b");
    for (const auto& [path, entry] : files) {
        EXPECT_EQ(path.find(".wh."), std::string::npos) << path;
    }
}

TEST_F(LayersTest, NamesThatNoDeviceCouldHaveAreErrors) {
    const auto named = [&](const std::string& name) {
        return refused({test::pax_header("path", name), {.name = "x"}});
    };
    std::string deep;
    while (deep.size() < 8040) {
        deep += std::string(200, 'n') + '/';
    }
    EXPECT_NE(named(deep + 'x').find("more than paths can have"), std::string::npos);
    EXPECT_NE(named(std::string(256, 'n')).find("more than 255 bytes"), std::string::npos);
    EXPECT_NE(refused({{.name = "a\xff"}}).find("not UTF-8"), std::string::npos);
    EXPECT_NE(refused({{.name = "a\xff/x"}}).find("not UTF-8"), std::string::npos);
    EXPECT_NE(refused({{.name = ".ostree-wh.d/x"}}).find("ostree"), std::string::npos);
    EXPECT_NE(refused({{.name = "l", .type = '2', .link = "\xff"}}).find("not UTF-8"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "l", .type = '2', .link = ""}}).find("path of 0 bytes"),
              std::string::npos);
    EXPECT_NE(refused({test::pax_header("linkpath", std::string(5000, 'n')),
                       {.name = "l", .type = '2', .link = "x"}})
                  .find("path of 5000 bytes"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "h", .type = '1', .link = "h"}}).find("hard link"),
              std::string::npos);
    EXPECT_NE(refused({{.name = "h"}, {.name = "h", .type = '1', .link = "./h"}}).find("hard link"),
              std::string::npos);
    // -2, which would be root's if negative numbers were 0.
    EXPECT_NE(refused({{.name = "o", .uid = std::string(7, '\xff') + '\xfe'}}).find("an owner"),
              std::string::npos);
    EXPECT_NE(refused({test::pax_header("SCHILY.xattr.security.capability", "\x01\x02\x03"),
                       {.name = "c"}})
                  .find("capabilities that Linux does not take"),
              std::string::npos);
}

TEST_F(LayersTest, LayersOfAnotherConfigurationAreAnError) {
    StoredImage other = image({tar_archive({{.name = "a", .content = "a"}})});
    static_cast<void>(unpack_image(ctx, other));
    // The layers are in the cache, unpacked: that does not make them the right ones.
    other.diff_ids[0] = std::string(64, 'a');
    try {
        static_cast<void>(unpack_image(ctx, other));
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_NE(problem.message().find("image docker://quay.io/x/app:1: layer " +
                                         other.layers[0].digest),
                  std::string::npos);
        EXPECT_NE(problem.message().find("not aaaa"), std::string::npos) << problem.message();
        EXPECT_NE(problem.hint().find("diff_ids"), std::string::npos);
    }
}

/// zstd of `mebibytes` of zeros: blocks that repeat one byte, 32 bytes for each mebibyte.
std::string zstd_of_zeros(unsigned mebibytes) {
    std::string text("\x28\xb5\x2f\xfd\x00\x38", 6);
    const unsigned blocks = mebibytes * 8;
    for (unsigned i = 1; i <= blocks; ++i) {
        const unsigned header = 131072U << 3U | 1U << 1U | (i == blocks ? 1U : 0U);
        for (unsigned shift = 0; shift < 24; shift += 8) {
            text += static_cast<char>(header >> shift & 0xffU);
        }
        text += '\0';
    }
    return text;
}

TEST_F(LayersTest, NoLayerFillsTheDisk) {
    const UnpackLimits limits{.spare = 1 << 20, .entries = 100, .path_bytes = 4000};
    const auto bomb = [&](const std::string& layer) {
        try {
            static_cast<void>(unpack_image(ctx, image({layer}), limits));
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_NE(problem.hint(), "");
            EXPECT_NE(problem.message().find("image docker://quay.io/x/app:1"), std::string::npos);
            return problem.message();
        }
        return std::string("no error");
    };
    // What a header declares is refused before anything is written.
    const std::string declared = bomb(tar_archive({{.name = "zeros", .size = "00020000000"}}));
    EXPECT_NE(declared.find("\"zeros\" makes the image larger than"), std::string::npos)
        << declared;
    EXPECT_NE(bomb(tar_archive({test::pax_header("GNU.sparse.realsize", "9000000000"),
                                {.name = "sparse", .content = "x"}})),
              "no error");
    // A stream that goes on, with and without an archive at its beginning.
    EXPECT_NE(bomb(zstd_of_zeros(16)).find("decompressed, it is larger than"), std::string::npos);
    std::string many;
    for (int i = 0; i < 200; ++i) {
        many += test::tar_member({.name = "f" + std::to_string(i)});
    }
    EXPECT_NE(bomb(many).find("is beyond the 100 files"), std::string::npos);
    // Directories of long paths are as many as their names are short.
    std::string deep;
    for (int i = 0; i < 95; ++i) {
        deep += "a/";
    }
    EXPECT_NE(bomb(tar_archive({test::pax_header("path", deep), {.name = "x"}})).find("of paths"),
              std::string::npos);
}

TEST_F(LayersTest, ALayerOfNothingIsEmpty) {
    EXPECT_EQ(unpack_image(ctx, image({"", std::string(1024, '\0')})).count("/"), 1U);
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
