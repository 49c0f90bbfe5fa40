#include "customise/initramfs/cpio_input.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <archive_entry.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t unpacked_limit = 4ULL << 30U;
constexpr std::size_t block_size = std::size_t{1} << 16U;

/// libarchive's filter (ARCHIVE_FILTER_*) for data that begins like this: one of dracut's
/// compressors. Only one is enabled, because several in a chain could unpack to any size.
int filter_of(std::string_view data) {
    using namespace std::string_view_literals;
    static constexpr std::array<std::pair<std::string_view, int>, 6> known{
        {{"\x1f\x8b"sv, ARCHIVE_FILTER_GZIP},
         {"\x28\xb5\x2f\xfd"sv, ARCHIVE_FILTER_ZSTD},
         {"\xfd"
          "7zXZ"sv,
          ARCHIVE_FILTER_XZ},
         {"BZh"sv, ARCHIVE_FILTER_BZIP2},
         {"\x04\x22\x4d\x18"sv, ARCHIVE_FILTER_LZ4},
         {"\x02\x21\x4c\x18"sv, ARCHIVE_FILTER_LZ4}}};
    const auto found = std::ranges::find_if(
        known, [&](const auto& filter) { return data.starts_with(filter.first); });
    if (found == known.end()) {
        throw error("neither a cpio archive nor compressed with gzip, zstd, xz, bzip2 or lz4");
    }
    return found->second;
}

Error failure_of(archive* reader) {
    const char* text = archive_error_string(reader);
    return error("{}", text != nullptr ? text : "unreadable");
}

}  // namespace

CpioInput::CpioInput(std::string_view data) {
    if (data.starts_with("070701")) {
        ahead_ = data;
        return;
    }
    const int filter = filter_of(data);
    archive_.reset(archive_read_new());
    archive_entry* entry = nullptr;
    // Not libarchive's format cpio: that allocates what a header says to be the length of a name.
    if (archive_read_append_filter(archive_.get(), filter) != ARCHIVE_OK ||
        archive_read_support_format_raw(archive_.get()) != ARCHIVE_OK ||
        archive_read_open_memory(archive_.get(), data.data(), data.size()) != ARCHIVE_OK ||
        archive_read_next_header(archive_.get(), &entry) != ARCHIVE_OK) {
        throw failure_of(archive_.get());
    }
}

std::string_view CpioInput::take(std::size_t size) {
    while (ahead_.size() < size && unpack()) {
    }
    const std::string_view taken = ahead_.substr(0, size);
    pass(taken.size());
    return taken;
}

bool CpioInput::skip(std::uint64_t size) {
    if (archive_ && size > unpacked_limit - std::min(position_, unpacked_limit)) {
        throw error("it unpacks to more than {} GiB", unpacked_limit >> 30U);
    }
    while (size > 0 && (!ahead_.empty() || unpack())) {
        const std::uint64_t part = std::min<std::uint64_t>(size, ahead_.size());
        pass(static_cast<std::size_t>(part));
        size -= part;
    }
    return size == 0;
}

bool CpioInput::skip_zeros() {
    while (!ahead_.empty() || unpack()) {
        const std::size_t zeros = std::min(ahead_.find_first_not_of('\0'), ahead_.size());
        pass(zeros);
        if (!ahead_.empty()) {
            return true;
        }
    }
    return false;
}

bool CpioInput::unpack() {
    if (!archive_) {
        return false;
    }
    buffer_.erase(0, buffer_.size() - ahead_.size());
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + block_size);
    const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data() + kept, block_size);
    if (got < 0) {
        throw failure_of(archive_.get());
    }
    buffer_.resize(kept + static_cast<std::size_t>(got));
    ahead_ = buffer_;
    if (position_ + ahead_.size() > unpacked_limit) {
        throw error("it unpacks to more than {} GiB", unpacked_limit >> 30U);
    }
    return got > 0;
}

void CpioInput::pass(std::size_t size) noexcept {
    ahead_.remove_prefix(size);
    position_ += size;
}

}  // namespace edgegpu
