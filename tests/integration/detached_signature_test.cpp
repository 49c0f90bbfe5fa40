// Detached signatures made by gpg in every way that check_detached_signature tells apart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "openpgp/armor.hpp"
#include "openpgp/detached_signature.hpp"
#include "openpgp/gnupg.hpp"
#include "openpgp/packets.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {

/// Shows a verdict's number where two differ.
void PrintTo(SignatureVerdict verdict, std::ostream* out) {
    *out << static_cast<int>(verdict);
}

namespace {

namespace fs = std::filesystem;

// Keys are of 2020-01-01, signatures of 2020-06-01 unless said otherwise.
// clang-format off
constexpr const char* make_all = R"script(
set -euo pipefail
cd "$1"
export HOME=$PWD GNUPGHOME=$PWD/h LC_ALL=C TZ=UTC
mkdir -m 700 h
exec 2>log
trap 'status=$?; gpgconf --kill all || true; [ $status = 0 ] || tail -n 30 log; exit $status' EXIT

at() {
    local day=$1
    shift
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' --faked-system-time "${day}T000000!" "$@"
}
fpr() {
    gpg --batch --with-colons -k "=$1" | awk -F: -v n="$2" '/^fpr/ && ++i == n {print $10; exit}'
}
# sign NAME FINGERPRINT DAY [option]
sign() {
    local name=$1 key=$2 day=$3
    shift 3
    at "$day" --local-user "$key!" --allow-weak-digest-algos "$@" --output "$name.sig" --detach-sign content
}
new() {
    at 20200101 --quick-gen-key "$1" "$2" "$3" "${4:-never}"
}
printf 'content\n' > content

new rsa rsa2048 sign
rsa=$(fpr rsa 1)
sign rsa "$rsa" 20200601 --armor
sign binary "$rsa" 20200601
sign text "$rsa" 20200601 --textmode --armor
sign sha512 "$rsa" 20200601 --digest-algo SHA512 --armor
sign sha1 "$rsa" 20200601 --digest-algo SHA1 --armor
sign md5 "$rsa" 20200601 --digest-algo MD5 --armor
sign ends "$rsa" 20200601 --default-sig-expire 1d --armor
at 20200601 --local-user "$rsa" --armor --output clear.sig --clearsign content
new other rsa2048 sign
sign other "$(fpr other 1)" 20200601 --armor
at 20200601 --local-user "$(fpr other 1)" --output one.sig --detach-sign content
cat one.sig binary.sig > both.sig
cat other.sig rsa.sig > blocks.sig

new ed ed25519 cert
at 20200101 --quick-add-key "$(fpr ed 1)" ed25519 sign 1y
sign subkey "$(fpr ed 2)" 20200601 --armor
new ecdsa nistp256 sign
sign ecdsa "$(fpr ecdsa 1)" 20200601 --armor

new late ed25519 sign
sign late "$(fpr late 1)" 20201001 --armor
sign early "$(fpr late 1)" 20200801 --armor
at 20200702 --quick-set-expire "$(fpr late 1)" 20200901T000000

new use ed25519 cert
at 20200101 --quick-add-key "$(fpr use 1)" rsa2048 sign
sign use "$(fpr use 2)" 20200601 --armor
printf 'key 1\nchange-usage\nS\nE\nQ\nsave\n' | at 20200701 --expert --command-fd 0 --edit-key "$(fpr use 1)" >&2

gpg --batch --armor --export =rsa =ed =ecdsa =late =use > keys
gpg --batch --armor --export =other > other-keys
new revoked ed25519 sign
sign revoked "$(fpr revoked 1)" 20200601 --armor
sed 's/^:-----/-----/' "h/openpgp-revocs.d/$(fpr revoked 1).rev" > revocation
at 20200701 --import revocation
gpg --batch --armor --export =revoked >> keys
)script";
// clang-format on

class DetachedSignatures : public testing::Test {
protected:
    static void SetUpTestSuite() {
        work_ = new test::TemporaryDirectory;
        test::run({"bash", "-c", make_all, "make", work_->path().string()});
    }
    static void TearDownTestSuite() { delete work_; }

    static std::string content_of(const std::string& name) {
        return read_file(work_->path() / name);
    }
    static DetachedSignature check(const std::string& name,
                                   const std::string& content = "content\n") {
        static const std::vector<Certificate> keys = read_key_file(content_of("keys"), "keys");
        static const std::vector<OtherKeys> others{
            {"repository 'other'", read_key_file(content_of("other-keys"), "other-keys")}};
        return check_detached_signature(Context{}, content, content_of(name + ".sig"), keys,
                                        others);
    }
    static std::string message(const std::string& name) {
        return signature_error(check(name), "r", "repomd.xml", {}).message();
    }

    static test::TemporaryDirectory* work_;
};

test::TemporaryDirectory* DetachedSignatures::work_ = nullptr;

TEST_F(DetachedSignatures, GoodOnes) {
    for (const char* name :
         {"rsa", "binary", "text", "sha512", "subkey", "ecdsa", "early", "both", "blocks"}) {
        const DetachedSignature answer = check(name);
        EXPECT_EQ(answer.verdict, SignatureVerdict::good) << name << ": " << answer.detail;
        EXPECT_EQ(check(name, "tampered\n").verdict, SignatureVerdict::unfit_content) << name;
    }
    EXPECT_EQ(check("rsa").signer, "rsa");
    EXPECT_EQ(check("sha512").digest, "SHA-512");
}

