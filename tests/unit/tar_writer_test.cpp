#include "support/files/tar_writer.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <archive.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

/// Type, path, target, content, mode, uid, gid, time.
using TarMember = std::tuple<char, std::string, std::string, std::string, unsigned, la_int64_t,
                             la_int64_t, time_t>;

std::vector<TarMember> members_of(const std::string& bytes) {
    const Handle<archive, archive_read_free> reader(archive_read_new());
    archive_read_support_format_tar(reader.get());
    EXPECT_EQ(archive_read_open_memory(reader.get(), bytes.data(), bytes.size()), ARCHIVE_OK);
    std::vector<TarMember> members;
    archive_entry* entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        std::string content(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
        EXPECT_EQ(archive_read_data(reader.get(), content.data(), content.size()),
                  static_cast<la_ssize_t>(content.size()));
        const char* hard = archive_entry_hardlink(entry);
        const char* soft = archive_entry_symlink(entry);
        const char type = hard != nullptr                             ? 'h'
                          : soft != nullptr                           ? 'l'
                          : archive_entry_filetype(entry) == AE_IFDIR ? 'd'
                                                                      : '-';
        members.emplace_back(type, archive_entry_pathname(entry),
                             hard != nullptr   ? hard
                             : soft != nullptr ? soft
                                               : "",
                             content, archive_entry_perm(entry), archive_entry_uid(entry),
                             archive_entry_gid(entry), archive_entry_mtime(entry));
    }
    EXPECT_STREQ(archive_error_string(reader.get()), nullptr);
    return members;
}

TEST(TarWriter, KeepsWhateverAFileSystemHas) {
    std::string bytes;
    TarWriter tar([&](std::string_view piece) { bytes += piece; });
    const std::string over_100 = "usr/" + std::string(120, 'a');
    const std::string over_256 = "usr/" + std::string(200, 'b') + '/' + std::string(200, 'c');
    const std::string unicode = "usr/h\xc3\xa9\xe6\x97\xa5 \xf0\x9f\x90\xa7";
    const std::string not_unicode = "usr/\xff\x01";
    tar.directory("usr", {0555, 0, 0});
    tar.file(over_100, {04755, 4'000'000'000, 3'000'000}, "one");
    tar.file(over_256, {0, 65534, 65534}, "");
    tar.file(unicode, {0644, 0, 0}, "two");
    tar.file(not_unicode, {0644, 0, 0}, std::string(100'000, 'x'));
    tar.symlink("bin", {0777, 0, 0}, "usr//bin");
    tar.symlink("long", {0777, 0, 0}, over_256);
    tar.hard_link("hard", {02640, 7, 8}, over_256);
    tar.finish();
    const std::vector<TarMember> expected{
        {'d', "usr/", "", "", 0555, 0, 0, 0},
        {'-', over_100, "", "one", 04755, 4'000'000'000, 3'000'000, 0},
        {'-', over_256, "", "", 0, 65534, 65534, 0},
        {'-', unicode, "", "two", 0644, 0, 0, 0},
        {'-', not_unicode, "", std::string(100'000, 'x'), 0644, 0, 0, 0},
        {'l', "bin", "usr//bin", "", 0777, 0, 0, 0},
        {'l', "long", over_256, "", 0777, 0, 0, 0},
        {'h', "hard", over_256, "", 02640, 7, 8, 0},
    };
    EXPECT_EQ(members_of(bytes), expected);
    // Importers that know no pax headers, where large numbers and names could be as well.
    EXPECT_EQ(bytes.find("path="), std::string::npos);
    EXPECT_EQ(bytes.substr(257, 7), "ustar  ");
}

TEST(TarWriter, KeepsExtendedAttributesAndTimesInTheFormatThatHasThem) {
    std::string bytes;
    TarWriter tar([&](std::string_view piece) { bytes += piece; }, TarFormat::pax);
    const std::string over_256 = "usr/" + std::string(200, 'b') + '/' + std::string(200, 'c');
    const std::string unicode = "usr/h\xc3\xa9\xe6\x97\xa5 \xf0\x9f\x90\xa7";
    const std::string not_unicode = "usr/\xff\x01";
    const std::string capability("\x01\0\0\x02\0\x20\0\n", 8);
    tar.directory("usr", {0555, 0, 0});
    tar.file("usr/ping", {0755, 4'000'000'000, 0, 1'234'567, {{"security.capability", capability}}},
             "one");
    tar.file(over_256, {0644, 0, 0}, "");
    tar.file(unicode, {0644, 0, 0}, "two");
    tar.file(not_unicode, {0644, 0, 0}, "three");
    tar.symlink("bin", {0777, 0, 0}, not_unicode);
    tar.finish();
    const std::vector<TarMember> expected{
        {'d', "usr/", "", "", 0555, 0, 0, 0},
        {'-', "usr/ping", "", "one", 0755, 4'000'000'000, 0, 1'234'567},
        {'-', over_256, "", "", 0644, 0, 0, 0},
        {'-', unicode, "", "two", 0644, 0, 0, 0},
        {'-', not_unicode, "", "three", 0644, 0, 0, 0},
        {'l', "bin", not_unicode, "", 0777, 0, 0, 0},
    };
    EXPECT_EQ(members_of(bytes), expected);
    // What container engines look for; a line of a pax header has its length first.
    EXPECT_NE(bytes.find("SCHILY.xattr.security.capability=" + capability + "\n"),
              std::string::npos);
}

std::string problem_with(const std::function<void(TarWriter&)>& use) {
    TarWriter tar([](std::string_view) {});
    try {
        use(tar);
    } catch (const Error& caught) {
        return caught.message();
    }
    return "no error";
}

TEST(TarWriter, AFileHasTheSizeThatItsHeaderSays) {
    EXPECT_EQ(problem_with([](TarWriter& tar) {
                  tar.begin_file("a", {}, 3);
                  tar.data("ab");
                  tar.finish();
              }),
              "tar archive: a has 1 bytes less than its header says");
    EXPECT_EQ(problem_with([](TarWriter& tar) {
                  tar.begin_file("a", {}, 3);
                  tar.data("ab");
                  tar.directory("b", {});
              }),
              "tar archive: a has 1 bytes less than its header says");
    EXPECT_EQ(problem_with([](TarWriter& tar) {
                  tar.begin_file("a", {}, 3);
                  tar.data("abcd");
              }),
              "tar archive: a has more bytes than its header says");
    EXPECT_EQ(problem_with([](TarWriter& tar) { tar.begin_file("a", {}, UINT64_MAX); }),
              "tar archive: a is too large");
}

TEST(TarWriter, FailsAsItsSinkDoes) {
    std::size_t calls = 0;
    const auto write = [&] {
        TarWriter tar([&](std::string_view) {
            ++calls;
            throw Error("the disk is full");
        });
        tar.file("a", {}, std::string(300'000, 'a'));
        tar.finish();
    };
    EXPECT_THROW(write(), Error);
    EXPECT_EQ(calls, 1U);
}

}  // namespace
}  // namespace edgegpu
