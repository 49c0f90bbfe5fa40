#include "compose/stable_database.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

/// The bytes of a file, with numbers in little-endian order. Every access is checked.
class FileBytes {
public:
    FileBytes(std::string content, std::string_view name)
        : content_(std::move(content)), name_(name) {}

    [[nodiscard]] std::size_t size() const { return content_.size(); }
    [[nodiscard]] Error damaged() const {
        return error("{} of the image's package database is damaged, or of an unknown form", name_);
    }
    /// The number in the `width` bytes at `at`.
    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t width) const {
        require(at, width);
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            value |= static_cast<std::uint32_t>(static_cast<unsigned char>(content_[at + i]))
                     << (8 * i);
        }
        return value;
    }
    void set_number(std::size_t at, std::uint32_t value) {
        require(at, 4);
        for (std::size_t i = 0; i < 4; ++i) {
            content_[at + i] = static_cast<char>(value >> (8 * i));
        }
    }
    [[nodiscard]] std::string_view bytes(std::size_t at, std::size_t size) const {
        require(at, size);
        return std::string_view(content_).substr(at, size);
    }
    void put(std::size_t at, std::string_view bytes) {
        require(at, bytes.size());
        std::ranges::copy(bytes, content_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    [[nodiscard]] std::string take() { return std::move(content_); }

private:
    void require(std::size_t at, std::size_t size) const {
        if (at > content_.size() || size > content_.size() - at) {
            throw damaged();
        }
    }

    std::string content_;
    std::string_view name_;
};

// Berkeley DB: the metadata of the first page.
constexpr std::uint32_t hash_magic = 0x00061561;
constexpr std::uint32_t btree_magic = 0x00053162;
constexpr std::size_t magic_at = 12;
constexpr std::size_t page_size_at = 20;
constexpr std::size_t encryption_at = 24;
constexpr std::size_t flags_at = 26;
constexpr std::size_t partitions_at = 36;
constexpr std::size_t file_id_at = 52;
constexpr std::size_t file_id_size = 20;
constexpr std::size_t metadata_size = 512;

// Every other page.
constexpr std::size_t entries_at = 20;
constexpr std::size_t data_size_at = 22;
constexpr std::size_t type_at = 25;
constexpr std::size_t page_header_size = 26;

// Types of pages.
constexpr std::uint32_t unused_page = 0;
constexpr std::uint32_t unsorted_hash_page = 2;
constexpr std::uint32_t internal_page = 3;
constexpr std::uint32_t leaf_page = 5;
constexpr std::uint32_t overflow_page = 7;
constexpr std::uint32_t duplicates_page = 12;
constexpr std::uint32_t hash_page = 13;

// Types of items; those of a B-tree may have the mark "deleted" besides.
constexpr std::uint32_t data_item = 1;
constexpr std::uint32_t overflow_item = 3;
constexpr std::uint32_t hash_duplicates_item = 4;
constexpr std::uint32_t deleted_mark = 0x80;

/// One page, of which everything is cleared that is not kept.
class Page {
public:
    Page(FileBytes& file, std::size_t at, std::size_t size)
        : file_(file), at_(at), size_(size), clean_(size, '\0') {}

    /// Number in the page.
    [[nodiscard]] std::size_t number(std::size_t at, std::size_t width) const {
        if (at + width > size_) {
            throw file_.damaged();
        }
        return file_.number(at_ + at, width);
    }
    void keep(std::size_t at, std::size_t size) {
        // Parts do not overlap, so that all of them are no longer than the page.
        if (at > size_ || size > size_ - at || size > size_ - kept_) {
            throw file_.damaged();
        }
        kept_ += size;
        clean_.replace(at, size, file_.bytes(at_ + at, size));
    }
    void clear_rest() { file_.put(at_, clean_); }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Error damaged() const { return file_.damaged(); }

private:
    FileBytes& file_;
    std::size_t at_;
    std::size_t size_;
    std::size_t kept_ = 0;
    std::string clean_;
};

/// An item of an internal page of a B-tree (BINTERNAL): length, type, a byte without meaning, page,
/// number of records, key.
void keep_internal(Page& page, std::size_t at) {
    page.keep(at, 3);
    page.keep(at + 4, 8 + page.number(at, 2));
}

/// An item of a leaf (BKEYDATA: length, type, data; BOVERFLOW: no length, type, a byte without
/// meaning, page, total length).
void keep_leaf(Page& page, std::size_t at) {
    const std::size_t type = page.number(at + 2, 1) & ~std::size_t{deleted_mark};
    if (type == data_item) {
        page.keep(at, 3 + page.number(at, 2));
    } else {
        page.keep(at + 2, 1);
        page.keep(at + 4, 8);
    }
}

/// An item of a hash page, which ends where the one before it begins: type and data, or (HOFFPAGE,
/// HOFFDUP) type, three bytes without meaning, page, and total length of the former.
void keep_hash(Page& page, std::size_t at, std::size_t end) {
    const std::size_t type = page.number(at, 1);
    if (type == overflow_item || type == hash_duplicates_item) {
        page.keep(at, 1);
        page.keep(at + 4, type == overflow_item ? 8 : 4);
    } else if (end > at) {
        page.keep(at, end - at);
    } else {
        throw page.damaged();
    }
}

void keep_items(Page& page, std::uint32_t type) {
    const std::size_t entries = page.number(entries_at, 2);
    page.keep(page_header_size, 2 * entries);
    std::set<std::size_t> seen;
    std::size_t end = page.size();
    for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t at = page.number(page_header_size + 2 * i, 2);
        if (!seen.insert(at).second) {
            continue;  // Duplicates share their key.
        }
        if (type == internal_page) {
            keep_internal(page, at);
        } else if (type == hash_page || type == unsorted_hash_page) {
            keep_hash(page, at, end);
        } else {
            keep_leaf(page, at);
        }
        end = at;
    }
}

