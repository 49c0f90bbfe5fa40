// Package signatures: verdicts beside those of `rpmkeys -K` with the same key file, case by case.
// Where edgegpu is stricter on purpose, the case says so and rpmkeys must say OK. ECDSA is not
// among the cases: librpm 4.18 knows no ECDSA, so that rpmsign fails ("Unsupported PGP signature"),
// and rpmkeys imports no such key. The day rpmsign makes one, it belongs here.

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "openpgp/package_signature.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

using test::run;

// Makes keys/NAME and rpms/NAME.rpm from tiny.rpm. Keys are of 2020-01-01, signatures of 2020-06-01
// unless said otherwise.
// clang-format off
constexpr const char* make_oracle_packages = R"script(
set -euo pipefail
cd "$1"
export HOME=$PWD GNUPGHOME=$PWD/h LC_ALL=C TZ=UTC
mkdir -m 700 h
mkdir keys rpms
exec 2>log
trap 'status=$?; gpgconf --kill all || true; [ $status = 0 ] || tail -n 30 log; exit $status' EXIT

at() {
    local day=$1
    shift
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' --faked-system-time "${day}T000000!" "$@"
}
edit() {
    at 20200701 --expert --command-fd 0 --edit-key "$1" >&2
}
# fpr UID N: fingerprint of its primary key (1), first subkey (2), ...
fpr() {
    gpg --batch --with-colons -k "=$1" | awk -F: -v n="$2" '/^fpr/ && ++i == n {print $10; exit}'
}
new() {
    at 20200101 --quick-gen-key "$1" "$2" "$3" "${4:-never}"
}
add() {
    at 20200101 --quick-add-key "$(fpr "$1" 1)" "$2" sign "${3:-never}"
}
export_key() {
    local name=$1
    shift
    gpg --batch --armor --export "${@/#/=}" > "keys/$name"
}
# sign NAME FINGERPRINT [DIGEST [DAY [option of rpmsign]]]
sign() {
    cp tiny.rpm "rpms/$1.rpm"
    rpmsign --addsign ${5:-} --define "_gpg_name $2!" --define "_gpg_path $GNUPGHOME" \
        --define "__gpg /usr/bin/gpg" --define "_gpg_digest_algo ${3:-sha256}" --define \
        "_gpg_sign_cmd_extra_args --allow-weak-digest-algos --faked-system-time ${4:-20200601}T000000!" \
        "rpms/$1.rpm" >&2
}

new rsa rsa2048 sign
new ed ed25519 sign
new dsa dsa2048 sign
for key in rsa ed dsa; do
    sign $key "$(fpr $key 1)"
    export_key $key $key
done
for digest in md5 sha1 sha224 sha384 sha512; do
    sign $digest "$(fpr rsa 1)" $digest
done
sign v3-rsa "$(fpr rsa 1)" sha256 20200601 --rpmv3
sign v3-ed "$(fpr ed 1)" sha256 20200601 --rpmv3
sign v3-sha1 "$(fpr rsa 1)" sha1 20200601 --rpmv3

export_key several rsa ed dsa
{ echo "Our keys. First:"; cat keys/rsa; echo "and - not the last - then:"; cat keys/ed; echo bye; } > keys/blocks
gpg --batch --export =rsa > keys/binary
gpg --batch --export =rsa =ed > keys/binary-several
sed 's/$/\r/' keys/rsa > keys/crlf
grep -v '^=....$' keys/rsa > keys/no-checksum
head -n 8 keys/rsa > keys/truncated
at 20200101 --armor --export-secret-keys =ed > keys/private
echo '<!DOCTYPE html><html><body>404</body></html>' > keys/html
: > keys/empty

new with-rsa ed25519 cert
export_key with-rsa-before with-rsa
add with-rsa rsa2048
sign with-rsa "$(fpr with-rsa 2)"
export_key with-rsa with-rsa
cat keys/with-rsa-before keys/with-rsa > keys/with-rsa-twice
new with-ed rsa2048 sign
add with-ed ed25519
sign with-ed "$(fpr with-ed 2)"
sign with-ed-primary "$(fpr with-ed 1)"
sign with-ed-sha1 "$(fpr with-ed 2)" sha1
export_key with-ed with-ed
add with-ed ed25519
sign with-two "$(fpr with-ed 3)"
export_key with-two with-ed
printf 'key 1\nrevkey\ny\n1\n\ny\nsave\n' | edit with-ed
export_key with-revoked with-ed
export_key many rsa ed dsa with-rsa

