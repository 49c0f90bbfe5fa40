// Repositories with several mirrors, some of which are stale, broken or lying: metadata and
// packages come from one that is not, or the error tells of each.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "fetch/download.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/metadata_download.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/metadata_fixture.hpp"
#include "support/web_server.hpp"
#include "transfer/mirrors.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// Two states of a repository below a site: `new/` and `old/`.
class Mirrors : public testing::Test {
protected:
    Mirrors() : console_(Color::never, true) {
        test::make_metadata(site_.path() / "new", {"app-2-1.x86_64"});
        test::make_metadata(site_.path() / "old", {"app-1-1.x86_64"});
        nginx_ = std::make_unique<test::Nginx>(site_.path());
        odd_ = std::make_unique<test::OddServer>(site_.path());
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        blueprint_.repositories.emplace_back();
        Repository& web = repository();
        web.id = "web";
        web.repo_gpgcheck = false;
        web.location = {"/blueprint.toml", 3, 1};
        web.transfer.retries = 1;
    }

    Repository& repository() { return blueprint_.repositories.front(); }
    [[nodiscard]] std::string nginx(const std::string& path) const {
        return nginx_->url() + "/" + path;
    }
    [[nodiscard]] std::string odd(const std::string& path) const {
        return odd_->url() + "/" + path;
    }
    [[nodiscard]] fs::path repomd(const std::string& state) const {
        return site_.path() / state / "repodata/repomd.xml";
    }
    /// SHA-256 of the repomd.xml that was taken.
    std::string load() {
        return load_metadata(ctx_, blueprint_.repositories).at(0).resolved.repomd_sha256;
    }
    std::string failure() {
        try {
            (void)load();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            return problem.render();
        }
        return "nothing was thrown";
    }
    [[nodiscard]] std::string digest(const std::string& state) const {
        return sha256_file(repomd(state));
    }
    /// A metalink of the new state with these mirrors, the preferred last.
    void write_metalink(const std::vector<std::string>& mirrors, const std::string& hashes,
                        const std::string& alternates = "") const {
        std::string urls;
        int preference = 10;
        for (const std::string& mirror : mirrors) {
            urls += fmt::format(
                "<url protocol=\"http\" type=\"http\" location=\"US\" preference=\"{}\">{}/"
                "repodata/repomd.xml</url>\n",
                preference++, mirror);
        }
        write_file(site_.path() / "metalink",
                   fmt::format("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                               "<metalink version=\"3.0\" xmlns=\"http://www.metalinker.org/\" "
                               "xmlns:mm0=\"http://fedorahosted.org/mirrormanager\">\n"
                               "<files><file name=\"repomd.xml\">\n<size>{}</size>\n"
                               "<verification>{}</verification>\n{}<resources>\n{}"
                               "<url protocol=\"rsync\" type=\"rsync\" preference=\"100\">"
                               "rsync://127.0.0.1/new/repodata/repomd.xml</url>\n"
                               "</resources>\n</file></files></metalink>\n",
                               fs::file_size(repomd("new")), hashes, alternates, urls));
    }
    [[nodiscard]] std::string hash(const std::string& state, ChecksumAlgorithm algorithm) const {
        return fmt::format("<hash type=\"{}\">{}</hash>", checksum_name(algorithm),
                           checksum_of_file(repomd(state), algorithm).hex);
    }

    test::TemporaryDirectory site_;
    test::TemporaryDirectory cache_;
    std::unique_ptr<test::Nginx> nginx_;
    std::unique_ptr<test::OddServer> odd_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
};

TEST_F(Mirrors, BadOnesArePassedOver) {
    for (const std::string& bad :
         {odd("html/new"), odd("empty/new"), odd("loop/new"), nginx("nothing")}) {
        repository().baseurls = {bad, nginx("new")};
        EXPECT_EQ(load(), digest("new")) << bad;
        const std::string said = console_.warnings().back();
        EXPECT_TRUE(said.starts_with("repository 'web': " + bad + "/repodata/repomd.xml: "))
            << said;
        EXPECT_TRUE(said.ends_with("; another mirror was used")) << said;
    }
}

TEST_F(Mirrors, StaleOneIsToldByTheMetalink) {
    repository().metalink = nginx("metalink");
    write_metalink({nginx("new"), nginx("old")}, "<hash type=\"md5\">00</hash>" +
                                                     hash("old", ChecksumAlgorithm::sha1) +
                                                     hash("old", ChecksumAlgorithm::sha256) +
                                                     hash("new", ChecksumAlgorithm::sha512));
    // The strongest hash counts, whatever the weaker ones say.
    EXPECT_EQ(load(), digest("new"));
    ASSERT_EQ(console_.warnings().size(), 1U);
    EXPECT_EQ(
        console_.warnings()[0],
        "repository 'web': " + nginx("old/repodata/repomd.xml") +
            ": repomd.xml is not the one that the metalink promises; another mirror was used");
}

TEST_F(Mirrors, AllStale) {
    repository().metalink = nginx("metalink");
    write_metalink({nginx("old")}, hash("new", ChecksumAlgorithm::sha256));
    EXPECT_EQ(failure(),
              "error: repository 'web': repomd.xml is not the one that the metalink promises\n"
              "  from " +
                  nginx("old/repodata/repomd.xml") +
                  "\n  repository defined at /blueprint.toml:3:1\n"
                  "hint: the mirrors are stale, or being updated: try again later\n");
}