void clear_page(Page page) {
    const auto type = static_cast<std::uint32_t>(page.number(type_at, 1));
    page.keep(0, page_header_size);
    switch (type) {
        case unused_page:
            break;
        case overflow_page:
            page.keep(page_header_size, page.number(data_size_at, 2));
            break;
        case internal_page:
        case leaf_page:
        case duplicates_page:
        case hash_page:
        case unsorted_hash_page:
            keep_items(page, type);
            break;
        default:
            throw page.damaged();
    }
    page.clear_rest();
}

bool is_berkeley_db(const FileBytes& file) {
    if (file.size() < metadata_size) {
        return false;
    }
    const std::uint32_t magic = file.number(magic_at, 4);
    return magic == hash_magic || magic == btree_magic;
}

void stabilise_berkeley_db(FileBytes& file, std::string_view name) {
    const std::size_t page_size = file.number(page_size_at, 4);
    if (page_size < metadata_size || page_size > 65536 || file.size() % page_size != 0 ||
        file.number(encryption_at, 1) != 0 || file.number(flags_at, 1) != 0 ||
        file.number(partitions_at, 4) != 0) {
        throw file.damaged();
    }
    // Different for each file of a database, whose pages share one cache.
    const std::string id = sha256_hex(fmt::format("edgegpu rpmdb {}", name));
    file.put(file_id_at, std::string_view(id).substr(0, file_id_size));
    for (std::size_t at = page_size; at < file.size(); at += page_size) {
        clear_page(Page(file, at, page_size));
    }
}

// ndb: pages of 4,096 bytes with the header and slots of 16 bytes, then packages in blocks of 16
// bytes. A slot has its magic number, the package's number, first block and number of blocks; a
// package is preceded by magic number, number, time and size, and followed by a checksum, its size
// again and another magic number.
constexpr std::string_view ndb_magic = "RpmP";
constexpr std::string_view slot_magic = "Slot";
constexpr std::string_view blob_magic = "BlbS";
constexpr std::size_t ndb_page_size = 4096;
constexpr std::size_t slot_pages_at = 12;
constexpr std::size_t ndb_header_size = 32;
constexpr std::size_t block_size = 16;
constexpr std::size_t blob_head_size = 16;
constexpr std::size_t blob_tail_size = 12;

/// Sets the time of one package, and its checksum (of everything but the last three numbers).
void set_blob_time(FileBytes& file, std::size_t at, std::size_t size, std::int64_t time) {
    if (size < blob_head_size + blob_tail_size || file.bytes(at, 4) != blob_magic) {
        throw file.damaged();
    }
    file.set_number(at + 8, static_cast<std::uint32_t>(time));
    const std::string_view summed = file.bytes(at, size - blob_tail_size);
    const auto sum = ::adler32_z(1, reinterpret_cast<const Bytef*>(summed.data()), summed.size());
    file.set_number(at + size - blob_tail_size, static_cast<std::uint32_t>(sum));
}

void stabilise_ndb(FileBytes& file, std::int64_t time) {
    const std::size_t end = file.number(slot_pages_at, 4) * ndb_page_size;
    std::size_t left = file.size();
    for (std::size_t slot = ndb_header_size; slot < end; slot += block_size) {
        if (file.bytes(slot, 4) != slot_magic) {
            throw file.damaged();
        }
        const std::size_t at = std::size_t{file.number(slot + 8, 4)} * block_size;
        const std::size_t size = std::size_t{file.number(slot + 12, 4)} * block_size;
        if (at == 0) {
            continue;  // The slot is free.
        }
        if (size > left) {
            throw file.damaged();
        }
        left -= size;
        set_blob_time(file, at, size, time);
    }
}

}  // namespace

std::string stable_database_file(std::string content, std::string_view name, std::int64_t time) {
    FileBytes file(std::move(content), name);
    if (is_berkeley_db(file)) {
        stabilise_berkeley_db(file, name);
    } else if (file.size() >= ndb_header_size && file.bytes(0, 4) == ndb_magic) {
        stabilise_ndb(file, time);
    }
    return file.take();
}

}  // namespace edgegpu
