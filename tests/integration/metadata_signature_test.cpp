// The ways in which signed metadata can be wrong, and that each has words of its own.

#include <gtest/gtest.h>

#include <functional>

#include "resolve/metadata/metadata.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::SigningKey;

class MetadataSignature : public testing::Test {
protected:
    static void SetUpTestSuite() {
        store_ = new test::TemporaryDirectory;
        key_ = new SigningKey("owner@example.com");
        stranger_ = new SigningKey("stranger@example.com");
        test::build_rpm(original(), test::simple_spec("app", "1", "1"));
        test::createrepo(original());
        key_->sign_repository(original());
    }
    static void TearDownTestSuite() {
        delete stranger_;
        delete key_;
        delete store_;
    }
    static fs::path original() { return store_->path() / "original"; }

    MetadataSignature() : console_(Color::never, true) {
        fs::copy(original(), place("r"), fs::copy_options::recursive);
        ctx_.cache = work_.path() / "cache";
        ctx_.console = &console_;
        add("mine", key_->public_key());
    }

    Repository& add(const std::string& id, const fs::path& key) {
        Repository repository;
        repository.id = id;
        repository.baseurls = {"file://" + place("r").string()};
        repository.gpgkeys = {key.string()};
        repository.location = {"/blueprint.toml", 3, 1};
        blueprint_.repositories.push_back(repository);
        return blueprint_.repositories.back();
    }

    [[nodiscard]] fs::path place(const std::string& name) const { return work_.path() / name; }
    [[nodiscard]] fs::path repomd() const { return place("r") / "repodata/repomd.xml"; }
    [[nodiscard]] fs::path signature() const { return repomd().string() + ".asc"; }
    [[nodiscard]] fs::path primary() const {
        for (const auto& entry : fs::directory_iterator(repomd().parent_path())) {
            if (entry.path().string().find("-primary.xml") != std::string::npos) {
                return entry.path();
            }
        }
        throw Error("no primary");
    }
    static void edit(const fs::path& path, const std::function<void(std::string&)>& change) {
        std::string content = read_file(path);
        change(content);
        write_file(path, content);
    }

    Error failure() {
        try {
            (void)load_metadata(ctx_, blueprint_.repositories);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_EQ(problem.traces().back(), "repository defined at /blueprint.toml:3:1");
            return problem;
        }
        ADD_FAILURE() << "nothing was thrown";
        return Error("");
    }

    static bool has_trace(const Error& problem, const std::string& part) {
        return problem.render().find("\n  " + part) != std::string::npos;
    }

    static test::TemporaryDirectory* store_;
    static SigningKey* key_;
    static SigningKey* stranger_;
    test::TemporaryDirectory work_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
};

test::TemporaryDirectory* MetadataSignature::store_ = nullptr;
SigningKey* MetadataSignature::key_ = nullptr;
SigningKey* MetadataSignature::stranger_ = nullptr;

TEST_F(MetadataSignature, Good) {
    EXPECT_EQ(load_metadata(ctx_, blueprint_.repositories).size(), 1U);
}

TEST_F(MetadataSignature, NoneIsThere) {
    fs::remove(signature());
    EXPECT_EQ(failure().message(),
              "repository 'mine': its metadata is not signed: no repodata/repomd.xml.asc");
}

TEST_F(MetadataSignature, Damaged) {
    edit(signature(), [](std::string& text) {
        char& middle = text.at(text.find("\n\n") + 100);
        middle = middle == 'A' ? 'B' : 'A';
    });
    EXPECT_EQ(failure().message(),
              "repository 'mine': the signature of repomd.xml is damaged: its checksum does not "
              "match");
}

TEST_F(MetadataSignature, CutOff) {
    edit(signature(), [](std::string& text) { text.resize(text.size() / 2); });
    EXPECT_EQ(failure().message(),
              "repository 'mine': the signature of repomd.xml is damaged: its end is missing");
}

TEST_F(MetadataSignature, WebPageInPlaceOfSignature) {
    write_file(signature(), "<!DOCTYPE html>\n<html><body>Welcome</body></html>\n");
    EXPECT_EQ(failure().message(),
              "repository 'mine': the signature of repomd.xml is damaged: it is a web page (HTML)");
}

TEST_F(MetadataSignature, OfUnknownKey) {
    stranger_->sign_repository(place("r"));
    const Error problem = failure();
    EXPECT_TRUE(problem.message().starts_with("repository 'mine': repomd.xml was signed with key "))
        << problem.message();
    EXPECT_TRUE(problem.message().ends_with(", which is not in its gpgkey")) << problem.message();
    EXPECT_TRUE(has_trace(problem, "its gpgkey has ")) << problem.render();
    EXPECT_NE(problem.render().find("owner@example.com"), std::string::npos) << problem.render();
}

TEST_F(MetadataSignature, OfKeyOfAnotherRepository) {
    add("other", stranger_->public_key()).enabled = false;
    stranger_->sign_repository(place("r"));
    const Error problem = failure();
    EXPECT_TRUE(has_trace(problem, "the key belongs to stranger@example.com\n"))
        << problem.render();
    EXPECT_TRUE(has_trace(problem, "that is a key of repository 'other'\n")) << problem.render();
    EXPECT_EQ(problem.hint(),
              "check gpgkey and the URL: is this the metadata of repository 'other'?");
}

TEST_F(MetadataSignature, OfOtherContent) {
    edit(repomd(), [](std::string& text) { text.at(text.find("<revision>") + 10) = '2'; });
    const Error problem = failure();
    EXPECT_EQ(problem.message(), "repository 'mine': the signature does not match repomd.xml");
    EXPECT_TRUE(has_trace(problem, "signed with its key ")) << problem.render();
    EXPECT_EQ(problem.hint(), "try again in a few minutes, then try another mirror");
}

TEST_F(MetadataSignature, FileThatDoesNotFit) {
    edit(primary(), [](std::string& bytes) {
        char& middle = bytes.at(bytes.size() / 2);
        middle = static_cast<char>(middle ^ 1);
    });
    const Error problem = failure();
    EXPECT_TRUE(problem.message().starts_with("repository 'mine': ")) << problem.message();
    EXPECT_NE(problem.message().find("does not have the checksum that repomd.xml promises"),
              std::string::npos)
        << problem.message();
    EXPECT_NE(problem.hint().find("another mirror"), std::string::npos) << problem.hint();
}

TEST_F(MetadataSignature, KeyThatIsNone) {
    write_file(place("key"), "<html><body>Sign in</body></html>");
    blueprint_.repositories[0].gpgkeys = {place("key").string()};
    const Error problem = failure();
    EXPECT_EQ(problem.message(), "gpgkey " + place("key").string() +
                                     " of repository 'mine': a web page (HTML), not a key");
}

TEST_F(MetadataSignature, SecondKeyFile) {
    blueprint_.repositories[0].gpgkeys = {stranger_->public_key().string(),
                                          key_->public_key().string()};
    EXPECT_EQ(load_metadata(ctx_, blueprint_.repositories).size(), 1U);
}

}  // namespace
}  // namespace edgegpu
