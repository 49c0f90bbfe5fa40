#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/files/checksum.hpp"

namespace edgegpu {

/// Incremental SHA-256 (OpenSSL, so that SHA-NI is used).
class Sha256 : public Digester {
public:
    Sha256() : Digester(ChecksumAlgorithm::sha256) {}

    /// Appends a field so that neighbouring fields cannot run into one another
    /// (its length as 8 bytes, then its bytes): use this to digest several inputs.
    void update_field(std::string_view text);
};

/// SHA-256 of `text` in lower-case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view text);

/// SHA-256 of a file's content in lower-case hexadecimal. Throws Error naming the path.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

}  // namespace edgegpu
