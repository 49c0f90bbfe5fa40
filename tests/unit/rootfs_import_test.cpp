#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "compose_fixture.hpp"
#include "rootfs/manifest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeFixture;
using test::error_message;

const ImportedFile* find(const ImportedPackage& package, const std::string& path) {
    for (const ImportedFile& file : package.files) {
        if (file.path == path) {
            return &file;
        }
    }
    return nullptr;
}

constexpr const char* content_spec = R"(%install
mkdir -p %{buildroot}/usr/bin %{buildroot}/usr/evildir
echo tool > %{buildroot}/usr/bin/tool
ln %{buildroot}/usr/bin/tool %{buildroot}/usr/bin/twin
echo secret > %{buildroot}/usr/evildir/secret
ln -s tool %{buildroot}/usr/bin/link
head -c 300000 /dev/urandom > %{buildroot}/usr/bin/zzz
%files
%attr(4755,root,root) /usr/bin/tool
%attr(4755,root,root) /usr/bin/twin
/usr/bin/link
/usr/bin/zzz
%dir %attr(0700,root,daemon) /usr/evildir
%attr(0640,root,daemon) /usr/evildir/secret
%ghost /usr/bin/ghost
)";

TEST(Import, KeepsTypesModesOwnersLinksAndContent) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    const ImportedPackage package = import_package(fixture.context, rpm);
    const ImportedFile* tool = find(package, "/usr/bin/tool");
    ASSERT_NE(tool, nullptr);
    EXPECT_EQ(tool->entry.mode, 04755U);
    EXPECT_EQ(tool->entry.digest, sha256_hex("tool\n"));
    EXPECT_EQ(read_file(tool->entry.content), "tool\n");
    struct stat status {};
    ASSERT_EQ(::stat(tool->entry.content.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 04755U);
    EXPECT_EQ(find(package, "/usr/bin/twin")->entry.content, tool->entry.content);
    EXPECT_EQ(find(package, "/usr/bin/link")->entry.target, "tool");
    EXPECT_TRUE(find(package, "/usr/bin/ghost")->is_ghost());
    EXPECT_EQ(find(package, "/usr/evildir/secret")->group, "daemon");
    EXPECT_EQ(find(package, "/usr/evildir")->entry.mode, 0700U);
}

TEST(Import, SecondTimeComesFromTheCache) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    const ImportedPackage first = import_package(fixture.context, rpm);
    fs::remove(rpm.path);
    const ImportedPackage second = import_package(fixture.context, rpm);
    EXPECT_EQ(format_manifest(first.files, fixture.context.cache),
              format_manifest(second.files, fixture.context.cache));
}

TEST(Import, DamagedCacheIsMadeAgain) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    const fs::path content =
        find(import_package(fixture.context, rpm), "/usr/bin/zzz")->entry.content;
    fs::resize_file(content, 0);
    EXPECT_EQ(
        fs::file_size(find(import_package(fixture.context, rpm), "/usr/bin/zzz")->entry.content),
        300000U);
}

TEST(Import, TruncatedPayloadNamesPackageAndLeavesNothing) {
    ComposeFixture fixture;
    PackageFile rpm = fixture.build("tool", content_spec);
    fs::resize_file(rpm.path, fs::file_size(rpm.path) - 200000);
    rpm = fixture.package("tool");
    const std::string message =
        error_message([&] { static_cast<void>(import_packages(fixture.context, {rpm})); });
    EXPECT_TRUE(message.starts_with("package tool-1-1.x86_64: payload is truncated")) << message;
    EXPECT_TRUE(fs::is_empty(fixture.context.cache / "imports"));
}

/// Replaces bytes in the header of an RPM, which is not compressed.
void patch(const fs::path& rpm, const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = read_file(rpm);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, from.size(), to);
    write_file(rpm, bytes);
}

TEST(Import, MoreThanAPackageOfItsSizeUnpacksToIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool",
                                          "%install\nmkdir -p %{buildroot}/usr\n"
                                          "truncate -s 200M %{buildroot}/usr/zeros\n"
                                          "%files\n/usr/zeros\n");
    ASSERT_LT(rpm.content->size(), 400'000U);
    const std::string message =
        error_message([&] { static_cast<void>(import_packages(fixture.context, {rpm})); });
    EXPECT_TRUE(
        message.starts_with("package tool-1-1.x86_64: its files have 200 MiB, which is "
                            "too much for "))
        << message;
    EXPECT_TRUE(fs::is_empty(fixture.context.cache / "imports"));
}

TEST(Import, HardLinksAreOnTheDiskOnce) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool",
                                          "%install\nmkdir -p %{buildroot}/usr\n"
                                          "truncate -s 20M %{buildroot}/usr/zeros\n"
                                          "for i in 1 2 3 4 5; do\n"
                                          "ln %{buildroot}/usr/zeros %{buildroot}/usr/$i\ndone\n"
                                          "%files\n/usr/*\n");
    const ImportedPackage package = import_package(fixture.context, rpm);
    EXPECT_EQ(find(package, "/usr/5")->entry.content, find(package, "/usr/zeros")->entry.content);
}

/// An archive (newc) that has the file `path` with `size` zeros `times` times.
std::string archive_that_repeats(const std::string& path, std::size_t size, int times) {
    const auto member = [](const std::string& name, unsigned mode, std::size_t content) {
        std::string text =
            fmt::format(
                "070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}"
                "{:08x}{:08x}",
                1, mode, 0, 0, 1, 0, content, 0, 0, 0, 0, name.size() + 1, 0) +
            name;
        text.resize((text.size() + 4) / 4 * 4);
        return text;
    };
    std::string archive;
    for (int i = 0; i < times; ++i) {
        archive += member("." + path, 0100644, size) + std::string(size, '\0');
    }
    return archive + member("TRAILER!!!", 0, 0);
}

