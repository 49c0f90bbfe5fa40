#include "support/files/digest.hpp"

#include <cstdint>

#include <openssl/evp.h>

#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

struct Sha256::Impl {
    Handle<EVP_MD_CTX, EVP_MD_CTX_free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
    if (!impl_->context || EVP_DigestInit_ex(impl_->context.get(), EVP_sha256(), nullptr) != 1) {
        throw Error("OpenSSL cannot start a SHA-256 digest");
    }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t size) {
    if (EVP_DigestUpdate(impl_->context.get(), data, size) != 1) {
        throw Error("OpenSSL cannot continue a SHA-256 digest");
    }
}

void Sha256::update_field(std::string_view text) {
    std::array<unsigned char, 8> length{};
    std::uint64_t size = text.size();
    for (unsigned char& byte : length) {
        byte = static_cast<unsigned char>(size & 0xffU);
        size >>= 8U;
    }
    update(length.data(), length.size());
    update(text);
}

std::string Sha256::hex() {
    std::array<unsigned char, 32> digest{};
    unsigned int size = 0;
    if (EVP_DigestFinal_ex(impl_->context.get(), digest.data(), &size) != 1 || size != 32) {
        throw Error("OpenSSL cannot finish a SHA-256 digest");
    }
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string sha256_hex(std::string_view text) {
    Sha256 digest;
    digest.update(text);
    return digest.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
    const Fd file = open_to_read(path);
    Sha256 digest;
    each_piece(file.get(), path.string(), [&](std::string_view piece) { digest.update(piece); });
    return digest.hex();
}

}  // namespace edgegpu
