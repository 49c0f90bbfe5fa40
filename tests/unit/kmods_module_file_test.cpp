#include "kmods/module_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "kmods_fixture.hpp"
#include "signing/module_signer.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::make_module;
using test::run;
using test::TemporaryDirectory;
using testing::HasSubstr;
using namespace std::string_literals;

const std::string& plain_module() {
    static const std::string module = make_module(
        "version=535.261.03\0license=Dual MIT/GPL\0"
        "vermagic=6.1.0-47-amd64 SMP preempt mod_unload modversions \0"s);
    return module;
}

/// A key with its certificate, as `openssl req` makes them.
class ModuleSigning : public testing::Test {
protected:
    ModuleKey request(const std::string& name, const std::string& algorithm = "rsa:2048") {
        ModuleKey made;
        made.key = directory_.path() / (name + ".key");
        made.certificate = directory_.path() / (name + ".der");
        made.location = {"b.toml", 7, 1};
        std::vector<std::string> argv{"openssl", "req",     "-new",   "-x509",
                                      "-noenc",  "-newkey", algorithm};
        if (algorithm == "ec") {
            argv.insert(argv.end(), {"-pkeyopt", "ec_paramgen_curve:P-256"});
        }
        argv.insert(argv.end(),
                    {"-keyout", made.key.string(), "-outform", "DER", "-out",
                     made.certificate.string(), "-days", "3650", "-subj", "/CN=" + name});
        run(argv);
        return made;
    }

    static std::string reading_failure(const ModuleKey& request) {
        try {
            const ModuleSigner signer(request);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.message();
        }
        return "";
    }

    TemporaryDirectory directory_;
};

