#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "compose/rpmdb.hpp"
#include "compose_fixture.hpp"
#include "fetch/fetch.hpp"
#include "rootfs/import.hpp"
#include "support/files/checksum.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

std::string spec(const std::string& content) {
    return simple_spec("tool", "1", "1", "",
                       "%install\nmkdir -p %{buildroot}/usr/bin\necho " + content +
                           " > %{buildroot}/usr/bin/tool\n%files\n/usr/bin/tool\n");
}

/// A repository of this machine with one package, and another RPM of the same name and version.
class PackageContentTest : public testing::Test, protected ComposeFixture {
protected:
    static void SetUpTestSuite() {
        made_ = new TemporaryDirectory;
        build_rpm(made_->path() / "good", spec("good"));
        build_rpm(made_->path() / "evil", spec("evil"));
    }
    static void TearDownTestSuite() { delete made_; }

    PackageContentTest() {
        fs::create_directories(original().parent_path());
        fs::copy_file(rpm_of("good"), original());
        Repository repository;
        repository.id = "local";
        repository.baseurls = {"file://" + (directory.path() / "site").string()};
        repository.gpgcheck = false;
        blueprint.repositories.push_back(repository);
        ResolvedPackage package;
        package.nevra = {"tool", 0, "1", "1", "x86_64"};
        package.repository = "local";
        package.location = "Packages/tool.rpm";
        package.checksum = checksum_of_file(original(), ChecksumAlgorithm::sha256);
        package.size = fs::file_size(original());
        resolution.packages.push_back(package);
    }

    static fs::path rpm_of(const std::string& kind) {
        return made_->path() / kind / "Packages/tool-1-1.x86_64.rpm";
    }
    [[nodiscard]] fs::path original() const { return directory.path() / "site/Packages/tool.rpm"; }
    [[nodiscard]] fs::path cached() const {
        return context.cache / "packages" / (sha256_file(rpm_of("good")) + ".rpm");
    }
    PackageFiles fetch() {
        return fetch_packages(context, make_plan(resolution, blueprint.repositories)).image;
    }
    /// Another file under that name.
    void swap(const fs::path& path) const {
        fs::copy_file(rpm_of("evil"), directory.path() / "new");
        fs::rename(directory.path() / "new", path);
    }
    /// Other content in the same file, at a time that its state shows.
    static void overwrite(const fs::path& path) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::ofstream(path, std::ios::binary | std::ios::trunc) << read_file(rpm_of("evil"));
    }
    std::string tool_of(const PackageFiles& files) {
        const std::vector<ImportedPackage> imported = import_packages(context, files);
        for (const ImportedFile& file : imported.at(0).files) {
            if (file.path == "/usr/bin/tool") {
                return read_file(file.entry.content);
            }
        }
        return "no tool";
    }

    Blueprint blueprint;
    Resolution resolution;

private:
    static TemporaryDirectory* made_;
};

TemporaryDirectory* PackageContentTest::made_ = nullptr;

TEST_F(PackageContentTest, FileOfARepositoryThatIsSwappedAfterItWasVerified) {
    const PackageFiles files = fetch();
    EXPECT_EQ(files.at(0).path, cached());
    swap(original());
    EXPECT_EQ(tool_of(files), "good\n");
}

TEST_F(PackageContentTest, FileOfARepositoryThatIsOverwrittenAfterItWasVerified) {
    const PackageFiles files = fetch();
    overwrite(original());
    EXPECT_EQ(tool_of(files), "good\n");
    // What was verified lies in the cache: another build takes that.
    EXPECT_EQ(tool_of(fetch()), "good\n");
}

TEST_F(PackageContentTest, FileOfTheCacheThatIsSwappedAfterItWasVerified) {
    (void)fetch();
    const PackageFiles files = fetch();
    swap(cached());
    EXPECT_EQ(tool_of(files), "good\n");
    EXPECT_EQ(files.at(0).sha256, cached().stem());
}

TEST_F(PackageContentTest, FileOfTheCacheThatIsOverwrittenAfterItWasVerified) {
    const PackageFiles files = fetch();
    overwrite(cached());
    EXPECT_EQ(error_message([&] { (void)tool_of(files); }),
              original().string() + " changed after it was verified");
    EXPECT_FALSE(fs::exists(context.cache / "imports" / files.at(0).sha256));
}

TEST_F(PackageContentTest, ThePackageDatabaseIsMadeOfWhatWasVerified) {
    const PackageFiles files = fetch();
    const std::vector<ImportedPackage> imported = import_packages(context, files);
    write_file(directory.path() / "new", "no package");
    fs::rename(directory.path() / "new", cached());
    fs::create_directories(directory.path() / "rpmdb");
    const PackageDatabase database = write_rpmdb(context, imported, directory.path() / "rpmdb");
    EXPECT_TRUE(fs::exists(database.directory / database.files.at(0)));
}

TEST_F(PackageContentTest, WhatTheCacheLostTheRepositoryStillHas) {
    (void)fetch();
    write_file(cached(), "cut off");
    EXPECT_EQ(tool_of(fetch()), "good\n");
    EXPECT_EQ(sha256_file(cached()), sha256_file(rpm_of("good")));
    fs::remove_all(original().parent_path());
    context.offline = true;
    EXPECT_EQ(fetch().at(0).path, cached());
}

TEST_F(PackageContentTest, AFileThatIsNotThePromisedOneStaysOutside) {
    overwrite(original());
    EXPECT_EQ(error_message([&] { (void)fetch(); })
                  .find("package tool-1-1.x86_64: " + std::to_string(fs::file_size(original())) +
                        " bytes with SHA-256 "),
              0U);
    EXPECT_TRUE(fs::is_empty(context.cache / "packages"));
}

TEST_F(PackageContentTest, OnlyVerifiedPackagesAreImported) {
    PackageFiles files = fetch();
    files.at(0).content.reset();
    EXPECT_EQ(error_message([&] { (void)tool_of(files); }),
              "package tool-1-1.x86_64: it was not verified");
}

}  // namespace
}  // namespace edgegpu::test
