#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "resolve/resolution.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

class Lockfile : public testing::Test {
protected:
    void SetUp() override {
        path_ = std::filesystem::temp_directory_path() /
                ("edgegpu-lock." + std::to_string(::getpid()) + ".toml");
    }
    void TearDown() override { std::filesystem::remove(path_); }

    /// The message and traces with which reading `content` fails.
    std::string failure(const std::string& content) {
        write_file(path_, content);
        try {
            (void)read_lockfile(path_);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.message();
        }
        return "no error";
    }

    std::filesystem::path path_;
};

Resolution example_resolution() {
    Resolution resolution;
    resolution.kernel = {"kernel-core", 0, "6.1.0", "50.el9", "x86_64"};
    resolution.kernel_uname = "6.1.0-50.el9.x86_64";
    resolution.driver_version = "535.261.03";
    resolution.repositories.push_back({"baseos", std::string(64, 'a'), 1700000000});
    resolution.modules.push_back({"nvidia-driver", "535", "20240101000000", "1234e56789"});
    resolution.packages.push_back({resolution.kernel,
                                   "baseos",
                                   "Packages/k.rpm",
                                   {ChecksumAlgorithm::sha256, std::string(64, 'b')},
                                   17,
                                   1700000001,
                                   "",
                                   {Reason::Kind::kernel},
                                   ""});
    resolution.packages.push_back({{"x", 3, "1~rc1^git", "1", "noarch"},
                                   "baseos",
                                   "Packages/x.rpm",
                                   {ChecksumAlgorithm::sha512, std::string(128, 'c')},
                                   18,
                                   1700000002,
                                   "nvidia-driver:535:20240101000000:1234e56789",
                                   {Reason::Kind::required_by, "\"quoted\\name\""},
                                   "https://example.invalid/other"});
    resolution.images.push_back({"docker://quay.io/x/app:1", "quay.io/x/app:1",
                                 std::string(64, 'd'), std::string(64, 'e'), 1234});
    return resolution;
}

TEST_F(Lockfile, ReadsBackWhatWasWritten) {
    const Resolution written = example_resolution();
    write_lockfile(path_, written);
    const Resolution read = read_lockfile(path_);
    EXPECT_EQ(read.kernel, written.kernel);
    EXPECT_EQ(read.kernel_uname, written.kernel_uname);
    EXPECT_EQ(read.driver_version, written.driver_version);
    ASSERT_EQ(read.modules.size(), 1U);
    EXPECT_EQ(read.modules[0].context, "1234e56789");
    ASSERT_EQ(read.repositories.size(), 1U);
    EXPECT_EQ(read.repositories[0].revision_time, 1700000000);
    ASSERT_EQ(read.packages.size(), 2U);
    EXPECT_EQ(read.packages[1].nevra, written.packages[1].nevra);
    EXPECT_EQ(read.packages[1].module, written.packages[1].module);
    EXPECT_EQ(read.packages[1].why, written.packages[1].why);
    EXPECT_EQ(read.packages[0].size, 17U);
    EXPECT_EQ(read.packages[0].checksum.text(), "sha256:" + std::string(64, 'b'));
    EXPECT_EQ(read.packages[0].base, "");
    EXPECT_EQ(read.packages[1].checksum.text(), "sha512:" + std::string(128, 'c'));
    EXPECT_EQ(read.packages[1].base, "https://example.invalid/other");
    ASSERT_EQ(read.images.size(), 1U);
    EXPECT_EQ(read.images[0].source, "docker://quay.io/x/app:1");
    EXPECT_EQ(read.images[0].name, "quay.io/x/app:1");
    EXPECT_EQ(read.images[0].digest, std::string(64, 'd'));
    EXPECT_EQ(read.images[0].manifest, std::string(64, 'e'));
    EXPECT_EQ(read.images[0].size, 1234U);
}

TEST_F(Lockfile, HasTheParentByNameAndCommit) {
    Resolution written = example_resolution();
    written.parent = ResolvedParent{
        "rhel/9/x86_64/edge", std::string(64, 'a'), "sha256:" + std::string(64, 'b'), {}, {}};
    write_lockfile(path_, written);
    const Resolution read = read_lockfile(path_);
    ASSERT_TRUE(read.parent);
    EXPECT_EQ(read.parent->name, "rhel/9/x86_64/edge");
    EXPECT_EQ(read.parent->commit, std::string(64, 'a'));
    EXPECT_EQ(read.parent->image_digest, "sha256:" + std::string(64, 'b'));
    written.parent->image_digest.clear();
    write_lockfile(path_, written);
    EXPECT_EQ(read_lockfile(path_).parent->image_digest, "");
    written.parent->commit = "main";
    write_lockfile(path_, written);
    EXPECT_THROW((void)read_lockfile(path_), Error);
}

