#include "commit/device_key.hpp"

#include <ctime>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/commit_fixture.hpp"
#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A GnuPG home with keys of any kind.
class DeviceKeyTest : public testing::Test {
protected:
    DeviceKeyTest() {
        blueprint_.ostree.url = "http://x.invalid/";
        blueprint_.ostree.gpg_homedir = home_.path();
        blueprint_.ostree.location = {"b.toml", 3, 1};
    }
    ~DeviceKeyTest() override {
        test::run({"gpgconf", "--homedir", home_.path().string(), "--kill", "all"});
    }

    void gpg(std::vector<std::string> arguments) const {
        std::vector<std::string> argv{"gpg",     "--homedir",       home_.path().string(),
                                      "--batch", "--pinentry-mode", "loopback",
                                      "--yes",   "--passphrase",    ""};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        test::run(argv);
    }
    void make_key(const std::string& address, const std::string& kind = "ed25519",
                  const std::string& usage = "sign", const std::string& expires = "never") const {
        gpg({"--quick-gen-key", address, kind, usage, expires});
    }
    /// Exports keys into the file of the blueprint.
    void put_key(const std::vector<std::string>& names) {
        const std::string file = (home_.path() / "key.asc").string();
        std::vector<std::string> arguments{"--armor", "--output", file, "--export"};
        arguments.insert(arguments.end(), names.begin(), names.end());
        gpg(arguments);
        blueprint_.ostree.gpg_public_key = file;
    }
    [[nodiscard]] std::string fingerprint(const std::string& name) const {
        return test::output_of("gpg --homedir " + home_.path().string() +
                               " --with-colons --list-keys " + name +
                               " 2>/dev/null | awk -F: '/^fpr/ { print $10; exit }' | tr -d '\\n'");
    }
    [[nodiscard]] TrialSignature trial() const {
        return make_trial_signature(blueprint_.ostree.sign, blueprint_.ostree.gpg_homedir);
    }
    /// The error of the file, without the paths of this test.
    [[nodiscard]] std::string refusal(std::int64_t later = 0) const {
        return error_of([&] { DeviceKey(blueprint_, std::time(nullptr) + later); });
    }
    [[nodiscard]] std::string refusal_of_trial() const {
        return error_of(
            [&] { DeviceKey(blueprint_, std::time(nullptr)).require(Context{}, trial()); });
    }
    template <typename Call>
    [[nodiscard]] std::string error_of(const Call& call) const {
        try {
            call();
        } catch (const Error& failure) {
            std::string text = failure.render();
            const std::string place = home_.path().string() + "/";
            for (std::size_t at = text.find(place); at != std::string::npos;
                 at = text.find(place)) {
                text.erase(at, place.size());
            }
            return text;
        }
        return "none";
    }

