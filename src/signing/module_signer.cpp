#include "signing/module_signer.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t size_limit = 1U << 20U;

std::string read_request_file(const ModuleKey& request, const std::filesystem::path& path) {
    try {
        return read_file(path, size_limit);
    } catch (const Error& problem) {
        throw error_at(request.location, "{}", problem.message());
    }
}

KeyHandle read_key(const ModuleKey& request) {
    std::string text = read_request_file(request, request.key);
    bool asked = false;
    KeyHandle key(
        PEM_read_bio_PrivateKey(open_memory(text).get(), nullptr, refuse_passphrase, &asked));
    OPENSSL_cleanse(text.data(), text.size());
    if (!key) {
        ERR_clear_error();
        throw error_at(
            request.location, "{}: {}", request.key.string(),
            asked ? "the private key is protected by a passphrase" : "not a private key (PEM)")
            .hinted(asked ? "builds are non-interactive: use a key without passphrase, readable by "
                            "root only (openssl pkey -in OLD -out NEW)"
                          : "openssl req -new -x509 -newkey rsa:2048 -noenc -keyout KEY -outform "
                            "DER -out CERTIFICATE makes a pair");
    }
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
        throw error_at(request.location, "{}: not an RSA key", request.key.string())
            .hinted("signatures of other keys differ in each build, and so would each image");
    }
    return key;
}

}  // namespace

ModuleSigner::ModuleSigner(const ModuleKey& request)
    : name_(request.certificate.stem().string()),
      key_(read_key(request)),
      certificate_(parse_certificate(read_request_file(request, request.certificate))) {
    if (!certificate_) {
        throw error_at(request.location, "{}: not a certificate (PEM or DER)",
                       request.certificate.string());
    }
    if (X509_check_private_key(certificate_.get(), key_.get()) != 1) {
        ERR_clear_error();
        throw error_at(request.location, "the certificate {} does not belong to the key {}",
                       request.certificate.string(), request.key.string())
            .hinted("devices that trust this certificate would refuse the modules");
    }
}

std::string ModuleSigner::signature(std::string_view module) const {
    const BioHandle data = open_memory(module);
    constexpr unsigned flags = CMS_NOCERTS | CMS_BINARY;
    const CmsHandle message(
        CMS_sign(nullptr, nullptr, nullptr, nullptr, flags | CMS_PARTIAL | CMS_DETACHED));
    if (!message ||
        CMS_add1_signer(message.get(), certificate_.get(), key_.get(), EVP_sha256(),
                        flags | CMS_NOSMIMECAP | CMS_NOATTR) == nullptr ||
        CMS_final(message.get(), data.get(), nullptr, flags) != 1) {
        throw error("OpenSSL cannot sign a kernel module: {}", take_openssl_error());
    }
    const std::string der = to_der(message.get(), i2d_CMS_ContentInfo);
    SignatureTrailer trailer;
    for (unsigned i = 0; i < trailer.size.size(); ++i) {
        trailer.size[i] = static_cast<std::uint8_t>(der.size() >> (8 * (3 - i)));
    }
    std::string out = der;
    out.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    out += signature_marker;
    return out;
}

std::string ModuleSigner::certificate() const {
    return to_der(certificate_.get(), i2d_X509);
}

}  // namespace edgegpu
