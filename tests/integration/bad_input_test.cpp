// What a user gets wrong, or what a broken repository offers: the program has to end with the exit
// status and the exact message that say what to do.

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "integration/bad_input_fixture.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::BadInput;
using test::build_rpm;
using test::createrepo;
using test::simple_spec;

// ---- the blueprint

TEST_F(BadInput, UnknownKey) {
    blueprint(shared(), "", "gpgchek = false\n");
    EXPECT_EQ(build(), "error: " + blueprint_path().string() +
                           ":10:1: unknown key \"repositories.gpgchek\"\n"
                           "hint: did you mean \"repositories.gpgcheck\"?\n");
    EXPECT_EQ(status_, 2);
    EXPECT_FALSE(fs::exists(repo()));
}

TEST_F(BadInput, WrongType) {
    blueprint(shared(), "", "gpgcheck = \"maybe\"\n");
    EXPECT_EQ(build(), "error: " + blueprint_path().string() +
                           ":10:12: \"repositories.gpgcheck\" must be a boolean, not a string\n");
    EXPECT_EQ(status_, 2);
}

TEST_F(BadInput, NoBlueprint) {
    EXPECT_EQ(build(), "error: " + blueprint_path().string() + ": No such file or directory\n");
    EXPECT_EQ(status_, 2);
}

// ---- repositories and signatures

