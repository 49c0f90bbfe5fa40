#include "commit/object.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "repository/ostree_object.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

VariantHandle variant_of(const Entry& entry) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(ayay)"));
    const auto add = [&](const char* name, const std::string& value) {
        g_variant_builder_add(
            &builder, "(@ay@ay)", g_variant_new_bytestring(name),
            g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, value.data(), value.size(), 1));
    };
    if (!entry.capabilities.empty()) {
        add("security.capability", entry.capabilities);
    }
    if (!entry.label.empty()) {
        add("security.selinux", entry.label + '\0');
    }
    return own(g_variant_builder_end(&builder));
}

// libostree's own answer for the same file.
std::string ostree_checksum(const Entry& entry, const std::string& content) {
    const Handle<GFileInfo, g_object_unref> info(g_file_info_new());
    const bool link = entry.type == EntryType::symlink;
    g_file_info_set_file_type(info.get(), link ? G_FILE_TYPE_SYMBOLIC_LINK : G_FILE_TYPE_REGULAR);
    g_file_info_set_attribute_uint32(info.get(), "unix::uid", entry.uid);
    g_file_info_set_attribute_uint32(info.get(), "unix::gid", entry.gid);
    g_file_info_set_attribute_uint32(info.get(), "unix::mode",
                                     link ? S_IFLNK | 0777U : S_IFREG | entry.mode);
    Handle<GInputStream, g_object_unref> input;
    if (link) {
        g_file_info_set_symlink_target(info.get(), entry.target.c_str());
    } else {
        g_file_info_set_size(info.get(), static_cast<goffset>(content.size()));
        input.reset(g_memory_input_stream_new_from_data(
            content.data(), static_cast<gssize>(content.size()), nullptr));
    }
    const VariantHandle attributes = variant_of(entry);
    guchar* bytes = nullptr;
    GlibFailure failure;
    if (ostree_checksum_file_from_input(info.get(), attributes.get(), input.get(),
                                        OSTREE_OBJECT_TYPE_FILE, &bytes, nullptr,
                                        failure.out()) == FALSE) {
        throw failure.to_error("test", "checksum");
    }
    const TextHandle hex(ostree_checksum_from_bytes(bytes));
    g_free(bytes);
    return hex.get();
}

TEST(Object, FileChecksumIsLibostrees) {
    CommitFixture fixture;
    for (const std::string& content : {std::string(), std::string("x"), std::string(300000, 'y')}) {
        Entry entry = fixture.add_file("/usr/lib/f", content, 04755);
        entry.uid = 12;
        entry.gid = 3456789;
        EXPECT_EQ(content_checksum(entry, object_header(entry, "/f")),
                  ostree_checksum(entry, content));
        entry.label = "system_u:object_r:bin_t:s0";
        entry.capabilities =
            std::string("\x01\x00\x00\x02\x00\x20\x00\x00", 8) + std::string(12, 0);
        EXPECT_EQ(content_checksum(entry, object_header(entry, "/f")),
                  ostree_checksum(entry, content));
    }
}

TEST(Object, LinkChecksumIsLibostrees) {
    Entry entry;
    entry.type = EntryType::symlink;
    entry.target = "../lib/grün";
    entry.label = "system_u:object_r:lib_t:s0";
    EXPECT_EQ(content_checksum(entry, object_header(entry, "/l")), ostree_checksum(entry, ""));
}

TEST(Object, DirmetaIsLibostrees) {
    Entry entry;
    entry.type = EntryType::directory;
    entry.mode = 01777;
    entry.uid = 5;
    entry.label = "system_u:object_r:tmp_t:s0";
    const Handle<GFileInfo, g_object_unref> info(g_file_info_new());
    g_file_info_set_file_type(info.get(), G_FILE_TYPE_DIRECTORY);
    g_file_info_set_attribute_uint32(info.get(), "unix::uid", 5);
    g_file_info_set_attribute_uint32(info.get(), "unix::gid", 0);
    g_file_info_set_attribute_uint32(info.get(), "unix::mode", S_IFDIR | 01777U);
    const VariantHandle attributes = variant_of(entry);
    const VariantHandle expected =
        own(ostree_create_directory_metadata(info.get(), attributes.get()));
    EXPECT_EQ(dirmeta_object(entry),
              std::string(static_cast<const char*>(g_variant_get_data(expected.get())),
                          g_variant_get_size(expected.get())));
}

TEST(Object, DirtreeIsSortedAndValid) {
    const std::string checksum = sha256_hex("x");
    DirectoryContent content;
    content.files = {{"b", checksum}, {"a.b", checksum}, {"a", checksum}};
    content.directories = {{"z", checksum, checksum}, {"c", checksum, checksum}};
    const std::string bytes = dirtree_object(content, "/");
    const VariantHandle tree = own(g_variant_new_from_data(
        OSTREE_TREE_GVARIANT_FORMAT, bytes.data(), bytes.size(), FALSE, nullptr, nullptr));
    GlibFailure failure;
    EXPECT_TRUE(ostree_validate_structureof_dirtree(tree.get(), failure.out()));
    EXPECT_TRUE(g_variant_is_normal_form(tree.get()));
    const TextHandle text(g_variant_print(tree.get(), FALSE));
    const std::string printed = text.get();
    EXPECT_LT(printed.find("'a',"), printed.find("'a.b',"));
    EXPECT_LT(printed.find("'a.b',"), printed.find("'b',"));
    EXPECT_LT(printed.find("'c',"), printed.find("'z',"));
}

TEST(Object, NamesThatOstreeCannotCarryAreErrors) {
    const std::string checksum = sha256_hex("x");
    for (const std::string name : {"..", ".", "", "a/b", "\xff\xfe"}) {
        DirectoryContent content;
        content.files = {{name, checksum}};
        EXPECT_THROW((void)dirtree_object(content, "/usr"), Error) << name;
    }
    Entry link;
    link.type = EntryType::symlink;
    link.target = "\xff";
    EXPECT_THROW((void)object_header(link, "/l"), Error);
}

TEST(Object, ContentOfAnotherSizeIsAnError) {
    CommitFixture fixture;
    Entry entry = fixture.add_file("/usr/lib/f", "four");
    entry.size = 5;
    EXPECT_THROW((void)content_checksum(entry, object_header(entry, "/f")), Error);
}

TEST(Object, ChecksumBytes) {
    EXPECT_EQ(checksum_bytes(std::string(62, '0') + "ff"), std::string(31, '\0') + '\xff');
    EXPECT_THROW((void)checksum_bytes("00"), Error);
    EXPECT_THROW((void)checksum_bytes(std::string(64, 'G')), Error);
}

}  // namespace
}  // namespace edgegpu
