#include "encapsulate/blob_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <zlib.h>

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
/// zlib's window of 32 KiB with gzip's header, in which everything but the magic is 0 or "unknown".
constexpr int gzip_window = MAX_WBITS + 16;
constexpr int memory_level = 8;
constexpr std::size_t output_size = 256UL * 1024;
/// The bytes of zlib's counters, which are unsigned int.
constexpr std::size_t largest_piece = 1UL << 30U;

using StreamEnd = std::unique_ptr<z_stream, int (*)(z_streamp)>;

}  // namespace

struct BlobWriter::Impl {
    Impl(const fs::path& blobs, const std::string& name)
        : directory(blobs),
          path(blobs / name),
          file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
        if (!file) {
            throw write_error(directory.string(), path.string(), errno);
        }
        if (::deflateInit2(&stream, gzip_level, Z_DEFLATED, gzip_window, memory_level,
                           Z_DEFAULT_STRATEGY) != Z_OK) {
            throw Error("zlib: out of memory");
        }
        end = StreamEnd(&stream, &::deflateEnd);
        // 255: made on an unknown system.
        header.os = 255;
        ::deflateSetHeader(&stream, &header);
    }

    void run(int flush) {
        int result = Z_OK;
        do {
            stream.next_out = output.data();
            stream.avail_out = static_cast<uInt>(output.size());
            result = ::deflate(&stream, flush);
            const std::string_view made(reinterpret_cast<const char*>(output.data()),
                                        output.size() - stream.avail_out);
            compressed.update(made);
            blob.size += made.size();
            if (!write_all(file.get(), made)) {
                throw write_error(directory.string(), path.string(), errno);
            }
        } while (stream.avail_out == 0 || (flush == Z_FINISH && result == Z_OK));
        if (result == Z_STREAM_ERROR) {
            throw Error("zlib: deflate failed");
        }
    }

    fs::path directory;
    fs::path path;
    Fd file;
    z_stream stream{};
    gz_header header{};
    StreamEnd end{nullptr, &::deflateEnd};
    std::vector<Bytef> output = std::vector<Bytef>(output_size);
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
    impl_->archive.update(bytes);
    impl_->blob.unpacked += bytes.size();
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, largest_piece);
        // zlib's interface is not const-correct; it does not write to its input.
        impl_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
        impl_->stream.avail_in = static_cast<uInt>(piece.size());
        impl_->run(Z_NO_FLUSH);
        bytes.remove_prefix(piece.size());
    }
}

LayerBlob BlobWriter::finish() {
    impl_->run(Z_FINISH);
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