new passing ed25519 sign 1y
sign passing "$(fpr passing 1)"
export_key passing passing
at 20200801 --quick-set-expire "$(fpr passing 1)" 20300101T000000
sign prolonged "$(fpr passing 1)" sha256 20210601
export_key prolonged passing
new passing-sub rsa2048 cert
add passing-sub rsa2048 1y
sign passing-sub "$(fpr passing-sub 2)"
export_key passing-sub passing-sub
new late ed25519 sign
sign late "$(fpr late 1)" sha256 20201001
sign early "$(fpr late 1)" sha256 20200801
at 20200702 --quick-set-expire "$(fpr late 1)" 20200901T000000
export_key late late
new late-sub ed25519 cert
add late-sub ed25519
sign late-sub "$(fpr late-sub 2)" sha256 20201001
at 20200702 --quick-set-expire "$(fpr late-sub 1)" 20200901T000000 '*'
export_key late-sub late-sub

new revoked ed25519 sign
add revoked ed25519
sign revoked "$(fpr revoked 1)"
sign revoked-sub "$(fpr revoked 2)"
export_key unrevoked revoked
sed 's/^:-----/-----/' "h/openpgp-revocs.d/$(fpr revoked 1).rev" > revocation
at 20200701 --import revocation
export_key revoked revoked
cat keys/unrevoked keys/revoked > keys/revoked-twice

new other-use ed25519 cert
add other-use rsa2048
sign other-use "$(fpr other-use 2)"
printf 'key 1\nchange-usage\nS\nE\nQ\nsave\n' | edit other-use
export_key other-use other-use
new certifies rsa2048 sign
sign certifies "$(fpr certifies 1)"
printf 'change-usage\nS\nQ\nsave\n' | edit certifies
export_key certifies certifies
)script";
// clang-format on

/// What both are asked, and what edgegpu has to say: "" takes the package.
struct Case {
    std::string package;
    std::string keys;
    std::string refusal = {};
    /// rpmkeys takes what edgegpu refuses.
    bool stricter = false;
    /// edgegpu takes what rpmkeys 4.18 refuses for the key file's form: binary, without a checksum,
    /// the same key twice, a key with a revoked subkey.
    bool laxer = false;
};

const std::vector<Case>& cases() {
    const std::string no_key = "was not signed with a key of its repository";
    const std::string damaged = "truncated or damaged";
    const std::string revoked = "its key was revoked";
    const std::string late = "it was made after its key had expired";
    const std::string other_use = "its key is not for signing";
    static const std::vector<Case> all{
        // algorithms and digests
        {"rsa", "rsa"},
        {"ed", "ed"},
        {"dsa", "dsa"},
        {"sha224", "rsa"},
        {"sha384", "rsa"},
        {"sha512", "rsa"},
        {"sha1", "rsa", "it was made over SHA-1, which can be forged", true},
        {"md5", "rsa", "it was made over MD5, which can be forged", true},
        // header and payload, as before RPM 4.14
        {"v3-rsa", "rsa"},
        {"v3-ed", "ed"},
        {"v3-sha1", "rsa", "it was made over SHA-1", true},
        // key files
        {"rsa", "several"},
        {"dsa", "several"},
        {"rsa", "blocks"},
        {"ed", "blocks"},
        {"rsa", "binary", "", false, true},
        {"ed", "binary-several", "", false, true},
        {"rsa", "crlf"},
        {"rsa", "no-checksum", "", false, true},
        {"ed", "many"},
        {"with-rsa", "many"},
        {"rsa", "truncated", "a damaged OpenPGP key"},
        {"ed", "private", "contains a private key"},
        {"rsa", "html", "a web page"},
        {"rsa", "empty", "the file is empty"},
        // subkeys
        {"with-rsa", "with-rsa"},
        {"with-ed", "with-ed"},
        {"with-ed-primary", "with-ed"},
        {"with-ed-sha1", "with-ed", "it was made over SHA-1", true},
        {"with-two", "with-two"},
        {"with-ed", "with-two"},
        {"with-two", "with-ed", no_key},
        {"with-rsa", "with-rsa-before", no_key},
        {"with-rsa", "with-rsa-twice", "", false, true},
        // times
        {"passing", "passing"},
        {"passing-sub", "passing-sub"},
        {"prolonged", "prolonged"},
        {"prolonged", "passing", late, true},
        {"early", "late"},
        {"late", "late", late, true},
        {"late-sub", "late-sub", late, true},
        // revocations and uses
        {"with-ed", "with-revoked", revoked},
        {"with-ed-primary", "with-revoked", "", false, true},
        {"with-two", "with-revoked", "", false, true},
        {"revoked", "unrevoked"},
        {"revoked", "revoked", revoked, true},
        {"revoked-sub", "revoked", revoked, true},
        {"revoked", "revoked-twice", revoked, true},
        {"other-use", "other-use", other_use},
        {"certifies", "certifies", other_use, true},
        // packages
        {"unsigned", "rsa", "is not signed"},
        {"rsa", "ed", no_key},
        {"ed", "with-ed", no_key},
        {"bad-payload", "ed", damaged},
        {"bad-header", "ed", damaged},
        {"bad-signature", "ed", "does not match it"},
        {"bad-payload", "rsa", damaged},
        {"short", "ed", damaged},
        {"shorter", "ed", damaged},
        {"nothing", "ed", damaged},
    };
    return all;
}