TEST_F(DetachedSignatures, RefusedOnes) {
    EXPECT_EQ(check("sha1").verdict, SignatureVerdict::weak_digest);
    EXPECT_EQ(message("sha1"),
              "repository 'r': the signature of repomd.xml is refused: it was made over SHA-1, "
              "which can be forged");
    EXPECT_EQ(check("md5").verdict, SignatureVerdict::weak_digest);
    EXPECT_NE(message("md5").find("over MD5"), std::string::npos);
    EXPECT_EQ(check("late").verdict, SignatureVerdict::expired_key);
    EXPECT_EQ(message("late"),
              "repository 'r': the signature of repomd.xml is refused: it was made on 2020-10-01, "
              "after its key had expired on 2020-09-01");
    EXPECT_EQ(check("ends").verdict, SignatureVerdict::expired);
    EXPECT_EQ(check("use").verdict, SignatureVerdict::not_for_signing);
    EXPECT_EQ(check("revoked").verdict, SignatureVerdict::revoked_key);
}

/// A subkey that somebody has put into a file of keys, without the signature of its owner.
TEST_F(DetachedSignatures, AnUnboundSubkeyVerifiesNothing) {
    const auto packets_of = [](const std::string& owner) {
        for (const Certificate& one : read_key_file(content_of("keys"), "keys")) {
            if (one.user_ids.front() == owner) {
                return one.packets;
            }
        }
        return std::string();
    };
    const std::string other = packets_of("ed");
    std::string forged = packets_of("rsa");
    const auto packets = split_packets(other);
    ASSERT_TRUE(packets.has_value());
    for (const Packet& packet : *packets) {
        if (packet.tag == PacketTag::public_subkey) {
            forged += packet.whole;
        }
    }
    const std::vector<Certificate> keys = read_key_file(forged, "forged");
    const DetachedSignature answer =
        check_detached_signature(Context{}, "content\n", content_of("subkey.sig"), keys);
    EXPECT_EQ(answer.verdict, SignatureVerdict::not_for_signing);
    std::string detail;
    const auto signature = read_armor(content_of("subkey.sig"));
    EXPECT_EQ(ask_gnupg(Context{}, "content\n", signature.front().data, other, detail),
              GnupgAnswer::fits);
    EXPECT_EQ(ask_gnupg(Context{}, "content\n", signature.front().data, forged, detail),
              GnupgAnswer::refused);
    EXPECT_THAT(detail, testing::HasSubstr("gpg: "));
}

TEST_F(DetachedSignatures, OtherKey) {
    const DetachedSignature answer = check("other");
    EXPECT_EQ(answer.verdict, SignatureVerdict::other_key);
    EXPECT_EQ(answer.owner, "repository 'other'");
    EXPECT_EQ(answer.signer, "other");
    EXPECT_EQ(answer.key.size(), 40U);
}

TEST_F(DetachedSignatures, NoSignatures) {
    EXPECT_EQ(check("clear").verdict, SignatureVerdict::damaged)
        << "a clear-signed text brings content of its own";
    EXPECT_EQ(check_detached_signature(Context{}, "content\n", "", {}).verdict,
              SignatureVerdict::missing);
    for (const std::string& junk : {std::string(" "), std::string("\xff\xff"), std::string("\x88"),
                                    std::string("hello\n"), std::string(2U << 20U, 'A')}) {
        EXPECT_EQ(check_detached_signature(Context{}, "content\n", junk, {}).verdict,
                  SignatureVerdict::damaged);
    }
    const std::string whole = content_of("binary.sig");
    for (std::size_t size = 1; size < whole.size(); ++size) {
        EXPECT_EQ(
            check_detached_signature(Context{}, "content\n", whole.substr(0, size), {}).verdict,
            SignatureVerdict::damaged);
    }
}

TEST_F(DetachedSignatures, ManyThreads) {
    std::atomic<int> good{0};
    std::vector<std::thread> threads(6);
    for (std::thread& thread : threads) {
        thread = std::thread([&good] {
            if (check("rsa").verdict == SignatureVerdict::good &&
                check("rsa", "tampered\n").verdict == SignatureVerdict::unfit_content) {
                ++good;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(good, 6);
}

TEST_F(DetachedSignatures, NothingStaysBehind) {
    const test::TemporaryDirectory place;
    const char* before = std::getenv("TMPDIR");
    const std::string old = before == nullptr ? "" : before;
    ::setenv("TMPDIR", place.path().c_str(), 1);
    EXPECT_EQ(check("rsa").verdict, SignatureVerdict::good);
    before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old.c_str(), 1);
    EXPECT_TRUE(fs::is_empty(place.path()));
    for (const auto& process : fs::directory_iterator("/proc")) {
        std::error_code gone;
        const fs::path file = process.path() / "cmdline";
        if (fs::exists(file, gone)) {
            std::string line;
            try {
                line = read_file(file);
            } catch (const Error&) {
                continue;  // it ended meanwhile
            }
            EXPECT_EQ(line.find(place.path().string()), std::string::npos) << line;
        }
    }
}

}  // namespace
}  // namespace edgegpu
