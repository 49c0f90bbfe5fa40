#include "support/files/checksum.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

struct AlgorithmRow {
    ChecksumAlgorithm algorithm;
    std::string_view name;
    std::size_t digits;
    const EVP_MD* (*digest)();
};

constexpr std::array<AlgorithmRow, 5> algorithms{{
    {ChecksumAlgorithm::sha1, "sha1", 40, EVP_sha1},
    {ChecksumAlgorithm::sha224, "sha224", 56, EVP_sha224},
    {ChecksumAlgorithm::sha256, "sha256", 64, EVP_sha256},
    {ChecksumAlgorithm::sha384, "sha384", 96, EVP_sha384},
    {ChecksumAlgorithm::sha512, "sha512", 128, EVP_sha512},
}};

const AlgorithmRow& row_of(ChecksumAlgorithm algorithm) {
    return *std::ranges::find_if(
        algorithms, [&](const AlgorithmRow& row) { return row.algorithm == algorithm; });
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Lower case, without the hyphen of "sha-256".
std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '-') {
            plain += lower(c);
        }
    }
    return plain;
}

}  // namespace

std::string_view checksum_name(ChecksumAlgorithm algorithm) {
    return row_of(algorithm).name;
}

std::size_t checksum_digits(ChecksumAlgorithm algorithm) {
    return row_of(algorithm).digits;
}

std::optional<ChecksumAlgorithm> checksum_algorithm(std::string_view name) {
    const std::string plain = plain_name(name);
    if (plain == "sha") {
        return ChecksumAlgorithm::sha1;
    }
    for (const AlgorithmRow& row : algorithms) {
        if (plain == row.name) {
            return row.algorithm;
        }
    }
    return std::nullopt;
}

std::string Checksum::text() const {
    return std::string(checksum_name(algorithm)) + ":" + hex;
}

Checksum make_checksum(std::string_view name, std::string_view hex) {
    const auto algorithm = checksum_algorithm(name);
    if (!algorithm) {
        if (plain_name(name) == "md5") {
            throw error("MD5 checksums are not secure and not accepted");
        }
        throw error("'{}' is not a supported kind of checksum", name);
    }
    Checksum checksum{*algorithm, ""};
    checksum.hex.reserve(hex.size());
    for (const char c : hex) {
        checksum.hex += lower(c);
    }
    const bool good = hex.size() == checksum_digits(*algorithm) && is_hexadecimal(checksum.hex);
    if (!good) {
        throw error("'{}' is not a {} checksum of {} hexadecimal digits", hex.substr(0, 160),
                    checksum_name(*algorithm), checksum_digits(*algorithm));
    }
    return checksum;
}

Checksum parse_checksum(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        throw error("'{}' is not a checksum of the form sha256:DIGITS", text.substr(0, 160));
    }
    return make_checksum(text.substr(0, colon), text.substr(colon + 1));
}

struct Digester::Impl {
    ChecksumAlgorithm algorithm;
    Handle<EVP_MD_CTX, EVP_MD_CTX_free> context{EVP_MD_CTX_new()};
};

Digester::Digester(ChecksumAlgorithm algorithm) : impl_(std::make_unique<Impl>(Impl{algorithm})) {
    if (!impl_->context ||
        EVP_DigestInit_ex(impl_->context.get(), row_of(algorithm).digest(), nullptr) != 1) {
        throw error("OpenSSL cannot start a {} digest", checksum_name(algorithm));
    }
}
Digester::~Digester() = default;
Digester::Digester(Digester&&) noexcept = default;
Digester& Digester::operator=(Digester&&) noexcept = default;

void Digester::update(const void* data, std::size_t size) {
    if (EVP_DigestUpdate(impl_->context.get(), data, size) != 1) {
        throw error("OpenSSL cannot continue a {} digest", checksum_name(impl_->algorithm));
    }
}

std::string Digester::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_DigestFinal_ex(impl_->context.get(), digest.data(), &size) != 1 ||
        std::size_t{size} * 2 != checksum_digits(impl_->algorithm)) {
        throw error("OpenSSL cannot finish a {} digest", checksum_name(impl_->algorithm));
    }
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), size});
}

Checksum Digester::checksum() {
    return {impl_->algorithm, hex()};
}

Checksum checksum_of_file(const std::filesystem::path& path, ChecksumAlgorithm algorithm) {
    const Fd file = open_to_read(path);
    Digester digester(algorithm);
    each_piece(file.get(), path.string(), [&](std::string_view piece) { digester.update(piece); });
    return digester.checksum();
}

Checksum checksum_of(std::string_view text, ChecksumAlgorithm algorithm) {
    Digester digester(algorithm);
    digester.update(text);
    return digester.checksum();
}

}  // namespace edgegpu
