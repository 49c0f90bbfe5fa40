#include "signing/openssl.hpp"

#include <climits>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "support/error.hpp"

namespace edgegpu {

BioHandle open_memory(std::string_view text) {
    if (text.size() > INT_MAX) {
        throw Error("a file of more than 2 GiB cannot be signed or verified");
    }
    BioHandle bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    if (!bio) {
        throw Error("OpenSSL: " + take_openssl_error());
    }
    return bio;
}

int refuse_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) noexcept {
    *static_cast<bool*>(asked) = true;
    return -1;
}

X509Handle parse_certificate(std::string_view text) {
    const BioHandle bio = open_memory(text);
    const bool pem = text.find("-----BEGIN") != std::string_view::npos;
    X509Handle certificate(pem ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)
                               : d2i_X509_bio(bio.get(), nullptr));
    if (!certificate) {
        ERR_clear_error();
    }
    return certificate;
}

std::string take_openssl_error() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason != nullptr ? reason : "unknown reason";
}

}  // namespace edgegpu
