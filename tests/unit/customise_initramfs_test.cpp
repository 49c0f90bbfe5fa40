#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include "customise/initramfs_cache.hpp"
#include "customise/initramfs_contents.hpp"
#include "customise_fixture.hpp"
#include "support/handles.hpp"

namespace edgegpu::test {
namespace {

class Initramfs : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        file("/usr/lib/dracut/dracut.sh", "1");
        file("/usr/lib/libc.so.6", "c");
        file("/usr/lib/libother.so", "o");
        host_file("image", "IMAGE");
        const InitramfsCache cache(ctx, tree, "args");
        EXPECT_FALSE(cache.find().has_value());
        kept = cache.store(scratch / "image",
                           {"/bin", "/etc/passwd", "/init", "/usr/bin/bash", "/usr/lib/libc.so.6"});
    }
    [[nodiscard]] bool hit(std::string_view arguments = "args") const {
        return InitramfsCache(ctx, tree, arguments).find().has_value();
    }
    std::filesystem::path kept;
};

TEST_F(Initramfs, SameInputsAreAHit) {
    EXPECT_EQ(InitramfsCache(ctx, tree, "args").find(), kept);
    EXPECT_EQ(read_file(kept), "IMAGE");
}

TEST_F(Initramfs, WhatIsNotInItDoesNotCount) {
    file("/usr/lib/libother.so", "changed");
    file("/etc/microshift/config.yaml", "new");
    file("/etc/passwd", text("/etc/passwd") + "admin:x:1000:1000::/home/admin:/bin/bash\n");
    EXPECT_TRUE(hit());
}

TEST_F(Initramfs, EverythingInItCounts) {
    file("/usr/lib/libc.so.6", "changed");
    EXPECT_FALSE(hit());
    file("/usr/lib/libc.so.6", "c");
    EXPECT_TRUE(hit());
    file("/etc/passwd", text("/etc/passwd") + "sys:x:3:3::/:/sbin/nologin\n");
    EXPECT_FALSE(hit());
}

TEST_F(Initramfs, WhatDracutDecidesFromCounts) {
    EXPECT_FALSE(hit("other arguments"));
    file("/usr/sbin/lvm", "");
    EXPECT_FALSE(hit());
    remove_entry(tree, "/usr/sbin/lvm");
    EXPECT_TRUE(hit());
    file("/etc/modprobe.d/edgegpu.conf", "blacklist nouveau\n");
    EXPECT_FALSE(hit());
}

/// A newc archive of empty files, with libarchive's filter `filter`.
std::string make_archive(int filter, std::initializer_list<const char*> paths) {
    std::string data(1U << 16U, '\0');
    std::size_t used = 0;
    const Handle<archive, archive_write_free> writer(archive_write_new());
    archive_write_set_format_cpio_newc(writer.get());
    archive_write_add_filter(writer.get(), filter);
    archive_write_open_memory(writer.get(), data.data(), data.size(), &used);
    for (const char* path : paths) {
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), path);
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_size(entry.get(), 0);
        EXPECT_EQ(archive_write_header(writer.get(), entry.get()), ARCHIVE_OK);
    }
    EXPECT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
    data.resize(used);
    return data;
}

TEST_F(Initramfs, ListsPlainAndCompressedArchivesInOneFile) {
    host_file("two.img", make_archive(ARCHIVE_FILTER_NONE, {"kernel/ucode"}) +
                             make_archive(ARCHIVE_FILTER_GZIP, {"./usr/bin/sh", "etc/x"}));
    EXPECT_EQ(list_initramfs(scratch / "two.img"),
              (std::vector<std::string>{"/etc/x", "/kernel/ucode", "/usr/bin/sh"}));
}

TEST_F(Initramfs, CutShortArchiveIsAnError) {
    host_file("short.img", "0707010000");
    EXPECT_NE(error_of([&] { (void)list_initramfs(scratch / "short.img"); }).find("cut short"),
              std::string::npos);
}

}  // namespace
}  // namespace edgegpu::test
