#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "customise/initramfs/boot_link.hpp"
#include "customise/initramfs/boot_tools.hpp"
#include "customise/initramfs/initramfs.hpp"
#include "customise/initramfs/initramfs_accounts.hpp"
#include "customise/initramfs/initramfs_contents.hpp"
#include "customise_fixture.hpp"
#include "small_root.hpp"
#include "support/handles.hpp"

namespace edgegpu::test {
namespace {

class Initramfs : public TreeTest {};

TEST_F(Initramfs, PeopleAreNoneOfItsAccounts) {
    tree.packaged_accounts = {
        {"/etc/passwd",
         "root:x:0:0::/root:/bin/bash\nchrony:x:990:991::/:/bin/false\n"
         "kiosk:x:1000:1000::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"},
        {"/etc/group", "root:x:0:\nwheel:x:10:kiosk,chrony,operator\nkiosk:x:1000:chrony\n"},
        {"/etc/shadow", "root:*:::::::\nkiosk:$6$x:::::::\n"},
        {"/etc/gshadow", "root:::\nwheel::kiosk:chrony,kiosk\nkiosk:::\n"}};
    EXPECT_EQ(system_accounts(tree, "/etc/passwd"),
              "root:x:0:0::/root:/bin/bash\nchrony:x:990:991::/:/bin/false\n"
              "nobody:x:65534:65534::/:/bin/false\n");
    EXPECT_EQ(system_accounts(tree, "/etc/group"), "root:x:0:\nwheel:x:10:chrony\n");
    EXPECT_EQ(system_accounts(tree, "/etc/shadow"), "root:*:::::::\n");
    EXPECT_EQ(system_accounts(tree, "/etc/gshadow"), "root:::\nwheel:::chrony\n");
    tree.packaged_accounts.clear();
    EXPECT_EQ(system_accounts(tree, "/etc/gshadow"), "");
}

namespace fs = std::filesystem;

std::string refusal(const std::string& image) {
    return error_of([&] { static_cast<void>(read_initramfs(image, "x.img")); });
}

/// Compressed with gzip.
std::string compressed(const std::string& content) {
    std::string data(1U << 16U, '\0');
    std::size_t used = 0;
    const Handle<archive, archive_write_free> writer(archive_write_new());
    archive_write_set_format_raw(writer.get());
    archive_write_add_filter(writer.get(), ARCHIVE_FILTER_GZIP);
    archive_write_open_memory(writer.get(), data.data(), data.size(), &used);
    const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    EXPECT_EQ(archive_write_header(writer.get(), entry.get()), ARCHIVE_OK);
    EXPECT_EQ(archive_write_data(writer.get(), content.data(), content.size()),
              static_cast<la_ssize_t>(content.size()));
    EXPECT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
    data.resize(used);
    return data;
}

/// A newc archive of empty files, with libarchive's filter `filter`.
std::string make_archive(int filter, const std::vector<std::string>& paths) {
    std::string data(1U << 16U, '\0');
    std::size_t used = 0;
    const Handle<archive, archive_write_free> writer(archive_write_new());
    archive_write_set_format_cpio_newc(writer.get());
    archive_write_add_filter(writer.get(), filter);
    archive_write_open_memory(writer.get(), data.data(), data.size(), &used);
    for (const std::string& path : paths) {
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), path.c_str());
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_size(entry.get(), 0);
        EXPECT_EQ(archive_write_header(writer.get(), entry.get()), ARCHIVE_OK);
    }
    EXPECT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
    data.resize(used);
    return data;
}

TEST_F(Initramfs, ListsPlainAndCompressedArchivesInOneFile) {
    for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_XZ,
                             ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_LZ4}) {
        EXPECT_EQ(read_initramfs(make_archive(ARCHIVE_FILTER_NONE, {"kernel/ucode"}) +
                                     make_archive(filter, {"./usr/bin/sh", "etc/x"}),
                                 "two.img")
                      .paths,
                  (std::vector<std::string>{"/etc/x", "/kernel/ucode", "/usr/bin/sh"}))
            << filter;
    }
}

