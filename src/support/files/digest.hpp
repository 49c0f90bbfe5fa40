#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace edgegpu {

/// Incremental SHA-256 (OpenSSL, so that SHA-NI is used).
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    /// Appends `size` bytes at `data`.
    void update(const void* data, std::size_t size);
    /// Appends the bytes of `text`.
    void update(std::string_view text) { update(text.data(), text.size()); }
    /// Appends a field so that neighbouring fields cannot run into one another
    /// (its length as 8 bytes, then its bytes): use this to digest several inputs.
    void update_field(std::string_view text);
    /// The digest in lower-case hexadecimal (64 characters); the object is then spent.
    [[nodiscard]] std::string hex();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// SHA-256 of `text` in lower-case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view text);

/// SHA-256 of a file's content in lower-case hexadecimal. Throws Error naming the path.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

}  // namespace edgegpu