std::string with_flipped_byte(std::string content, std::size_t place) {
    content.at(place) = static_cast<char>(content.at(place) ^ 0x10);
    return content;
}

class SignatureOracle : public testing::Test {
protected:
    void make() {
        const std::string description(20000, 'x');
        test::build_rpm(work_.path(),
                        "Name: tiny\nVersion: 1\nRelease: 1\nSummary: signed here\n"
                        "License: MIT\nBuildArch: noarch\n%description\n" +
                            description + "\n%files\n");
        fs::copy_file(work_.path() / "Packages/tiny-1-1.noarch.rpm", work_.path() / "tiny.rpm");
        run({"bash", "-c", make_oracle_packages, "make", work_.path().string()});
        fs::copy_file(work_.path() / "tiny.rpm", rpm("unsigned"));
        const std::string good = read_file(rpm("ed"));
        write_file(rpm("bad-payload"), with_flipped_byte(good, good.size() - 12));
        write_file(rpm("bad-header"), with_flipped_byte(good, good.find("signed here")));
        // An EdDSA signature of version 4 of a file; its numbers are behind the subpackets.
        const std::size_t packet = good.find(std::string("\x04\x00\x16\x08", 4));
        write_file(rpm("bad-signature"), with_flipped_byte(good, packet + 100));
        write_file(rpm("short"), good.substr(0, good.size() - 5));
        write_file(rpm("shorter"), good.substr(0, 300));
        write_file(rpm("nothing"), "");
    }

    [[nodiscard]] fs::path rpm(const std::string& name) const {
        return work_.path() / "rpms" / (name + ".rpm");
    }

    /// edgegpu's message, "" where it takes the package.
    [[nodiscard]] std::string refusal(const Case& c) const {
        try {
            const PackageKeys keys({read_file(work_.path() / "keys" / c.keys)}, {"KEY"});
            keys.verify(rpm(c.package), c.package, "tiny");
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_NE(problem.hint(), "");
            return problem.message();
        }
        return "";
    }

    bool rpmkeys_takes(const Case& c) {
        const fs::path database = work_.path() / ("db-" + c.keys);
        if (!fs::exists(database)) {
            fs::create_directories(database);
            static_cast<void>(rpmkeys(database, {"--import", (work_.path() / "keys" / c.keys)}));
        }
        return rpmkeys(database, {"--define=_pkgverify_level all", "-K", rpm(c.package)});
    }

private:
    [[nodiscard]] bool rpmkeys(const fs::path& database,
                               const std::vector<std::string>& arguments) const {
        std::vector<std::string> argv{"env", "HOME=" + work_.path().string(), "LC_ALL=C", "rpmkeys",
                                      "--dbpath=" + database.string()};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        try {
            run(argv);
        } catch (const std::runtime_error&) {
            return false;
        }
        return true;
    }

    test::TemporaryDirectory work_;
};

TEST_F(SignatureOracle, AgreesWithRpmkeys) {
    make();
    for (const Case& c : cases()) {
        SCOPED_TRACE("package " + c.package + ", key file " + c.keys);
        const std::string said = refusal(c);
        if (c.refusal.empty()) {
            EXPECT_EQ(said, "");
        } else {
            EXPECT_NE(said.find(c.refusal), std::string::npos) << "said: " << said;
        }
        EXPECT_EQ(rpmkeys_takes(c), c.laxer ? false : c.stricter || c.refusal.empty());
    }
}

}  // namespace
}  // namespace edgegpu