TEST_F(Initramfs, ListsDracutsModules) {
    const std::string text = "systemd\nbase\n";
    const std::string name("usr/lib/dracut/modules.txt\0", 27);
    const auto padding = [](std::size_t size) { return std::string((4 - size % 4) % 4, '\0'); };
    const std::string file = "070701" + std::string(8UL * 6, '0') +
                             fmt::format("{:08x}", text.size()) + std::string(8UL * 4, '0') +
                             fmt::format("{:08x}", name.size()) + std::string(8, '0') + name +
                             padding(110 + name.size()) + text + padding(text.size());
    const std::string image = file + make_archive(ARCHIVE_FILTER_NONE, {"b"});
    EXPECT_EQ(read_initramfs(image, "x.img").modules,
              (std::vector<std::string>{"base", "systemd"}));
    EXPECT_EQ(read_initramfs(compressed(image), "x.img").paths,
              (std::vector<std::string>{"/b", "/usr/lib/dracut/modules.txt"}));
    EXPECT_EQ(read_initramfs(make_archive(ARCHIVE_FILTER_NONE, {"b"}), "x.img").modules,
              std::vector<std::string>());
}

TEST_F(Initramfs, CutShortArchiveIsAnError) {
    EXPECT_NE(refusal("0707010000").find("cut short"), std::string::npos);
    const std::string whole = make_archive(ARCHIVE_FILTER_GZIP, {"./usr/bin/sh", "etc/x"});
    EXPECT_TRUE(refusal(whole.substr(0, whole.size() / 2)).starts_with("x.img: not a readable"));
}

TEST_F(Initramfs, WhatUnpacksToTooMuchIsAnError) {
    // The size is what the header says; the archive has none of it.
    const std::string huge = "070701" + std::string(8UL * 6, '0') + "ffffffff" +
                             std::string(8UL * 4, '0') + "00000002" + std::string(8, '0') +
                             std::string("a\0", 2);
    EXPECT_EQ(refusal(compressed(huge)),
              "x.img: not a readable initramfs: it unpacks to more than 4 GiB|");
    EXPECT_NE(refusal(make_archive(ARCHIVE_FILTER_ZSTD, {std::string(5000, 'a')})).find("4096"),
              std::string::npos);
    // Compressed twice: the inner one is not looked into.
    EXPECT_NE(refusal(compressed(make_archive(ARCHIVE_FILTER_GZIP, {"a"}))), "");
    EXPECT_NE(refusal("nothing of the kind").find("neither a cpio archive"), std::string::npos);
}

TEST_F(Initramfs, ANameOf4GiBIsNotAllocated) {
    // The name is what a header says, inside compressed data that have none of it.
    const std::string huge = "070701" + std::string(8UL * 11, '0') + "fffffff8" +
                             std::string(8, '0') + std::string("a\0", 2);
    const std::string refused =
        "x.img: not a readable initramfs: it has more than 1000000 paths, or one of more than 4096 "
        "bytes|";
    EXPECT_EQ(refusal(huge), refused);
    EXPECT_EQ(refusal(compressed(huge)), refused);
}

TEST_F(Initramfs, ListsAllArchivesInCompressedData) {
    // As the kernel unpacks them, with zeros between them.
    const std::string two =
        make_archive(ARCHIVE_FILTER_NONE, {"a"}) + make_archive(ARCHIVE_FILTER_NONE, {"b"});
    EXPECT_EQ(read_initramfs(compressed(two), "two.img").paths,
              (std::vector<std::string>{"/a", "/b"}));
    EXPECT_EQ(refusal(compressed(two + "junk")),
              "x.img: not a readable initramfs: cut short inside a cpio archive|");
}

TEST_F(Initramfs, ContentIsPassedOver) {
    for (const std::size_t size : {1U, 2U, 3U, 4U, 70000U}) {
        const std::string content(size, '\1');
        const std::string padding((4 - size % 4) % 4, '\0');
        const std::string first = "070701" + std::string(8UL * 6, '0') +
                                  fmt::format("{:08x}", size) + std::string(8UL * 4, '0') +
                                  "00000002" + std::string(8, '0') + std::string("a\0", 2) +
                                  content + padding;
        const std::string both = first + make_archive(ARCHIVE_FILTER_NONE, {"b"});
        EXPECT_EQ(read_initramfs(both, "x.img").paths, (std::vector<std::string>{"/a", "/b"}))
            << size;
        EXPECT_EQ(read_initramfs(compressed(both), "x.img").paths,
                  (std::vector<std::string>{"/a", "/b"}))
            << size;
        EXPECT_EQ(refusal(compressed(first.substr(0, first.size() - padding.size() - 1))),
                  "x.img: not a readable initramfs: cut short inside a cpio archive|")
            << size;
    }
}

