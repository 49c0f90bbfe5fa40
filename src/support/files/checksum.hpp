#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// The checksums that a repository may have of its files, weakest first. MD5 is not among them: it
/// protects nothing.
enum class ChecksumAlgorithm { sha1, sha224, sha256, sha384, sha512 };

/// "sha256", as RPM metadata, metalinks and lockfiles spell it.
[[nodiscard]] std::string_view checksum_name(ChecksumAlgorithm algorithm);

/// The algorithm of a name in any of the spellings that repositories use: "sha256", "SHA256",
/// "sha-256"; and "sha", which is what old metadata call SHA-1. Nothing for others, such as "md5".
[[nodiscard]] std::optional<ChecksumAlgorithm> checksum_algorithm(std::string_view name);

/// Number of hexadecimal digits of a checksum.
[[nodiscard]] std::size_t checksum_digits(ChecksumAlgorithm algorithm);

/// The expected checksum of a file's content.
struct Checksum {
    ChecksumAlgorithm algorithm = ChecksumAlgorithm::sha256;
    /// Lower case, as many digits as the algorithm has.
    std::string hex;

    /// "sha512:0123…".
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Checksum&, const Checksum&) = default;
};

/// A checksum from an algorithm's name and digits in either case. Throws Error saying what is wrong
/// with them, MD5 by its name.
[[nodiscard]] Checksum make_checksum(std::string_view name, std::string_view hex);

/// The opposite of Checksum::text. Throws Error as make_checksum does.
[[nodiscard]] Checksum parse_checksum(std::string_view text);

/// Incremental digest (OpenSSL) of any of the algorithms.
class Digester {
public:
    explicit Digester(ChecksumAlgorithm algorithm);
    ~Digester();
    Digester(Digester&&) noexcept;
    Digester& operator=(Digester&&) noexcept;

    /// Appends `size` bytes at `data`.
    void update(const void* data, std::size_t size);
    /// Appends the bytes of `text`.
    void update(std::string_view text) { update(text.data(), text.size()); }
    /// The digest in lower-case hexadecimal; the object is then spent.
    [[nodiscard]] std::string hex();
    /// The same with its algorithm.
    [[nodiscard]] Checksum checksum();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Checksum of a file's content. Throws Error naming the path.
[[nodiscard]] Checksum checksum_of_file(const std::filesystem::path& path,
                                        ChecksumAlgorithm algorithm);

/// Checksum of `text`.
[[nodiscard]] Checksum checksum_of(std::string_view text, ChecksumAlgorithm algorithm);

}  // namespace edgegpu