std::string reading_failure(std::string_view module) {
    try {
        static_cast<void>(read_module(module, "x.ko"));
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

TEST(ModuleFile, ReadsModinfo) {
    const ModuleInfo info = read_module(plain_module(), "x.ko");
    EXPECT_EQ(info.value("version"), "535.261.03");
    EXPECT_EQ(info.kernel(), "6.1.0-47-amd64");
    EXPECT_EQ(info.value("srcversion"), "");
    EXPECT_FALSE(info.signature.has_value());
}

TEST(ModuleFile, RefusesWhatIsNoModule) {
    EXPECT_THAT(reading_failure(""), HasSubstr("x.ko: the kernel module is truncated"));
    EXPECT_THAT(reading_failure(std::string(100, 'x')), HasSubstr("x.ko: not a kernel module"));
    const std::string& module = plain_module();
    for (std::size_t size = 0; size < module.size(); ++size) {
        EXPECT_NE(reading_failure(std::string_view(module).substr(0, size)), "") << size;
    }
}

TEST(ModuleFile, SurvivesAnyDamage) {
    std::string module = plain_module();
    for (std::size_t i = 0; i < module.size(); ++i) {
        const char before = module[i];
        for (const char value : {'\xff', '\x7f', '\0'}) {
            module[i] = value;
            const std::string failure = reading_failure(module);
            EXPECT_TRUE(failure.empty() || failure.starts_with("x.ko: ")) << failure;
        }
        module[i] = before;
    }
    EXPECT_EQ(reading_failure(module), "");
}

TEST(ModuleFile, UnpacksCompressedModules) {
    const TemporaryDirectory directory;
    const auto path = directory.path() / "x.ko";
    for (const auto& [program, suffix] :
         {std::pair{"gzip", ".gz"}, std::pair{"xz", ".xz"}, std::pair{"zstd", ".zst"}}) {
        write_file(path, plain_module());
        run({program, path.string()});
        const std::string packed = read_file(path.string() + suffix);
        EXPECT_NE(packed, plain_module());
        EXPECT_EQ(unpack_module(packed, "x.ko"), plain_module()) << program;
        std::filesystem::remove(path);
    }
    EXPECT_EQ(unpack_module(plain_module(), "x.ko"), plain_module());
    EXPECT_THROW(static_cast<void>(unpack_module("", "x.ko")), Error);
}

TEST(ModuleFile, RefusesMalformedSignatures) {
    const std::string marker(signature_marker);
    EXPECT_THAT(reading_failure(plain_module() + marker), HasSubstr("the signature at its end"));
    std::string trailer(12, '\0');
    EXPECT_THAT(reading_failure(plain_module() + trailer + marker), HasSubstr("malformed"));
    trailer[2] = 2;
    EXPECT_THAT(reading_failure(plain_module() + trailer + marker), HasSubstr("not a PKCS#7"));
    trailer[8] = '\x7f';
    EXPECT_THAT(reading_failure(plain_module() + trailer + marker), HasSubstr("malformed"));
}

TEST_F(ModuleSigning, SignsAsSignFileDoes) {
    const ModuleKey key = request("edge");
    const ModuleSigner signer(key);
    const std::string signed_module = plain_module() + signer.signature(plain_module());
    EXPECT_EQ(signer.signature(plain_module()), ModuleSigner(key).signature(plain_module()));
    EXPECT_TRUE(signed_module.ends_with("~Module signature appended~\n"));

    const ModuleInfo info = read_module(signed_module, "x.ko");
    EXPECT_EQ(info.kernel(), "6.1.0-47-amd64");
    ASSERT_TRUE(info.signature.has_value());
    EXPECT_EQ(info.signature->signed_size, plain_module().size());
    EXPECT_EQ(info.signature->signer, "CN=edge");
    EXPECT_GE(info.signature->key_id.size(), 8U);

    // The message as openssl itself sees it.
    write_file(directory_.path() / "message", info.signature->message);
    write_file(directory_.path() / "module", plain_module());
    run({"openssl", "cms", "-verify", "-binary", "-inform", "DER", "-noverify", "-in",
         (directory_.path() / "message").string(), "-content",
         (directory_.path() / "module").string(), "-certfile", key.certificate.string(), "-out",
         "/dev/null"});
}

TEST_F(ModuleSigning, ChecksSignatures) {
    const ModuleSigner signer(request("edge"));
    const ModuleSigner other(request("other"));
    std::string module = plain_module() + signer.signature(plain_module());
    const ModuleSignature signature = *read_module(module, "x.ko").signature;
    EXPECT_EQ(signature_fits(module, signature, signer.certificate()), true);
    EXPECT_EQ(signature_fits(module, signature, other.certificate()), std::nullopt);
    EXPECT_EQ(signature_fits(module, signature, "no certificate"), std::nullopt);
    module[70] = static_cast<char>(module[70] ^ 1);
    EXPECT_EQ(signature_fits(module, signature, signer.certificate()), false);
}

TEST_F(ModuleSigning, RefusesKeysThatDoNotFit) {
    const ModuleKey one = request("one");
    ModuleKey mixed = one;
    mixed.certificate = request("two").certificate;
    EXPECT_THAT(reading_failure(mixed), HasSubstr("b.toml:7:1: the certificate "));
    EXPECT_THAT(reading_failure(mixed), HasSubstr("does not belong to the key"));
    EXPECT_THAT(reading_failure(request("curve", "ec")), HasSubstr("not an RSA key"));

    ModuleKey broken = one;
    broken.key = one.certificate;
    EXPECT_THAT(reading_failure(broken), HasSubstr("not a private key (PEM)"));
    broken = one;
    broken.certificate = one.key;
    EXPECT_THAT(reading_failure(broken), HasSubstr("not a certificate"));
    broken.key = directory_.path() / "nothing";
    EXPECT_THAT(reading_failure(broken), HasSubstr("nothing"));

    ModuleKey locked = one;
    locked.key = directory_.path() / "locked.key";
    run({"openssl", "pkey", "-in", one.key.string(), "-aes256", "-passout", "pass:secret", "-out",
         locked.key.string()});
    EXPECT_THAT(reading_failure(locked), HasSubstr("protected by a passphrase"));
}

}  // namespace
}  // namespace edgegpu
