#include "signing/ed25519_signer.hpp"

#include <algorithm>
#include <cctype>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_file = 1U << 16U;
constexpr std::size_t seed_size = 32;
constexpr std::size_t pair_size = 64;

/// A text that is overwritten when it is no longer needed.
struct SecretText {
    std::string bytes;

    explicit SecretText(std::string text) : bytes(std::move(text)) {}
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    ~SecretText() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

Error no_key(const std::filesystem::path& file, std::string_view what) {
    return error(ErrorKind::usage, "{}: {}", file.string(), what)
        .hinted("openssl genpkey -algorithm ed25519 -out FILE makes a key");
}

KeyHandle read_pem_key(const std::filesystem::path& file, const SecretText& text) {
    bool asked = false;
    KeyHandle key(
        PEM_read_bio_PrivateKey(open_memory(text.bytes).get(), nullptr, refuse_passphrase, &asked));
    ERR_clear_error();
    if (asked) {
        throw no_key(file,
                     "the private key is protected by a passphrase, which nobody is asked for");
    }
    if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) {
        throw no_key(file, "not an ed25519 private key");
    }
    return key;
}

std::string raw_public_key(EVP_PKEY* key) {
    std::string bytes(seed_size, '\0');
    std::size_t size = bytes.size();
    if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(bytes.data()), &size) !=
        1) {
        throw error("OpenSSL: {}", take_openssl_error());
    }
    return bytes;
}

std::string read_secret_file(const std::filesystem::path& file) {
    try {
        return read_file(file, largest_file);
    } catch (const Error& failure) {
        throw Error(ErrorKind::usage, failure.message());
    }
}

KeyHandle read_secret_key(const std::filesystem::path& file) {
    const SecretText text(read_secret_file(file));
    if (text.bytes.find("-----BEGIN") != std::string::npos) {
        return read_pem_key(file, text);
    }
    // g_base64_decode would take anything: a GPG key, or several keys, for one.
    const bool plain = std::ranges::all_of(text.bytes, [](unsigned char byte) {
        return std::isalnum(byte) != 0 || byte == '+' || byte == '/' || byte == '=' ||
               byte == '\n' || byte == '\r';
    });
    const SecretText bytes(plain ? from_base64(text.bytes) : std::string());
    if (bytes.bytes.size() != seed_size && bytes.bytes.size() != pair_size) {
        throw no_key(file, "not an ed25519 secret key (base64 of 64 or 32 bytes, or PEM)");
    }
    KeyHandle key(EVP_PKEY_new_raw_private_key(
        EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(bytes.bytes.data()),
        seed_size));
    if (!key) {
        throw error("OpenSSL: {}", take_openssl_error());
    }
    if (bytes.bytes.size() == pair_size &&
        bytes.bytes.compare(seed_size, seed_size, raw_public_key(key.get())) != 0) {
        throw no_key(file, "its second half is not the public key of its first half");
    }
    return key;
}

}  // namespace

Ed25519Signer::Ed25519Signer(const std::filesystem::path& file)
    : key_(read_secret_key(file)), public_key_(raw_public_key(key_.get())) {}

std::string Ed25519Signer::signature(std::string_view content) const {
    const Handle<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    std::string bytes(pair_size, '\0');
    std::size_t size = bytes.size();
    if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size,
                       reinterpret_cast<const unsigned char*>(content.data()),
                       content.size()) != 1 ||
        size != bytes.size()) {
        throw error("OpenSSL cannot sign: {}", take_openssl_error());
    }
    return bytes;
}

}  // namespace edgegpu
