// Metadata, keys and packages over HTTP, from a server on the loopback interface that understands
// ranges and writes down what it was asked for.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"
#include "support/web_server.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

constexpr const char* download_hint =
    "hint: the mirror may be stale or unreachable: try again; whatever is complete is kept in the "
    "cache\n";
constexpr const char* app_rpm = "Packages/app-1-1.x86_64.rpm";

/// A signed repository with a kernel and `app` (1 MB that does not compress), served over HTTP.
class Fetch : public testing::Test {
protected:
    static void SetUpTestSuite() {
        store_ = new test::TemporaryDirectory;
        key_ = new test::SigningKey;
        build_rpm(original(), simple_spec("kernel-core", "6.1.0", "1"));
        build_rpm(original(), simple_spec("app", "1", "1", "",
                                          "%install\nmkdir -p %{buildroot}/usr\n"
                                          "head -c 1000000 /dev/urandom > %{buildroot}/usr/app\n"
                                          "%files\n/usr/app\n"));
        key_->sign_packages(original());
        createrepo(original());
        key_->sign_repository(original());
        fs::copy_file(key_->public_key(), original() / "KEY");
    }
    static void TearDownTestSuite() {
        delete key_;
        delete store_;
    }
    static fs::path original() { return store_->path() / "original"; }

    Fetch() : console_(Color::never, true) {
        fs::copy(original(), site_.path() / "r", fs::copy_options::recursive);
        server_ = std::make_unique<test::OddServer>(site_.path());
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        ctx_.jobs = 2;
        Repository repository;
        repository.id = "web";
        repository.baseurls = {url() + "/r"};
        repository.gpgkeys = {url() + "/r/KEY"};
        repository.location = {"/blueprint.toml", 3, 1};
        blueprint_.repositories.push_back(repository);
        blueprint_.packages.push_back({"app", {"/blueprint.toml", 9, 5}});
    }

    /// Where the server has the site.
    [[nodiscard]] std::string url() const { return server_->url() + "/plain"; }

    /// What a build does first: resolve, then fetch; the file of `app`.
    PackageFile fetch() {
        resolution_ = resolve(ctx_, blueprint_);
        for (const PackageFile& file : fetch_resolved(resolution_)) {
            EXPECT_EQ(checksum_of_file(file.path, file.package.checksum.algorithm),
                      file.package.checksum);
            EXPECT_EQ(sha256_file(file.path), file.sha256);
            if (file.package.nevra.name == "app") {
                return file;
            }
        }
        throw Error("no app");
    }
    PackageFiles fetch_resolved(const Resolution& resolution) {
        return fetch_packages(ctx_, make_plan(resolution, blueprint_.repositories)).image;
    }
    std::string failure() {
        try {
            (void)fetch();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.exit_status(), 4);
            return problem.render();
        }
        return "nothing was thrown";
    }
    [[nodiscard]] fs::path served(const std::string& path) const {
        return site_.path() / "r" / path;
    }
    /// Where the download of `app` is kept, and where its partial file lies.
    [[nodiscard]] fs::path cached() const {
        return cache_.path() / "packages" / (sha256_file(original() / app_rpm) + ".rpm");
    }
    [[nodiscard]] fs::path partial() const { return cached().string() + ".part"; }
    /// Leaves the beginning of the download of `app`, as a killed build would.
    void leave_partial(const std::string& content) const {
        make_directories(partial().parent_path());
        write_file(partial(), content);
    }

    test::TemporaryDirectory site_;
    test::TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
    Resolution resolution_;
    std::unique_ptr<test::OddServer> server_;

private:
    static test::TemporaryDirectory* store_;
    static test::SigningKey* key_;
};

test::TemporaryDirectory* Fetch::store_ = nullptr;
test::SigningKey* Fetch::key_ = nullptr;

TEST_F(Fetch, DownloadsOnceAndKeepsIt) {
    EXPECT_EQ(fetch().path, cached());
    EXPECT_FALSE(fs::exists(partial()));
    EXPECT_EQ(server_->count(std::string("200 /plain/r/") + app_rpm), 1);
    EXPECT_EQ(fetch().path, cached());
    EXPECT_EQ(server_->count(app_rpm), 1);
}

