#include <array>
#include <map>

#include <gtest/gtest.h>
#include <zlib.h>

#include "compose/rpmdb.hpp"
#include "compose/rpmdb_process.hpp"
#include "compose/stable_database.hpp"
#include "compose_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeFixture;
using test::error_message;

class BerkeleyDatabase : public ::testing::Test {
protected:
    /// Headers of many packages: enough for pages that are split, overflow and are used again.
    void SetUp() override {
        std::string files = "%install\nmkdir -p %{buildroot}/usr/share/app\n";
        for (int i = 0; i < 60; ++i) {
            files += "echo " + std::to_string(i) + " > %{buildroot}/usr/share/app/file" +
                     std::to_string(i * i) + "\n";
        }
        const PackageFile app = fixture_.build("app", files + "%files\n/usr/share/app\n");
        const PackageFile small = fixture_.build("small", "%files\n", "Provides: one, two\n");
        const auto packages = import_packages(fixture_.context, {app, small});
        fs::create_directories(directory() / "sqlite");
        const PackageDatabase written =
            write_rpmdb(fixture_.context, packages, directory() / "sqlite");
        const std::string headers = read_file(written.directory / headers_name);
        std::string many;
        for (int i = 0; i < 40; ++i) {
            many += headers;
        }
        write_file(directory() / "headers", many);
    }

    /// What EL 8's rpmdb makes of them (tests/stand_in/rpmdb.cpp); memory that it allocates has
    /// `fill` in it.
    std::map<std::string, std::string> imported(const std::string& name, int fill) {
        const fs::path place = directory() / name;
        fs::create_directories(place);
        test::run({"sh", "-c",
                   "MALLOC_PERTURB_=" + std::to_string(fill) + " " EDGEGPU_RPMDB " --dbpath " +
                       place.string() + " --importdb <" + (directory() / "headers").string()});
        std::map<std::string, std::string> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
            const std::string file = entry.path().filename().string();
            if (!file.starts_with('.') && !file.starts_with("__db.")) {
                files[file] = read_file(entry.path());
            }
        }
        return files;
    }
    [[nodiscard]] const fs::path& directory() const { return fixture_.directory.path(); }

    ComposeFixture fixture_;
};

TEST_F(BerkeleyDatabase, IsTheSameForTheSamePackages) {
    const auto one = imported("one", 17);
    const auto two = imported("two", 170);
    ASSERT_EQ(one.size(), 19U);
    fs::create_directories(directory() / "stable");
    std::map<std::string, std::string> ids;
    for (const auto& [name, content] : one) {
        EXPECT_NE(content, two.at(name)) << name << " is the same anyway: nothing is tested";
        const std::string stable = stable_database_file(content, name, 1);
        EXPECT_EQ(stable, stable_database_file(two.at(name), name, 2)) << name;
        EXPECT_EQ(stable, stable_database_file(stable, name, 1)) << name;
        EXPECT_TRUE(ids.emplace(stable.substr(52, 20), name).second) << "two files with one id";
        write_file(directory() / "stable" / name, stable);
    }
    // Nothing is lost: neither for the library that wrote it, nor for rpm.
    test::run({EDGEGPU_RPMDB, "--dbpath", (directory() / "stable").string(), "--verifydb"});
    const std::string rpm = "rpm --dbpath " + (directory() / "stable").string() + " -q";
    test::run({"sh", "-c",
               "test \"$(" + rpm +
                   "a | sort | uniq -c | tr -s ' ' | tr '\\n' ,)\" = "
                   "' 40 app-1-1.x86_64, 40 small-1-1.x86_64,'"});
    test::run({"sh", "-c", rpm + " --whatprovides two | grep -qx small-1-1.x86_64"});
    test::run({"sh", "-c", rpm + "f /usr/share/app/file3481 | grep -qx app-1-1.x86_64"});
}

TEST_F(BerkeleyDatabase, DamagedOnesAreRefused) {
    const auto files = imported("one", 17);
    const std::string& name = files.at("Name");
    const auto refused = [](std::string content) {
        return error_message([&] { (void)stable_database_file(std::move(content), "Name", 1); });
    };
    const std::string damaged =
        "Name of the image's package database is damaged, or of an unknown form";
    EXPECT_EQ(refused(name.substr(0, name.size() - 1)), damaged);
    std::string changed = name;
    changed.at(24) = 1;  // encrypted
    EXPECT_EQ(refused(changed), damaged);
    changed = name;
    changed.at(26) = 1;  // with checksums
    EXPECT_EQ(refused(changed), damaged);
    changed = name;
    changed.at(4096 + 20) = '\xff';  // more items than fit
    changed.at(4096 + 21) = '\xff';
    EXPECT_EQ(refused(changed), damaged);
    EXPECT_EQ(refused(name), "");
}

/// An ndb file of rpm with one package, written at `time`.
std::string ndb_file(std::uint32_t time, std::string_view header) {
    const auto number = [](std::uint32_t value) {
        std::string bytes;
        for (int i = 0; i < 4; ++i) {
            bytes += static_cast<char>(value >> (8 * i));
        }
        return bytes;
    };
    std::string blob = "BlbS" + number(1) + number(time) +
                       number(static_cast<std::uint32_t>(header.size())) + std::string(header);
    blob.resize((blob.size() + 12 + 15) / 16 * 16 - 12);
    const auto sum =
        ::adler32(1, reinterpret_cast<const Bytef*>(blob.data()), static_cast<uInt>(blob.size()));
    blob += number(static_cast<std::uint32_t>(sum)) +
            number(static_cast<std::uint32_t>(header.size())) + "BlbE";
    std::string file = "RpmP" + number(0) + number(1) + number(1) + number(2);
    file.resize(32);
    file += "Slot" + number(1) + number(256) + number(static_cast<std::uint32_t>(blob.size() / 16));
    while (file.size() < 4096) {
        file += "Slot" + number(0) + number(0) + number(0);
    }
    return file + blob;
}

TEST(StableDatabase, OfNdbHasTheGivenTime) {
    const std::string wanted = ndb_file(1'700'000'000, "a package's header");
    EXPECT_EQ(
        stable_database_file(ndb_file(12345, "a package's header"), "Packages.db", 1'700'000'000),
        wanted);
    EXPECT_NE(error_message(
                  [&] { (void)stable_database_file(wanted.substr(0, 4100), "Packages.db", 1); }),
              "");
}

TEST(StableDatabase, OfOtherFormatsIsAsItWas) {
    EXPECT_EQ(stable_database_file("", "x", 1), "");
    EXPECT_EQ(stable_database_file(std::string(8192, 'x'), "x", 1), std::string(8192, 'x'));
}

}  // namespace
}  // namespace edgegpu
