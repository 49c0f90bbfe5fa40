#include "support/ed25519.hpp"

#include <algorithm>
#include <climits>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "support/base64.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using PublicKeyHandle = Handle<EVP_PKEY, EVP_PKEY_free>;
using TextBio = Handle<BIO, BIO_free_all>;
using DigestHandle = Handle<EVP_MD_CTX, EVP_MD_CTX_free>;

constexpr std::size_t key_size = 32;
constexpr std::size_t signature_size = 64;

std::vector<std::string> read_pem(std::string_view text) {
    std::vector<std::string> keys;
    if (text.size() > INT_MAX) {
        return keys;
    }
    const TextBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    while (const PublicKeyHandle key{PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr)}) {
        std::string bytes(key_size, '\0');
        std::size_t size = bytes.size();
        if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519 &&
            EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(bytes.data()),
                                        &size) == 1) {
            keys.push_back(std::move(bytes));
        }
    }
    ERR_clear_error();
    return keys;
}

bool is_by(const std::string& key, std::string_view content, std::string_view signature) {
    const PublicKeyHandle handle(EVP_PKEY_new_raw_public_key(
        EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(key.data()), key.size()));
    const DigestHandle digest(EVP_MD_CTX_new());
    const bool good =
        handle && digest &&
        EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
        EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                         signature.size(), reinterpret_cast<const unsigned char*>(content.data()),
                         content.size()) == 1;
    ERR_clear_error();
    return good;
}

}  // namespace

std::vector<std::string> read_ed25519_keys(std::string_view text) {
    if (text.find("-----BEGIN") != std::string_view::npos) {
        return read_pem(text);
    }
    std::vector<std::string> keys;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string key = from_base64(std::string(text.substr(0, end)));
        if (key.size() == key_size) {
            keys.push_back(std::move(key));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return keys;
}

std::string ed25519_key_file(const std::vector<std::string>& keys) {
    return sum_of(keys, [](const std::string& key) { return to_base64(key) + '\n'; });
}

bool verifies_ed25519(const std::vector<std::string>& keys, std::string_view content,
                      std::string_view signature) {
    return signature.size() == signature_size &&
           std::ranges::any_of(
               keys, [&](const std::string& key) { return is_by(key, content, signature); });
}

}  // namespace edgegpu
