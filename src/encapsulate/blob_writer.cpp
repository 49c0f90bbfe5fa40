#include "encapsulate/blob_writer.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <libdeflate.h>

#include "image/deflate_call.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Fixed, as the digest of a layer that has not changed must stay the same.
constexpr int gzip_level = 6;
constexpr std::size_t piece_size = 1UL << 20U;
/// RFC 1952 2.3: deflate, no name, no time, made on an unknown system.
constexpr std::string_view gzip_header("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

std::string little_endian_32(std::uint64_t value) {
    std::string bytes;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        bytes += static_cast<char>(value >> shift);
    }
    return bytes;
}

}  // namespace

struct BlobWriter::Impl {
    Impl(const fs::path& blobs, const std::string& name)
        : directory(blobs),
          path(blobs / name),
          file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
        if (!file) {
            throw write_error(directory.string(), path.string(), errno);
        }
        append(gzip_header);
    }

    void append(std::string_view bytes) {
        compressed.update(bytes);
        blob.size += bytes.size();
        if (!write_all(file.get(), bytes)) {
            throw write_error(directory.string(), path.string(), errno);
        }
    }

    void end_piece(bool last) {
        archive.update(piece);
        crc = libdeflate_crc32(crc, piece.data(), piece.size());
        blob.unpacked += piece.size();
        const int level = level_for(
            [&](std::uint64_t offset, std::size_t size) { return piece.substr(offset, size); },
            piece.size(), gzip_level);
        append(libdeflate_piece(piece, level, last));
        piece.clear();
    }

    fs::path directory;
    fs::path path;
    Fd file;
    std::string piece;
    std::uint32_t crc = 0;
    Sha256 archive;
    Sha256 compressed;
    LayerBlob blob;
    bool finished = false;
};

BlobWriter::BlobWriter(const fs::path& blobs, const std::string& name)
    : impl_(std::make_unique<Impl>(blobs, name)) {}

BlobWriter::~BlobWriter() {
    if (!impl_->finished) {
        std::error_code ignored;
        fs::remove(impl_->path, ignored);
    }
}

void BlobWriter::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t size = std::min(bytes.size(), piece_size - impl_->piece.size());
        impl_->piece += bytes.substr(0, size);
        bytes.remove_prefix(size);
        if (impl_->piece.size() == piece_size) {
            impl_->end_piece(false);
        }
    }
}

LayerBlob BlobWriter::finish() {
    impl_->end_piece(true);
    impl_->append(little_endian_32(impl_->crc) + little_endian_32(impl_->blob.unpacked));
    LayerBlob blob = impl_->blob;
    blob.digest = impl_->compressed.hex();
    blob.diff_id = impl_->archive.hex();
    std::error_code code;
    fs::rename(impl_->path, impl_->directory / blob.digest, code);
    if (code) {
        throw write_error(impl_->directory.string(), impl_->path.string(), code.value());
    }
    impl_->finished = true;
    return blob;
}

std::string write_blob(const fs::path& blobs, std::string_view content) {
    std::string digest = sha256_hex(content);
    write_file(blobs / digest, content);
    return digest;
}

}  // namespace edgegpu
