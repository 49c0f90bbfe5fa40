#pragma once

#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "support/handles.hpp"

namespace edgegpu {

using CmsHandle = Handle<CMS_ContentInfo, CMS_ContentInfo_free>;
using X509Handle = Handle<X509, X509_free>;
using KeyHandle = Handle<EVP_PKEY, EVP_PKEY_free>;
using BioHandle = Handle<BIO, BIO_free_all>;

/// A BIO that reads `text`, which has to outlive it. Throws Error for more than 2 GiB.
[[nodiscard]] BioHandle open_memory(std::string_view text);

/// Callback for an encrypted key, so that OpenSSL does not ask for the passphrase on the terminal;
/// sets the bool that `asked` points to.
int refuse_passphrase(char* buffer, int size, int writing, void* asked) noexcept;

/// A certificate from DER or PEM; null if it is neither.
[[nodiscard]] X509Handle parse_certificate(std::string_view text);

/// The newest reason in OpenSSL's error queue, which is emptied; "unknown reason" if there is none.
[[nodiscard]] std::string take_openssl_error();

/// `object` in DER, encoded by its i2d function; empty on failure.
template <typename T, typename Encode>
std::string to_der(T* object, Encode encode) {
    unsigned char* bytes = nullptr;
    const int size = encode(object, &bytes);
    if (size < 0) {
        return {};
    }
    std::string der(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return der;
}

}  // namespace edgegpu