TEST_F(Lockfile, RefusesAnImageThatCannotBeOne) {
    for (const auto& [good, bad] :
         {std::pair{"source = \"docker://quay.io/x/app:1\"", "source = \"https://quay.io/x\""},
          {"name = \"quay.io/x/app:1\"", "name = \"--help\""},
          {"digest = \"dddd", "digest = \"xddd"}}) {
        write_lockfile(path_, example_resolution());
        std::string content = read_file(path_);
        content.replace(content.find(good), std::string(good).size(), bad);
        EXPECT_NE(failure(content).find(" is not "), std::string::npos) << bad;
    }
}

TEST_F(Lockfile, WritesTheSameBytesForTheSameResolution) {
    write_lockfile(path_, example_resolution());
    const std::string first = read_file(path_);
    write_lockfile(path_, read_lockfile(path_));
    EXPECT_EQ(read_file(path_), first);
}

TEST_F(Lockfile, IsWrittenWhereItsLinkLeads) {
    namespace fs = std::filesystem;
    const fs::path link = path_.string() + ".link";
    fs::remove(link);
    fs::create_symlink(path_.filename(), link);
    write_lockfile(link, example_resolution());  // nothing is there yet
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_lockfile(path_).kernel_uname, "6.1.0-50.el9.x86_64");
    write_file(path_, "old");
    write_lockfile(link, example_resolution());
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_lockfile(path_).kernel_uname, "6.1.0-50.el9.x86_64");
    fs::remove(link);
    // Not /dev/stdout, which a failure would replace.
    fs::create_symlink("/dev/null", link);
    try {
        write_lockfile(link, example_resolution());
        ADD_FAILURE() << "a device was replaced";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), link.string() + ": not a file that can be replaced");
    }
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::is_character_file(link));
    fs::remove(link);
}

TEST_F(Lockfile, NamesFileAndLineOfASyntaxError) {
    EXPECT_TRUE(failure("format = 1\nkernel_uname = \n").starts_with(path_.string() + ":2: "));
}

TEST_F(Lockfile, NamesFileAndLineOfABadDigest) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    content.replace(content.find(std::string(64, 'b')), 64, std::string(64, 'Z'));
    EXPECT_EQ(failure(content), path_.string() + ":32: 'checksum' is invalid: '" +
                                    std::string(64, 'Z') +
                                    "' is not a sha256 checksum of 64 hexadecimal digits");
}

TEST_F(Lockfile, RefusesALocationOutsideTheRepository) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    const std::string location = "Packages/k.rpm";
    content.replace(content.find(location), location.size(), "/etc/x");
    EXPECT_EQ(failure(content),
              path_.string() + ":31: 'location' is not a path inside the repository");
}

TEST_F(Lockfile, ReadsTheSha256OfOlderVersions) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    const std::string now = "checksum = \"sha256:";
    content.replace(content.find(now), now.size(), "sha256 = \"");
    write_file(path_, content);
    EXPECT_EQ(read_lockfile(path_).packages[0].checksum.text(), "sha256:" + std::string(64, 'b'));
    content.replace(content.find(std::string(64, 'b')), 64, std::string(64, 'Z'));
    EXPECT_EQ(failure(content), path_.string() + ":32: 'sha256' is not a SHA-256");
}

TEST_F(Lockfile, RefusesAnotherFormat) {
    EXPECT_EQ(failure("format = 0\n"),
              path_.string() + ":1: 'format' is not supported: this edgegpu reads 1 and 2");
    EXPECT_EQ(failure("format = 3\n"),
              path_.string() + ":1: 'format' is of a newer edgegpu: this one reads 1 and 2");
}

/// A lockfile of one package, with another reason each time.
class LockfileReasons : public Lockfile {
protected:
    /// The lockfile with `why` in place of its line.
    std::string with(const std::string& why, int format = 2) {
        Resolution one = example_resolution();
        one.packages.resize(1);
        write_lockfile(path_, one);
        std::string content = read_file(path_);
        content.replace(content.find("format = 2"), 10, "format = " + std::to_string(format));
        const std::size_t line = content.find("why = ");
        content.replace(line, content.find('\n', line) - line, why);
        return content;
    }
    Reason read(const std::string& why, int format = 2) {
        write_file(path_, with(why, format));
        return read_lockfile(path_).packages.at(0).why;
    }
    /// What follows "FILE:35: ", the line of the reason.
    std::string refusal(const std::string& why, int format = 2) {
        const std::string message = failure(with(why, format));
        const std::string place = path_.string() + ":35: ";
        EXPECT_TRUE(message.starts_with(place)) << message;
        return message.substr(std::min(place.size(), message.size()));
    }
};

