#include "support/files/digest.hpp"

#include <array>
#include <cstdint>

namespace edgegpu {

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

std::string sha256_hex(std::string_view text) {
    return checksum_of(text, ChecksumAlgorithm::sha256).hex;
}

std::string sha256_file(const std::filesystem::path& path) {
    return checksum_of_file(path, ChecksumAlgorithm::sha256).hex;
}

}  // namespace edgegpu