TEST_F(Mirrors, AlternatesOfTheMetalinkAreTaken) {
    repository().metalink = nginx("metalink");
    write_metalink(
        {nginx("old")}, hash("new", ChecksumAlgorithm::sha256),
        fmt::format("<mm0:alternates><mm0:alternate><mm0:timestamp>1</mm0:timestamp>"
                    "<size>{}</size><verification>{}</verification></mm0:alternate>"
                    "</mm0:alternates>\n",
                    fs::file_size(repomd("old")), hash("old", ChecksumAlgorithm::sha256)));
    EXPECT_EQ(load(), digest("old"));
}

TEST_F(Mirrors, MetalinkWithWeakHashesAlone) {
    repository().metalink = nginx("metalink");
    write_metalink({nginx("new")}, hash("new", ChecksumAlgorithm::sha1));
    EXPECT_NE(failure().find("has no checksum of repomd.xml that can be trusted"),
              std::string::npos);
    repository().allow_sha1 = true;
    EXPECT_EQ(load(), digest("new"));
}

TEST_F(Mirrors, MirrorlistWithCommentsAndBlankLines) {
    write_file(site_.path() / "list", "# mirrors\r\n\n  \n" + nginx("nothing") +
                                          "\r\nftp://127.0.0.1/new\nfile:///etc\n\t" +
                                          nginx("new/") + " \n#" + nginx("old"));
    repository().mirrorlist = nginx("list");
    EXPECT_EQ(load(), digest("new"));
    EXPECT_EQ(find_mirrors(ctx_, repository()).mirrors,
              (std::vector<std::string>{nginx("nothing"), nginx("new/")}));
}

TEST_F(Mirrors, ListThatIsNone) {
    repository().mirrorlist = odd("html/new/repodata/repomd.xml");
    EXPECT_NE(failure().find("answers with a web page"), std::string::npos);
    write_file(site_.path() / "list", "# nothing\n");
    repository().mirrorlist = nginx("list");
    EXPECT_EQ(failure(), "error: repository 'web': its mirrorlist " + nginx("list") +
                             " lists no mirror with http or https\n"
                             "  repository defined at /blueprint.toml:3:1\n"
                             "hint: check mirrorlist of the repository, or give baseurl instead\n");
    write_file(site_.path() / "list", "<metalink><files>");
    EXPECT_NE(failure().find(" cannot be read: "), std::string::npos);
    // With a baseurl the list is not needed.
    repository().baseurls = {nginx("new")};
    EXPECT_EQ(load(), digest("new"));
    EXPECT_TRUE(console_.warnings().back().ends_with("; only its baseurl was used"));
}

TEST_F(Mirrors, HalfSynchronised) {
    // repomd.xml is new already, what it lists is not.
    test::make_metadata(site_.path() / "half", {"app-1-1.x86_64"});
    fs::copy_file(repomd("new"), repomd("half"), fs::copy_options::overwrite_existing);
    repository().baseurls = {nginx("half"), nginx("new")};
    EXPECT_EQ(load(), digest("new"));
    EXPECT_NE(console_.warnings().at(0).find("/half/repodata/primary.xml: "), std::string::npos);
    fs::remove_all(cache_.path() / "repos");
    repository().baseurls = {nginx("half")};
    const std::string text = failure();
    EXPECT_TRUE(
        text.starts_with("error: repository 'web': primary.xml does not have the checksum "
                         "that repomd.xml promises: sha256:"))
        << text;
    EXPECT_NE(text.find("\nhint: the mirror may be in the middle of an update: try again later"),
              std::string::npos);
}

TEST_F(Mirrors, OfflineTakesWhatIsThere) {
    repository().baseurls = {nginx("new")};
    EXPECT_EQ(load(), digest("new"));
    nginx_->stop();
    ctx_.offline = true;
    EXPECT_EQ(load(), digest("new"));
}

/// A package that no mirror has; `state` is what it was chosen from.
std::string missing_package(const Context& ctx, const Repository& repository,
                            const std::string& state) {
    PackageFile file;
    file.package.nevra = {"app", 0, "2", "1", "x86_64"};
    file.package.repository = "web";
    file.package.location = "Packages/app.rpm";
    file.package.checksum = checksum_of("x", ChecksumAlgorithm::sha256);
    file.package.size = 1;
    file.path = ctx.cache / "app.rpm";
    try {
        download_packages(ctx, repository, {file}, state, [](std::size_t) {});
    } catch (const Error& problem) {
        return problem.render();
    }
    return "nothing was thrown";
}

TEST_F(Mirrors, RepositoryThatChangedSince) {
    repository().baseurls = {nginx("new")};
    EXPECT_EQ(missing_package(ctx_, repository(), digest("old")),
              "error: repository 'web' changed between its metadata and its packages: package "
              "app-2-1.x86_64 is no longer available unchanged\n  " +
                  nginx("new/Packages/app.rpm") +
                  ": answers 404 (not found)\n  from repository 'web', Packages/app.rpm\n"
                  "hint: run again; with --locked the lockfile requires what the repository no "
                  "longer has: resolve without --locked\n");
    EXPECT_TRUE(missing_package(ctx_, repository(), digest("new"))
                    .starts_with("error: package app-2-1.x86_64 cannot be downloaded\n"));
}

}  // namespace
}  // namespace edgegpu
