#include "machine/server_certificate.hpp"

#include <array>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using KeyHandle = Handle<EVP_PKEY, EVP_PKEY_free>;
using CertificateHandle = Handle<X509, X509_free>;
using BioHandle = Handle<BIO, BIO_free_all>;
using ExtensionHandle = Handle<X509_EXTENSION, X509_EXTENSION_free>;

constexpr long day_seconds = 86400;

/// Throws Error with OpenSSL's own reason if a call failed.
void require_done(bool done, const char* what) {
    if (!done) {
        std::array<char, 256> reason{};
        ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
        throw error("certificate of the file server: {}: {}", what, reason.data());
    }
}

bool is_address(const std::string& name) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

void add_extension(X509* certificate, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    require_done(extension && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

std::string text_in(BIO* memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    return {data, static_cast<std::size_t>(size)};
}

void set_serial(X509* certificate) {
    std::uint64_t serial = 0;
    require_done(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1 &&
                     ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U) == 1,
                 "serial number");
}

}  // namespace

ServerCertificate make_server_certificate(const std::string& name) {
    const KeyHandle key(EVP_EC_gen("P-256"));
    require_done(key != nullptr, "key");
    const CertificateHandle certificate(X509_new());
    require_done(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                     X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -day_seconds) &&
                     X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 7 * day_seconds) &&
                     X509_set_pubkey(certificate.get(), key.get()) == 1,
                 "fields");
    set_serial(certificate.get());
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    const std::string_view common_name = "edgegpu test";
    require_done(
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(common_name.data()),
                                   static_cast<int>(common_name.size()), -1, 0) == 1 &&
            X509_set_issuer_name(certificate.get(), subject) == 1,
        "name");
    add_extension(certificate.get(), NID_subject_alt_name,
                  (is_address(name) ? "IP:" : "DNS:") + name);
    // It is its own authority: clients are told to trust just this one.
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign");
    add_extension(certificate.get(), NID_ext_key_usage, "serverAuth");
    require_done(X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0, "signature");
    const BioHandle key_text(BIO_new(BIO_s_mem()));
    const BioHandle certificate_text(BIO_new(BIO_s_mem()));
    require_done(key_text && certificate_text &&
                     PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                                              nullptr, nullptr) == 1 &&
                     PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1,
                 "text");
    return {text_in(key_text.get()), text_in(certificate_text.get())};
}

}  // namespace edgegpu
