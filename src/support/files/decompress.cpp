#include "support/files/decompress.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace edgegpu {

namespace {

constexpr std::size_t block_size = std::size_t{1} << 16U;

/// libarchive's number of the compression of a content that begins with `head` (10 bytes, or the
/// whole content); ARCHIVE_FILTER_NONE for any other content.
int filter_of(std::string_view head) {
    using namespace std::string_view_literals;
    if (head.starts_with("\x1f\x8b\x08"sv)) {
        return ARCHIVE_FILTER_GZIP;
    }
    if (head.starts_with("\xfd\x37zXZ\0"sv)) {
        return ARCHIVE_FILTER_XZ;
    }
    // pzstd begins with a frame to be skipped, which has one of 16 numbers.
    if (head.starts_with("\x28\xb5\x2f\xfd"sv) ||
        (head.size() >= 4 && (head[0] & '\xf0') == '\x50' &&
         head.substr(1, 3) == "\x2a\x4d\x18"sv)) {
        return ARCHIVE_FILTER_ZSTD;
    }
    // Plain text may begin with BZh as well; a block, or the end if there is none, follows.
    if (head.starts_with("BZh"sv) && head.size() >= 10 && head[3] >= '1' && head[3] <= '9' &&
        (head.substr(4, 6) == "1AY&SY"sv || head.substr(4, 6) == "\x17\x72\x45\x38\x50\x90"sv)) {
        return ARCHIVE_FILTER_BZIP2;
    }
    return ARCHIVE_FILTER_NONE;
}

}  // namespace

/// Throws what `reader` (null: no memory for it) has complained about, unless `good`.
void Decompressor::require(bool good, archive* reader) const {
    if (!good) {
        const char* why = reader != nullptr ? archive_error_string(reader) : "out of memory";
        throw error(kind_, "{}: cannot be decompressed: {}", name_,
                    why != nullptr ? why : "damaged");
    }
}

/// Lets `reader` begin at the beginning.
void Decompressor::open(archive* reader) const {
    if (file_) {
        require(::lseek(file_.get(), 0, SEEK_SET) == 0 &&
                    archive_read_open_fd(reader, file_.get(), block_size) == ARCHIVE_OK,
                reader);
        return;
    }
    // libarchive takes no null pointer.
    const char* begin = content_.empty() ? "" : content_.data();
    require(archive_read_open_memory(reader, begin, content_.size()) == ARCHIVE_OK, reader);
}

/// Throws Error unless the content, from which nothing could be read, is the compression of
/// nothing. libarchive takes an unreadable beginning for that, except where it finds out itself
/// which compression there is.
void Decompressor::check_empty(int filter) const {
    const Reader reader(archive_read_new());
    require(reader && archive_read_support_filter_by_code(reader.get(), filter) == ARCHIVE_OK &&
                archive_read_support_format_empty(reader.get()) == ARCHIVE_OK,
            reader.get());
    open(reader.get());
    // One of them is the source.
    if (archive_filter_count(reader.get()) != 2) {
        throw error(kind_, "{}: cannot be decompressed: its header is damaged", name_);
    }
}

/// Opens the content, which begins with `head`. libarchive is told which compression there is: it
/// would take off up to 25 layers.
void Decompressor::start(std::string_view head) {
    const int filter = filter_of(head);
    const bool compressed = filter != ARCHIVE_FILTER_NONE;
    archive* reader = reader_.get();
    require(reader != nullptr &&
                (!compressed || archive_read_append_filter(reader, filter) == ARCHIVE_OK) &&
                archive_read_support_format_raw(reader) == ARCHIVE_OK &&
                archive_read_support_format_empty(reader) == ARCHIVE_OK,
            reader);
    open(reader);
    archive_entry* entry = nullptr;
    const int header = archive_read_next_header(reader, &entry);
    at_end_ = header == ARCHIVE_EOF;
    require(at_end_ || header == ARCHIVE_OK, reader);
    if (at_end_ && compressed) {
        check_empty(filter);
    }
}

Decompressor::Decompressor(Fd file, UnpackLimit limit, std::string name, ErrorKind kind)
    : file_(std::move(file)),
      limit_(std::move(limit)),
      name_(std::move(name)),
      kind_(kind),
      reader_(archive_read_new()) {
    std::array<char, 16> head{};
    const ssize_t got = ::pread(file_.get(), head.data(), head.size(), 0);
    if (got < 0) {
        throw Error(kind_, errno_error(name_, errno).message());
    }
    start({head.data(), static_cast<std::size_t>(got)});
}

Decompressor::Decompressor(std::string_view content, UnpackLimit limit, std::string name,
                           ErrorKind kind)
    : content_(content),
      limit_(std::move(limit)),
      name_(std::move(name)),
      kind_(kind),
      reader_(archive_read_new()) {
    start(content);
}

std::size_t Decompressor::read(std::span<char> buffer) {
    if (at_end_ || buffer.empty()) {
        return 0;
    }
    const la_ssize_t got = archive_read_data(reader_.get(), buffer.data(), buffer.size());
    require(got >= 0, reader_.get());
    at_end_ = got == 0;
    total_ += static_cast<std::uint64_t>(got);
    if (total_ > limit_.bytes) {
        constexpr std::uint64_t mib = 1U << 20U;
        throw error(kind_, "{}: decompressed, it is larger than {}{}", name_,
                    limit_.bytes % mib == 0 ? fmt::format("{} MiB", limit_.bytes / mib)
                                            : fmt::format("{} bytes", limit_.bytes),
                    limit_.reason);
    }
    return static_cast<std::size_t>(got);
}

std::string decompress(std::string_view content, const UnpackLimit& limit, const std::string& name,
                       ErrorKind kind) {
    Decompressor source(content, limit, name, kind);
    std::string result;
    std::string block(block_size, '\0');
    while (const std::size_t got = source.read(block)) {
        result.append(block, 0, got);
    }
    return result;
}

}  // namespace edgegpu
