#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fetch/fetch.hpp"
#include "support/error.hpp"
#include "support/files/checksum.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A package that a repository promises by its SHA-512, and that a download has left in the cache.
class FetchChecksums : public testing::Test {
protected:
    FetchChecksums() : console_(Color::never, true) {
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        ctx_.jobs = 1;
        Repository repository;
        repository.id = "web";
        // Whatever asks it for a package fails.
        repository.baseurls = {"http://127.0.0.1:9/r"};
        repository.gpgcheck = false;
        repository.transfer.retries = 0;
        blueprint_.repositories.push_back(repository);
        ResolvedPackage package;
        package.nevra = {"app", 0, "1", "1", "x86_64"};
        package.repository = "web";
        package.location = "app.rpm";
        package.checksum = checksum_of(content_, ChecksumAlgorithm::sha512);
        package.size = content_.size();
        resolution_.packages.push_back(package);
        make_directories(packages());
        write_file(arrived(), content_);
    }

    [[nodiscard]] fs::path packages() const { return cache_.path() / "packages"; }
    [[nodiscard]] fs::path hint() const {
        return packages() / ("sha512-" + resolution_.packages[0].checksum.hex);
    }
    [[nodiscard]] fs::path arrived() const { return hint().string() + ".rpm"; }
    [[nodiscard]] fs::path kept() const { return packages() / (sha256_hex(content_) + ".rpm"); }
    PackageFile fetch() {
        return fetch_packages(ctx_, make_plan(resolution_, blueprint_.repositories)).image.at(0);
    }
    /// With --offline a package that is to be downloaded is an error.
    bool is_missing() {
        ctx_.offline = true;
        try {
            (void)fetch();
        } catch (const Error& problem) {
            EXPECT_NE(problem.message().find("is not in the cache"), std::string::npos)
                << problem.message();
            return true;
        }
        return false;
    }

    test::TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
    Resolution resolution_;
    const std::string content_ = rpm();

private:
    /// The package, made once.
    static const std::string& rpm() {
        static const std::string bytes = [] {
            const test::TemporaryDirectory work;
            test::build_rpm(work.path(), test::simple_spec("app", "1", "1"));
            return read_file(work.path() / "Packages/app-1-1.x86_64.rpm");
        }();
        return bytes;
    }
};

TEST_F(FetchChecksums, TheCacheIsAddressedBySha256) {
    const PackageFile file = fetch();
    EXPECT_EQ(file.path, kept());
    EXPECT_EQ(file.sha256, sha256_hex(content_));
    EXPECT_EQ(read_file(hint()), sha256_hex(content_));
    EXPECT_FALSE(fs::exists(arrived()));
    EXPECT_EQ(fetch().path, kept());
    EXPECT_FALSE(is_missing());
}

TEST_F(FetchChecksums, AFileUrlIsDecodedAndNeedsNoNetwork) {
    fs::remove(arrived());
    const fs::path repository = cache_.path() / "my repo";
    make_directories(repository);
    write_file(repository / "app.rpm", content_);
    blueprint_.repositories[0].baseurls = {"file://" + cache_.path().string() + "/my%20repo"};
    EXPECT_FALSE(is_missing());
    EXPECT_TRUE(fs::exists(kept()));
}

TEST_F(FetchChecksums, AHintToAnotherPackageIsNotBelieved) {
    (void)fetch();
    const std::string other = "another package";
    write_file(packages() / (sha256_hex(other) + ".rpm"), other);
    write_file(hint(), sha256_hex(other));
    EXPECT_TRUE(is_missing());
    EXPECT_FALSE(fs::exists(hint()));
}

TEST_F(FetchChecksums, ADamagedHintIsNone) {
    (void)fetch();
    for (const char* text : {"", "../../etc/passwd", "0123"}) {
        write_file(hint(), text);
        EXPECT_TRUE(is_missing()) << text;
    }
}

TEST_F(FetchChecksums, ADamagedPackageIsNotTaken) {
    (void)fetch();
    write_file(kept(), "damaged");
    EXPECT_TRUE(is_missing());
}

TEST_F(FetchChecksums, WhatArrivedIsChecked) {
    write_file(arrived(), "cut off");
    try {
        (void)fetch();
        FAIL() << "taken";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "package app-1-1.x86_64: 7 bytes with SHA-512 " +
                                         checksum_of("cut off", ChecksumAlgorithm::sha512).hex +
                                         ", but repository 'web' promises " +
                                         std::to_string(content_.size()) + " bytes with " +
                                         resolution_.packages[0].checksum.hex);
    }
}

}  // namespace
}  // namespace edgegpu