TEST_F(BadInput, MissingRepository) {
    blueprint("/nowhere/at/all");
    EXPECT_EQ(build(),
              "error: repository 'base': cannot get repomd.xml\n  "
              "/nowhere/at/all/repodata/repomd.xml: cannot be read: No such file or directory\n" +
                  defined() + during("resolving") + "hint: check the URL of the repository\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, UnsignedMetadata) {
    blueprint(shared(), "");
    std::string text = read_file(blueprint_path());
    const std::string off = "repo_gpgcheck = false\n";
    text.replace(text.find(off), off.size(), "gpgkey = \"" + key().public_key().string() + "\"\n");
    write_file(blueprint_path(), text);
    const std::string missing = (shared() / "repodata/repomd.xml.asc").string();
    EXPECT_EQ(
        build(),
        "error: repository 'base': its metadata is not signed: no repodata/repomd.xml.asc\n  " +
            missing + ": cannot be read: No such file or directory\n  from " +
            (shared() / "repodata/repomd.xml").string() + "\n" + defined() + during("resolving") +
            "hint: does its vendor sign packages only, as Red Hat does? docs/repositories.md says "
            "how such a repository is set up; its packages are verified either way\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, MissingKeyFile) {
    blueprint(shared(), "", "gpgkey = \"/nowhere/KEY\"\n");
    EXPECT_EQ(build(),
              "error: " + blueprint_path().string() + ":6:1: gpgkey not found: /nowhere/KEY\n");
    EXPECT_EQ(status_, 2);
}

TEST_F(BadInput, KeyThatIsNone) {
    write_file(work_.path() / "KEY", "hello\n");
    blueprint(shared(), "", "gpgkey = \"" + (work_.path() / "KEY").string() + "\"\n");
    EXPECT_EQ(build(), "error: gpgkey " + (work_.path() / "KEY").string() +
                           " of repository 'base': no OpenPGP public key (version 4) in it\n" +
                           during("fetching the packages of") +
                           "hint: give the public key: gpg --armor --export NAME\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, UnsignedPackage) {
    blueprint(shared(), "", "gpgkey = \"" + key().public_key().string() + "\"\n");
    EXPECT_EQ(build(), "error: package kernel-core-6.1.0-1.x86_64 is not signed\n  file " +
                           (shared() / kernel_rpm).string() + "\n" +
                           during("fetching the packages of") +
                           "hint: have it signed (rpmsign --addsign), or take it from a repository "
                           "that signs it\n");
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, WrongKey) {
    const test::SigningKey other("other@example.com");
    other.sign_packages(own());
    createrepo(own());
    blueprint(own(), "", "gpgkey = \"" + key().public_key().string() + "\"\n");
    const std::string text = build();
    EXPECT_TRUE(
        text.starts_with("error: package kernel-core-6.1.0-1.x86_64 was not signed with a key of "
                         "its repository\n  its signature: SHA-"))
        << text;
    EXPECT_TRUE(text.ends_with("\n  not by gpgkey " + key().public_key().string() +
                               " of repository 'base'\n" + during("fetching the packages of") +
                               "hint: check gpgkey of the repository\n"))
        << text;
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, DigestMismatch) {
    const fs::path rpm = own() / kernel_rpm;
    std::ofstream(rpm, std::ios::app) << "x";
    blueprint(own());
    EXPECT_EQ(build(), mismatch(rpm));
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, TruncatedSinceTheMetadataWereMade) {
    const fs::path rpm = own() / kernel_rpm;
    fs::resize_file(rpm, fs::file_size(rpm) - 10);
    blueprint(own());
    EXPECT_EQ(build(), mismatch(rpm));
    EXPECT_EQ(status_, 4);
}

TEST_F(BadInput, TruncatedBeforeTheMetadataWereMade) {
    build_rpm(own(), simple_spec("big", "1", "1", "", content("/usr/lib/big", 300000)));
    key().sign_packages(own());
    const fs::path rpm = rpm_of(own(), "big");
    fs::resize_file(rpm, fs::file_size(rpm) - 200000);
    createrepo(own());
    blueprint(own(), "big", "gpgkey = \"" + key().public_key().string() + "\"\n");
    EXPECT_EQ(build(), "error: package big-1-1.x86_64: the file is truncated or damaged\n  file " +
                           rpm.string() + "\n" + during("fetching the packages of") +
                           "hint: this is the file that the repository has: report it to the "
                           "maintainer of the repository\n");
    EXPECT_EQ(status_, 4);
    blueprint(own(), "big");
    const std::string text = build();
    EXPECT_TRUE(
        text.starts_with("error: package big-1-1.x86_64: payload is truncated at /usr/lib/big\n"))
        << text;
    EXPECT_EQ(status_, 1);
}

// ---- the set of packages

TEST_F(BadInput, UnsolvableSet) {
    build_rpm(own(), simple_spec("app", "1", "1", "Requires: nothing-has-this\n"));
    createrepo(own());
    blueprint(own(), "app");
    const std::string file = blueprint_path().string();
    EXPECT_EQ(build(),
              "error: nothing provides nothing-has-this, which app-1-1.x86_64 requires\n  " + file +
                  ":12:8 requests app\n    app-1-1.x86_64 requires nothing-has-this\n"
                  "  while resolving " +
                  file +
                  "\nhint: this change makes the blueprint solvable (it was tried):\n"
                  "  1. gives 1 package, kernel 6.1.0-1\n     " +
                  file + ":11\n     - [[packages]]\n     - name = \"app\"\n");
    EXPECT_EQ(status_, 3);
}

TEST_F(BadInput, UnknownPackage) {
    blueprint(shared(), "kernel-cor");
    const std::string file = blueprint_path().string();
    EXPECT_EQ(build(),
              "error: no package matches 'kernel-cor'\n  requested at " + file +
                  ":12:8\n  did you mean kernel-core?\n  while resolving " + file +
                  "\nhint: any of these 2 changes makes the blueprint solvable (each was tried):\n"
                  "  1. gives 1 package, kernel 6.1.0-1\n     " +
                  file +
                  ":12\n     - name = \"kernel-cor\"\n     + name = \"kernel-core\"\n"
                  "  2. gives 1 package, kernel 6.1.0-1\n     " +
                  file + ":11\n     - [[packages]]\n     - name = \"kernel-cor\"\n");
    EXPECT_EQ(status_, 3);
}

TEST_F(BadInput, MissingKernel) {
    const fs::path repository = work_.path() / "empty";
    build_rpm(repository, simple_spec("app", "1", "1"));
    createrepo(repository);
    blueprint(repository, "app");
    EXPECT_EQ(build(),
              "error: no repository has a kernel: package kernel-core or kernel\n"
              "  while resolving " +
                  blueprint_path().string() +
                  "\nhint: an image needs a kernel: check the repositories and "
                  "customizations.kernel.name\n");
    EXPECT_EQ(status_, 3);
}

}  // namespace
}  // namespace edgegpu