TEST(Import, AnArchiveLargerThanItsFilesIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm =
        fixture.build("tool",
                      "%define _binary_payload w9.gzdio\n%install\nmkdir -p %{buildroot}/usr\n"
                      "truncate -s 1000000 %{buildroot}/usr/one\n%files\n/usr/one\n");
    const std::string bytes = read_file(rpm.path);
    const std::size_t payload = bytes.rfind("\x1f\x8b\x08");
    ASSERT_NE(payload, std::string::npos);
    const auto imported = [&](int times) {
        const fs::path archive = fixture.directory.path() / "archive";
        write_file(archive, archive_that_repeats("/usr/one", 1'000'000, times));
        test::run({"gzip", "-9", "-n", "-f", archive.string()});
        write_file(rpm.path, bytes.substr(0, payload) + read_file(archive.string() + ".gz"));
        return error_message([&] {
            static_cast<void>(import_packages(fixture.context, {fixture.package("tool")}));
        });
    };
    EXPECT_EQ(imported(1), "");
    fs::remove_all(fixture.context.cache / "imports");
    EXPECT_EQ(imported(50),
              "package tool-1-1.x86_64: its archive is larger than its files together, "
              "977 KiB");
    EXPECT_TRUE(fs::is_empty(fixture.context.cache / "imports"));
}

TEST(Import, ALinkThatIsLargerThanAPathIsRefused) {
    ComposeFixture fixture;
    const std::string target(251, 'x');
    const PackageFile rpm =
        fixture.build("tool", "%install\nmkdir -p %{buildroot}/usr\nln -s " + target +
                                  " %{buildroot}/usr/link\n%files\n/usr/link\n");
    // Its size in the header's list of files: librpm would allocate that much.
    std::string bytes = read_file(rpm.path);
    const std::string size("\0\0\0\xfb", 4);
    int patched = 0;
    for (std::size_t at = bytes.find(size); at != std::string::npos; at = bytes.find(size, at)) {
        bytes.replace(at, 4, "\xff\xff\xff\xf0");
        ++patched;
    }
    ASSERT_GT(patched, 0);
    write_file(rpm.path, bytes);
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(import_packages(fixture.context, {fixture.package("tool")}));
              }),
              "package tool-1-1.x86_64: the link /usr/link is longer than a path can be");
}

TEST(Import, AFullDiskIsAnErrorBeforeAnythingIsUnpacked) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool",
                                          "%install\nmkdir -p %{buildroot}/usr\n"
                                          "truncate -s 20M %{buildroot}/usr/zeros\n"
                                          "%files\n/usr/zeros\n");
    const fs::path cache = fixture.context.cache;
    ASSERT_EQ(::mount("edgegpu-test", cache.c_str(), "tmpfs", 0, "size=16m"), 0)
        << std::strerror(errno);
    const std::string message =
        error_message([&] { static_cast<void>(import_packages(fixture.context, {rpm})); });
    const bool nothing = fs::is_empty(cache / "imports");
    ASSERT_EQ(::umount(cache.c_str()), 0);
    EXPECT_EQ(message, fmt::format("package tool-1-1.x86_64 needs 20 MiB on the file system of {}, "
                                   "which has 16 MiB free",
                                   cache.string()));
    EXPECT_TRUE(nothing);
}

TEST(Import, PathThatLeavesTheRootIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    patch(rpm.path, "/usr/evildir/", "/../evildirs/");
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(import_package(fixture.context, fixture.package("tool")));
              }),
              "package tool-1-1.x86_64: /../evildirs/secret leaves the root (\"..\")");
}

TEST(Import, RelativePathIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    patch(rpm.path, "/usr/evildir/", "xusr/evildir/");
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(import_package(fixture.context, fixture.package("tool")));
              }),
              "package tool-1-1.x86_64: xusr/evildir/secret is not absolute");
}

TEST(Import, ContentThatDoesNotMatchItsDigestIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    std::string digest = sha256_hex("secret\n");
    std::string wrong = digest;
    wrong[0] = wrong[0] == '0' ? '1' : '0';
    patch(rpm.path, digest, wrong);
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(import_package(fixture.context, fixture.package("tool")));
              }),
              "package tool-1-1.x86_64: /usr/evildir/secret does not match the digest in its "
              "header");
}

TEST(Import, SomethingElseThanAnRpmIsRefused) {
    ComposeFixture fixture;
    const PackageFile rpm = fixture.build("tool", content_spec);
    write_file(rpm.path, "<html>404</html>");
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(import_package(fixture.context, fixture.package("tool")));
              }),
              "package tool-1-1.x86_64: not an RPM, or its header is damaged");
}

TEST(Import, PathsMustBeNormal) {
    for (const char* path : {"", "a", "/a//b", "/a/./b", "/a/../b", "/a/", "/.."}) {
        EXPECT_THROW(check_package_path("p", path), Error) << path;
    }
    EXPECT_NO_THROW(check_package_path("p", "/"));
    EXPECT_NO_THROW(check_package_path("p", "/usr/..a/b.."));
}

TEST(Manifest, DamageIsSeen) {
    ImportedFile file;
    file.path = "/a";
    std::string text = format_manifest({file}, "/cache");
    EXPECT_EQ(parse_manifest(text, "/cache").at(0).path, "/a");
    for (const std::size_t cut : {std::size_t{1}, std::size_t{30}, text.size()}) {
        EXPECT_THROW(static_cast<void>(parse_manifest(text.substr(0, text.size() - cut), "/cache")),
                     Error);
    }
    text[20] ^= 1;
    EXPECT_THROW(static_cast<void>(parse_manifest(text, "/cache")), Error);
}

}  // namespace
}  // namespace edgegpu
