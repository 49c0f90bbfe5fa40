#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace edgegpu {

/// A layer in an image layout.
struct LayerBlob {
    /// SHA-256 of its compressed bytes, in hexadecimal: its name in `blobs/sha256`
    std::string digest;
    /// SHA-256 of its tar archive, in hexadecimal
    std::string diff_id;
    /// bytes, compressed
    std::uint64_t size = 0;
    /// bytes of its tar archive
    std::uint64_t unpacked = 0;
};

/// Writes a layer to a directory of blobs, compressed with gzip: one member (readers exist that
/// stop after the first), whose header has no name and no time. It is made of the archive alone, in
/// pieces, and not of the deflate streams of the commit's objects, which depend on the processor
/// and on `--compression`: the same archive gives the same bytes everywhere. All members throw
/// Error, for example for a full disk.
class BlobWriter {
public:
    /// `name` is that of the file until its digest is known.
    BlobWriter(const std::filesystem::path& blobs, const std::string& name);
    BlobWriter(const BlobWriter&) = delete;
    BlobWriter& operator=(const BlobWriter&) = delete;
    ~BlobWriter();

    /// Appends bytes of the archive.
    void write(std::string_view bytes);
    /// Gives the file its name.
    [[nodiscard]] LayerBlob finish();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Writes `content` to a directory of blobs; returns its SHA-256 in hexadecimal.
[[nodiscard]] std::string write_blob(const std::filesystem::path& blobs, std::string_view content);

}  // namespace edgegpu