TEST_F(Fetch, ContinuesAPartialFile) {
    leave_partial(read_file(original() / app_rpm).substr(0, 400000));
    EXPECT_EQ(fetch().path, cached());
    EXPECT_EQ(server_->count(std::string("206 /plain/r/") + app_rpm), 1);
    EXPECT_EQ(server_->count(std::string("200 /plain/r/") + app_rpm), 0);
}

TEST_F(Fetch, CompletePartialFileNeedsNoDownload) {
    leave_partial(read_file(original() / app_rpm));
    EXPECT_EQ(fetch().path, cached());
    EXPECT_EQ(server_->count(app_rpm), 0);
}

TEST_F(Fetch, DamagedPartialFileIsDropped) {
    leave_partial(std::string(400000, 'x'));
    EXPECT_EQ(fetch().path, cached());
    EXPECT_EQ(server_->count(std::string("206 /plain/r/") + app_rpm), 1);
    EXPECT_GE(server_->count(std::string("200 /plain/r/") + app_rpm), 1);
    EXPECT_FALSE(fs::exists(partial()));
}

TEST_F(Fetch, PackageThatIsListedTwice) {
    const Resolution resolution = resolve(ctx_, blueprint_);
    for (const ChecksumAlgorithm algorithm :
         {ChecksumAlgorithm::sha256, ChecksumAlgorithm::sha512}) {
        fs::remove_all(cache_.path() / "packages");
        Resolution twice = resolution;
        std::erase_if(twice.packages,
                      [](const ResolvedPackage& package) { return package.nevra.name != "app"; });
        twice.packages.resize(4, twice.packages.at(0));
        for (ResolvedPackage& package : twice.packages) {
            package.checksum = checksum_of_file(original() / app_rpm, algorithm);
        }
        const int before = server_->count(app_rpm);
        const PackageFiles files = fetch_resolved(twice);
        EXPECT_EQ(server_->count(app_rpm), before + 1);
        ASSERT_EQ(files.size(), 4U);
        for (const PackageFile& file : files) {
            EXPECT_EQ(file.path, cached());
            EXPECT_EQ(file.sha256, sha256_file(cached()));
        }
    }
}

TEST_F(Fetch, OfflineUsesTheCache) {
    (void)fetch();
    server_->stop();
    ctx_.offline = true;
    EXPECT_EQ(fetch().path, cached());
}

TEST_F(Fetch, OfflineWithoutCacheNamesTheRepository) {
    ctx_.offline = true;
    EXPECT_EQ(failure(), "error: repository 'web': key " + url() +
                             "/r/KEY is not in the cache\nhint: run once without --offline\n");
    blueprint_.repositories[0].repo_gpgcheck = false;
    EXPECT_EQ(failure(),
              "error: repository 'web' is not in the cache\n  repository defined at "
              "/blueprint.toml:3:1\nhint: run once without --offline\n");
    EXPECT_EQ(server_->count("/"), 0);
}

TEST_F(Fetch, OfflineNamesThePackageThatIsMissing) {
    (void)fetch();
    fs::remove(cached());
    ctx_.offline = true;
    EXPECT_EQ(
        failure(),
        "error: package app-1-1.x86_64 is not in the cache, and --offline forbids a download\n"
        "  packages of repository 'web' that are missing: 1\n"
        "hint: run the build once without --offline\n");
    EXPECT_EQ(server_->count(app_rpm), 1);
}

TEST_F(Fetch, VerifiedPackageIsRemembered) {
    (void)fetch();
    const fs::path marks = cache_.path() / "verified";
    std::vector<fs::path> found{fs::directory_iterator(marks), {}};
    ASSERT_EQ(found.size(), 2U);
    // A mark that were not looked at would be made again, and be empty.
    write_file(found[0], "looked at");
    (void)fetch();
    EXPECT_EQ(read_file(found[0]), "looked at");
}

TEST_F(Fetch, OtherKeysMeanAnotherVerification) {
    (void)fetch();
    const test::SigningKey other("other@example.com");
    blueprint_.repositories[0].repo_gpgcheck = false;
    blueprint_.repositories[0].gpgkeys = {other.public_key().string()};
    const std::string text = failure();
    EXPECT_NE(text.find("was not signed with a key of its repository"), std::string::npos) << text;
}