TEST_F(LockfileReasons, EveryKindIsReadBack) {
    int kinds = 0;
    each_value<Reason::Kind>([&](Reason::Kind kind) {
        ++kinds;
        Reason reason{kind};
        for (const ReasonField& field : reason_fields(kind)) {
            reason.*field.value = fmt::format("{} \"\\ = }}", field.key);
        }
        Resolution written = example_resolution();
        written.packages[0].why = reason;
        written.dkms_source = written.packages[0];
        written.build_root = {written.packages[0]};
        written.policy_root = {written.packages[0]};
        write_lockfile(path_, written);
        const Resolution read = read_lockfile(path_);
        EXPECT_EQ(read.packages.at(0).why, reason) << reason.text();
        EXPECT_EQ(read.dkms_source->why, reason) << reason.text();
        EXPECT_EQ(read.build_root.at(0).why, reason) << reason.text();
        EXPECT_EQ(read.policy_root.at(0).why, reason) << reason.text();
    });
    EXPECT_EQ(kinds, 15);
}

TEST_F(LockfileReasons, HaveTheDocumentedForm) {
    Resolution written = example_resolution();
    written.packages[0].why = {Reason::Kind::profile, "nvidia-driver", "535", "ks"};
    write_lockfile(path_, written);
    const std::string content = read_file(path_);
    EXPECT_THAT(content, HasSubstr("\nwhy = { kind = \"profile\", name = \"nvidia-driver\", "
                                   "stream = \"535\", profile = \"ks\" }\n"));
    EXPECT_THAT(content, HasSubstr("\nwhy = { kind = \"required-by\", "
                                   "name = \"\\\"quoted\\\\name\\\"\" }\n"));
    EXPECT_EQ(read("why = { kind = \"requested\" }"), Reason{Reason::Kind::requested});
    EXPECT_EQ(read("why.kind = \"required-by\"\nwhy.name = \"bash\""),
              (Reason{Reason::Kind::required_by, "bash"}));
}

TEST_F(LockfileReasons, OfFormat1AreWords) {
    EXPECT_EQ(read("why = \"requested\"", 1), Reason{Reason::Kind::requested});
    EXPECT_EQ(read("why = \"weak dependency\"", 1), Reason{Reason::Kind::weak_dependency});
    EXPECT_EQ(read("why = \"required by bash\"", 1),
              (Reason{Reason::Kind::unknown, "required by bash"}));
    EXPECT_EQ(refusal("why = { kind = \"requested\" }", 1), "'why' is not a string");
    EXPECT_EQ(refusal("why = \"required by\\u001b[2J\"", 1), "'why' contains a control character");
}

TEST_F(LockfileReasons, OthersAreRefusedAtTheirLine) {
    const std::string unknown = "'kind' is not a known kind of reason";
    EXPECT_EQ(refusal("why = { kind = \"required by\", name = \"bash\" }"), unknown);
    EXPECT_EQ(refusal("why = { kind = \"\" }"), unknown);
    EXPECT_EQ(refusal("why = { kind = \"asked-about\" }"), unknown);
    EXPECT_EQ(refusal("why = { kind = 7 }"), "'kind' is not a string");
    EXPECT_EQ(refusal("why = {}"), "'kind' is missing");
    EXPECT_EQ(refusal("why = { kind = \"required-by\" }"), "'name' is missing");
    EXPECT_EQ(refusal("why = { kind = \"profile\", name = \"a\", stream = 535 }"),
              "'stream' is not a string");
    EXPECT_EQ(refusal("why = { kind = \"group\", name = \"a\\nb\" }"),
              "'name' contains a control character");
    EXPECT_EQ(refusal("why = 7"), "'why' is not a table");
    EXPECT_EQ(refusal("why = \"requested\""), "'why' is not a table");
    // A newline in a string is no TOML: the parser's complaint, at the same line.
    EXPECT_NE(refusal("why = { kind = \"required-by\", name = \"a\nb\" }"), "");
}

TEST_F(LockfileReasons, PackageWithoutOneIsRefusedAtItsOwnLine) {
    EXPECT_EQ(failure(with("")), path_.string() + ":24: 'why' is missing");
}

}  // namespace
}  // namespace edgegpu