/// With a dracut of the image that does what it likes.
class HostileDracut : public TreeTest {
protected:
    [[nodiscard]] std::string failure_of(const std::string& script) {
        std::string said = accepted_of(script);
        EXPECT_EQ(std::distance(fs::directory_iterator(ctx.cache / "initramfs"), {}), 0);
        return said;
    }
    /// Empty if the initramfs is taken.
    [[nodiscard]] std::string accepted_of(const std::string& script) {
        host_file("canary", "SECRET");
        fs::remove_all(scratch / "root");
        const fs::path root = make_small_root(scratch);
        add_program(root, "/usr/bin/dracut", script);
        add_all_from_disk(ctx, tree, root);
        ToolRoot tools(ctx, tree, {}, boot_tools(ctx, tree));
        std::string said =
            error_of([&] { static_cast<void>(build_initramfs(ctx, blueprint, tree, tools)); });
        EXPECT_EQ(read_file(scratch / "canary"), "SECRET");
        return said;
    }
    Blueprint blueprint;
};

TEST_F(HostileDracut, LeavesALinkOrAFifoOrAHugeFile) {
    const std::string refused = "/initramfs.img of the image: not a regular file|";
    EXPECT_EQ(
        failure_of("ln -s " + (scratch / "canary").string() + " /run/edgegpu-out/initramfs.img"),
        refused);
    EXPECT_EQ(failure_of("mkfifo /run/edgegpu-out/initramfs.img"), refused);
    EXPECT_EQ(failure_of("mkdir /run/edgegpu-out/initramfs.img"), refused);
    EXPECT_NE(failure_of("truncate -s 8G /run/edgegpu-out/initramfs.img").find("exceed the limit"),
              std::string::npos);
}

TEST_F(HostileDracut, IsToldNotToCompress) {
    // Which of two errors there is says how it was called.
    const std::string script =
        "case \" $* \" in *\" --no-compress \"*) case \" $* \" in *\" --compress \"*) ;; *) "
        "truncate -s "
        "8G /run/edgegpu-out/initramfs.img ;; esac ;; *) mkfifo /run/edgegpu-out/initramfs.img ;; "
        "esac";
    EXPECT_NE(failure_of(script).find("not a regular file"), std::string::npos);
    blueprint.initramfs_compression = InitramfsCompression::none;
    EXPECT_NE(failure_of(script).find("exceed the limit"), std::string::npos);
}

TEST_F(Initramfs, EveryImageWithDracutGetsTheBootLink) {
    add_boot_link(ctx, tree);
    EXPECT_TRUE(entries_below(tree.entries, "/usr/lib/dracut").empty());
    file("/usr/bin/dracut", "", 0755);
    add_boot_link(ctx, tree);
    const std::string module = boot_link_module;
    EXPECT_EQ(find_entry(tree, module + "/module-setup.sh")->mode, 0755U);
    EXPECT_EQ(find_entry(tree, module + "/boot-link")->mode, 0755U);
    // Installed under this name, which the unit starts and check_contents looks for.
    EXPECT_NE(read_entry(tree, module + "/module-setup.sh").find(boot_link_program),
              std::string::npos);
    EXPECT_NE(read_entry(tree, module + "/edgegpu-boot-link.service")
                  .find(std::string("ExecStart=") + boot_link_program + "\n"),
              std::string::npos);
}

/// A shell command that writes an archive of these paths where dracut is to write its own.
std::string writes_archive(const std::vector<std::string>& paths) {
    std::string command = "printf '";
    for (const char byte : make_archive(ARCHIVE_FILTER_NONE, paths)) {
        command += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    }
    return command + "' >/run/edgegpu-out/initramfs.img";
}

TEST_F(HostileDracut, LeavesOutTheBootLink) {
    const std::vector<std::string> service{"usr/lib/ostree/ostree-prepare-root",
                                           "usr/lib/systemd/system/ostree-prepare-root.service"};
    file("/usr/bin/dracut", "", 0755);
    add_boot_link(ctx, tree);
    const std::string refused = failure_of(writes_archive(service));
    EXPECT_NE(refused.find("without /usr/libexec/edgegpu-boot-link"), std::string::npos) << refused;
    // Where OSTree has no unit, there is nothing that it could come before.
    EXPECT_EQ(accepted_of(writes_archive({service[0]})), "");
    std::vector<std::string> whole = service;
    whole.emplace_back("usr/libexec/edgegpu-boot-link");
    EXPECT_EQ(accepted_of("case \" $* \" in *\" --add edgegpu-boot-link \"*) " +
                          writes_archive(whole) + ";; esac"),
              "");
}

}  // namespace
}  // namespace edgegpu::test