TEST_F(Fetch, SignedPackageUnderAnotherNameIsRefused) {
    (void)fetch();
    // As if unsigned metadata had said so: checksum and signature are right, the name is not.
    for (ResolvedPackage& package : resolution_.packages) {
        if (package.nevra.name == "app") {
            package.nevra.version = "9";
        }
    }
    try {
        (void)fetch_resolved(resolution_);
        FAIL() << "nothing was thrown";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_EQ(problem.message(),
                  "package app-9-1.x86_64 is app-1-1.x86_64: the metadata of repository 'web' are "
                  "wrong");
    }
}

TEST_F(Fetch, PasswordOfAKeyIsNotShown) {
    const std::string host = url().substr(7);
    blueprint_.repositories[0].gpgkeys = {"http://bob:s3cret@" + host + "/r/repodata/repomd.xml"};
    for (const bool repo_gpgcheck : {true, false}) {
        blueprint_.repositories[0].repo_gpgcheck = repo_gpgcheck;
        const std::string text = failure();
        EXPECT_NE(text.find("gpgkey http://" + host + "/r/"), std::string::npos) << text;
        EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
    }
}

TEST_F(Fetch, ChangedCacheIsNoticed) {
    (void)fetch();
    write_file(cached(), "changed");
    const std::string text = failure();
    EXPECT_TRUE(text.starts_with("error: package app-1-1.x86_64: 7 bytes with SHA-256 ")) << text;
    EXPECT_NE(text.find("\n  file " + cached().string() + "\n"), std::string::npos) << text;
}

TEST_F(Fetch, PackageThatTheMirrorLacks) {
    fs::remove(served(app_rpm));
    EXPECT_EQ(failure(), "error: package app-1-1.x86_64 cannot be downloaded\n  " + url() + "/r/" +
                             app_rpm + ": answers 404 (not found)\n  from repository 'web', " +
                             app_rpm + "\n" + download_hint);
}

TEST_F(Fetch, PackageThatTheMirrorChanged) {
    std::string bytes = read_file(served(app_rpm));
    bytes[500000] = static_cast<char>(bytes[500000] ^ 1);
    write_file(served(app_rpm), bytes);
    const std::string changed = sha256_file(served(app_rpm));
    EXPECT_EQ(failure(),
              "error: package app-1-1.x86_64 cannot be downloaded\n  " + url() + "/r/" + app_rpm +
                  ": does not have the checksum that repository 'web' promises: sha256:" + changed +
                  " instead of sha256:" + sha256_file(original() / app_rpm) +
                  "\n  from repository 'web', " + app_rpm + "\n" + download_hint);
    EXPECT_FALSE(fs::exists(cached()));
    // The mirror is mended: what the failed download left must not be in the way.
    fs::copy_file(original() / app_rpm, served(app_rpm), fs::copy_options::overwrite_existing);
    EXPECT_EQ(fetch().path, cached());
}

TEST_F(Fetch, SecondMirrorIsTried) {
    blueprint_.repositories[0].baseurls.insert(blueprint_.repositories[0].baseurls.begin(),
                                               url() + "/nothing");
    EXPECT_EQ(fetch().path, cached());
}

TEST_F(Fetch, UnsignedMetadataAreRefused) {
    fs::remove(served("repodata/repomd.xml.asc"));
    EXPECT_EQ(
        failure(),
        "error: repository 'web': its metadata is not signed: no repodata/repomd.xml.asc\n  " +
            url() + "/r/repodata/repomd.xml.asc: answers 404 (not found)\n  from " + url() +
            "/r/repodata/repomd.xml\n  repository defined at /blueprint.toml:3:1\nhint: "
            "does its vendor sign packages only, as Red Hat does? docs/repositories.md says how "
            "such a repository is set up; its packages are verified either way\n");
}

TEST_F(Fetch, UnreachableServer) {
    const std::string site = url();
    server_->stop();
    blueprint_.repositories[0].gpgcheck = false;
    blueprint_.repositories[0].repo_gpgcheck = false;
    const std::string text = failure();
    EXPECT_TRUE(text.starts_with("error: repository 'web': cannot get repomd.xml\n  " + site +
                                 "/r/repodata/repomd.xml: cannot be reached: "))
        << text;
}

}  // namespace
}  // namespace edgegpu