    // NOLINTBEGIN(*-non-private-*)
    test::TemporaryDirectory home_;
    Blueprint blueprint_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(DeviceKeyTest, TheKeyOfSignIsFoundByAnyNameAmongSeveral) {
    make_key("a@x.invalid");
    make_key("b@x.invalid", "rsa2048");
    make_key("c@x.invalid", "nistp256");
    put_key({"a@x.invalid", "b@x.invalid", "c@x.invalid"});
    const std::string number = fingerprint("b@x.invalid");
    for (const std::string& sign :
         {std::string("b@x.invalid"), number, "0x" + number, number.substr(24), number + "!",
          std::string("c@x.invalid"), std::string("a@x.invalid")}) {
        blueprint_.ostree.sign = sign;
        EXPECT_EQ(refusal(), "none") << sign;
        EXPECT_EQ(refusal_of_trial(), "none") << sign;
    }
    EXPECT_THAT(DeviceKey(blueprint_, std::time(nullptr)).warnings(), IsEmpty());
}

TEST_F(DeviceKeyTest, AKeyOfAnotherIsRefusedEarlyByItsNumberAndElseByTheTrial) {
    make_key("a@x.invalid");
    make_key("b@x.invalid");
    put_key({"b@x.invalid"});
    blueprint_.ostree.sign = fingerprint("a@x.invalid");
    EXPECT_THAT(refusal(), HasSubstr("error: b.toml:3:1: gpg_public_key key.asc does not have the "
                                     "key " +
                                     blueprint_.ostree.sign +
                                     " (sign): devices would refuse every upgrade\n  it has "));
    blueprint_.ostree.sign = "a@x.invalid";
    EXPECT_EQ(refusal(), "none") << "a name says nothing of the key";
    EXPECT_THAT(refusal_of_trial(),
                HasSubstr("b.toml:3:1: gpg_public_key key.asc does not verify what a@x.invalid "
                          "signs: its key " +
                          fingerprint("a@x.invalid") + " is not in it: devices would refuse"));
    EXPECT_THAT(refusal_of_trial(),
                HasSubstr("hint: export it again: gpg --armor --export 'a@x.invalid' > 'key.asc'"));
}

TEST_F(DeviceKeyTest, ASubkeyThatWasAddedAfterTheExport) {
    make_key("a@x.invalid");
    put_key({"a@x.invalid"});
    blueprint_.ostree.sign = "a@x.invalid";
    EXPECT_EQ(refusal_of_trial(), "none");
    gpg({"--quick-add-key", fingerprint("a@x.invalid"), "ed25519", "sign", "never"});
    EXPECT_THAT(refusal_of_trial(), HasSubstr("gpg_public_key key.asc lacks the subkey "));
    EXPECT_THAT(refusal_of_trial(), HasSubstr(" of " + fingerprint("a@x.invalid") +
                                              ", with which GnuPG signs: devices would refuse"));
    put_key({"a@x.invalid"});
    EXPECT_EQ(refusal_of_trial(), "none");
}

TEST_F(DeviceKeyTest, ConfigurationThatSpoilsSignatures) {
    make_key("a@x.invalid");
    make_key("b@x.invalid");
    blueprint_.ostree.sign = "a@x.invalid";
    for (const bool with_file : {false, true}) {
        if (with_file) {
            put_key({"a@x.invalid", "b@x.invalid"});
        }
        write_file(home_.path() / "gpg.conf", "default-sig-expire 30d\n");
        EXPECT_EQ(
            refusal_of_trial(),
            "error: b.toml:3:1: signatures of a@x.invalid expire after 30 days: devices would "
            "refuse the commit from then on\nhint: remove default-sig-expire from gpg.conf\n");
        write_file(home_.path() / "gpg.conf", "local-user b@x.invalid\n");
        EXPECT_EQ(refusal_of_trial(),
                  "error: b.toml:3:1: GnuPG makes 2 signatures instead of one by a@x.invalid: "
                  "commits would be signed by keys that the blueprint does not name\n"
                  "hint: remove local-user from gpg.conf\n");
        write_file(home_.path() / "gpg.conf", "");
        EXPECT_EQ(refusal_of_trial(), "none");
    }
}

TEST_F(DeviceKeyTest, ExpiredAndRevokedKeys) {
    constexpr std::int64_t day = 86400;
    make_key("a@x.invalid", "ed25519", "sign", "30d");
    put_key({"a@x.invalid"});
    blueprint_.ostree.sign = "a@x.invalid";
    EXPECT_EQ(refusal(), "none");
    EXPECT_THAT(DeviceKey(blueprint_, std::time(nullptr)).warnings(),
                ElementsAre(HasSubstr("from then on devices refuse every upgrade")));
    EXPECT_THAT(refusal(31 * day), HasSubstr("has no key that can verify a commit: devices would"));
    EXPECT_THAT(refusal(31 * day), HasSubstr(" expired on "));
    make_key("b@x.invalid");
    const std::string number = fingerprint("b@x.invalid");
    const std::string revocation = (home_.path() / "openpgp-revocs.d" / (number + ".rev")).string();
    test::run({"sed", "-i", "s/^:---/---/", revocation});
    gpg({"--import", revocation});
    put_key({"b@x.invalid"});
    blueprint_.ostree.sign = number;
    EXPECT_THAT(refusal(), HasSubstr(" is revoked"));
}

TEST_F(DeviceKeyTest, KeysThatDevicesCannotVerify) {
    blueprint_.ostree.sign = "a@x.invalid";
    make_key("a@x.invalid", "brainpoolP256r1");
    put_key({"a@x.invalid"});
    EXPECT_THAT(refusal(), HasSubstr("has the curve brainpoolP256r1, which GnuPG of Enterprise "
                                     "Linux 8 does not know"));
    make_key("b@x.invalid");
    put_key({"b@x.invalid"});
    blueprint_.ostree.sign = "b@x.invalid";
    EXPECT_EQ(refusal(), "none");
    blueprint_.fips.enabled = true;
    EXPECT_THAT(refusal(), HasSubstr("has the curve Ed25519, which GnuPG refuses in FIPS mode"));
    make_key("c@x.invalid", "nistp384");
    put_key({"c@x.invalid"});
    blueprint_.ostree.sign = "c@x.invalid";
    EXPECT_EQ(refusal(), "none");
    make_key("d@x.invalid", "rsa2048", "cert");
    put_key({"d@x.invalid"});
    blueprint_.ostree.sign = "d@x.invalid";
    EXPECT_THAT(refusal(), HasSubstr(" is not for signing"));
}

TEST_F(DeviceKeyTest, AFileThatIsNoPublicKey) {
    blueprint_.ostree.sign = "a@x.invalid";
    const std::filesystem::path file = home_.path() / "key.asc";
    blueprint_.ostree.gpg_public_key = file;
    write_file(file, "");
    EXPECT_THAT(refusal(), HasSubstr("b.toml:3:1: gpg_public_key key.asc: the file is empty"));
    make_key("a@x.invalid");
    gpg({"--armor", "--output", file.string(), "--export-secret-keys", "a@x.invalid"});
    EXPECT_THAT(refusal(), HasSubstr("contains a private key"));
    blueprint_.ostree.gpg_public_key.clear();
    EXPECT_EQ(refusal(), "none");
}

TEST_F(DeviceKeyTest, SeveralSecretKeysOfOneName) {
    make_key("a@x.invalid");
    make_key("b@x.invalid");
    blueprint_.ostree.sign = "x.invalid";
    EXPECT_THAT(error_of([&] { static_cast<void>(trial()); }),
                HasSubstr("cannot sign with GPG key x.invalid: several secret keys have that name\n"
                          "  " +
                          fingerprint("a@x.invalid") + " (a@x.invalid)\n"));
}

TEST_F(DeviceKeyTest, TheKeysOfTheParent) {
    make_key("a@x.invalid");
    make_key("b@x.invalid");
    blueprint_.ostree.sign = "a@x.invalid";
    const TrialSignature signature = trial();
    const auto parent = [&](const std::vector<std::string>& names) {
        put_key(names);
        return std::map<std::string, std::string>{
            {"/etc/pki/edgegpu/edge.gpg", read_file(blueprint_.ostree.gpg_public_key)}};
    };
    EXPECT_EQ(refusal_by_parent(Context{}, {}, signature), "");
    EXPECT_EQ(refusal_by_parent(Context{}, {{"/etc/pki/edgegpu/x", "no key"}}, signature), "");
    EXPECT_EQ(refusal_by_parent(Context{}, parent({"a@x.invalid", "b@x.invalid"}), signature), "");
    EXPECT_EQ(refusal_by_parent(Context{}, parent({"b@x.invalid"}), signature),
              "the key " + fingerprint("a@x.invalid") + " is not in it");
}

}  // namespace
}  // namespace edgegpu
