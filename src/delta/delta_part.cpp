#include "delta/delta_part.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <sys/stat.h>

#include "delta/binary_diff.hpp"
#include "delta/block_copies.hpp"
#include "delta/likeness.hpp"
#include "delta/xz_payload.hpp"
#include "execution/memory_budget.hpp"
#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

/// Files of more than this, old and new together, are compared beside others only while all of them
/// are within `most_memory`.
constexpr std::uint64_t large_pair = 64 * mebibyte;
constexpr std::uint64_t most_memory = 2048 * mebibyte;
/// A difference may be that much larger than the new file, by many small records: it has few bytes
/// when it is compressed, but takes its space on devices.
constexpr std::size_t percent_of_diff = 125;
/// Smaller files are not looked at before they are compared.
constexpr std::uint64_t small_file = 256ULL << 10U;
/// Above this size, compressed data travel as objects, which the server has already.
constexpr std::uint64_t largest_compressed = 4 * mebibyte;
/// Above this size, so does what is like no old file: XZ takes a second for two megabytes of it.
constexpr std::uint64_t largest_alone = 16 * mebibyte;

/// Old and new content are in memory while copies are looked for.
constexpr std::uint64_t largest_copied = 1024 * mebibyte;
/// No part may be unpacked to more than 512 MiB (libostree 2026.3).
constexpr std::uint64_t largest_payload = 480 * mebibyte;

VariantHandle bytes_variant(std::string_view bytes) {
    return own(g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes.data(), bytes.size(), 1));
}

/// A file object, and what it contains.
struct LoadedFile {
    FileObject object;
    std::string content;
};

LoadedFile load_verified(const CommitView& commit, const std::string& checksum,
                         const std::string& path) {
    LoadedFile file{commit.load_file(checksum, path), ""};
    file.content = file.object.described.type == EntryType::symlink
                       ? file.object.described.target
                       : commit.read(file.object, path, file.object.described.size);
    Sha256 digest;
    digest.update(hashed_header(file.object));
    if (file.object.described.type == EntryType::file) {
        digest.update(file.content);
    }
    if (digest.hex() != checksum) {
        throw commit.malformed(path, "it does not have its checksum");
    }
    return file;
}

/// Where the payload has something.
struct Place {
    std::size_t offset = 0;
    std::size_t size = 0;
};

class PartWriter {
public:
    PartWriter(const Context& ctx, const DeltaPartRequest& request)
        : ctx_(ctx),
          from_(request.from),
          to_(request.to),
          largest_compared_(request.largest_compared) {}

    void add_directory(const TreeObject& object) {
        const VariantHandle variant = to_.load(object.type, object.checksum, object.path);
        if (sha256_hex(bytes_of(variant.get())) != object.checksum) {
            throw to_.malformed(object.path, "it does not have its checksum");
        }
        begin(object.type, object.checksum, bytes_of(variant.get()).size());
        const Place place = put(bytes_of(variant.get()));
        operations_ += OpCode::splice;
        add_number(place.size);
        add_number(place.offset);
    }

    void add_file(const NewFile& file) {
        static MemoryBudget budget(most_memory);
        std::optional<HeldMemory> held;
        if (file.size + file.source_size > large_pair) {
            if (file.size != last_.content.size()) {
                last_ = {};
            }
            held.emplace(budget, memory_of(file));
            ctx_.check_cancelled();
        }
        if (!file.link && std::max(file.size, file.source_size) > largest_compared_ &&
            add_copied(file)) {
            return;
        }
        if (!file.link && file.size > largest_compared_) {
            part_.left_out.push_back(file);
            return;
        }
        LoadedFile made = load_verified(to_, file.checksum, file.path);
        std::string source = readable_source(file);
        if (made.content == last_.content && source == last_.source && last_.place) {
            // The package database is at two paths, with two labels.
        } else if (std::optional<std::string> diff = worthwhile_diff(source, made.content)) {
            last_ = {std::move(made.content), std::move(source), put(*diff), true};
        } else if (is_better_fetched(file, made.content)) {
            last_ = {};
            part_.left_out.push_back(file);
            return;
        } else {
            const Place place = put(made.content);
            last_ = {std::move(made.content), std::move(source), place, false};
        }
        write_file(file, made.object);
    }

    [[nodiscard]] DeltaPart finish() {
        last_ = {};
        GVariantBuilder modes;
        g_variant_builder_init(&modes, G_VARIANT_TYPE("a(uuu)"));
        for (const auto& [uid, gid, mode] : modes_) {
            g_variant_builder_add(&modes, "(uuu)", GUINT32_TO_BE(uid), GUINT32_TO_BE(gid),
                                  GUINT32_TO_BE(mode));
        }
        GVariantBuilder attributes;
        g_variant_builder_init(&attributes, G_VARIANT_TYPE("aa(ayay)"));
        for (const VariantHandle& each : attributes_) {
            g_variant_builder_add_value(&attributes, each.get());
        }
        VariantHandle raw = bytes_variant(payload_);
        std::string().swap(payload_);
        const VariantHandle whole = own(g_variant_new("(a(uuu)aa(ayay)@ay@ay)", &modes, &attributes,
                                                      raw.get(), bytes_variant(operations_).get()));
        raw.reset();
        // libostree 2026.3 refuses a part that is larger than what it declares.
        part_.unpacked = std::max<std::uint64_t>(part_.unpacked, bytes_of(whole.get()).size());
        part_.bytes = xz_payload(ctx_, bytes_of(whole.get()));
        return std::move(part_);
    }

private:
    /// Operations of libostree's clients (ostree-repo-static-delta-private.h).
    struct OpCode {
        static constexpr char splice = 'S';
        static constexpr char open = 'o';
        static constexpr char set_source = 'r';
        static constexpr char unset_source = 'R';
        static constexpr char close = 'c';
        static constexpr char patch = 'B';
        static constexpr char write = 'w';
    };

    /// The content of a file, with how it was written.
    struct Written {
        std::string content;
        std::string source;
        std::optional<Place> place;
        bool patched = false;
    };

    /// A content that was made of pieces of an old file, by which operations.
    struct Copied {
        /// SHA-256 of it
        std::string digest;
        /// checksum of the old file
        std::string source;
        std::string operations;
    };

    /// Both contents and the difference, with suffixes of five times the old one; or without a
    /// difference, and an index of half of it.
    [[nodiscard]] std::uint64_t memory_of(const NewFile& file) const {
        return std::max(file.size, file.source_size) > largest_compared_
                   ? file.size + file.source_size / 2 * 3
                   : 2 * file.size + 5 * file.source_size;
    }

    /// The content of the old file that a new one may be made from, or nothing.
    [[nodiscard]] std::string readable_source(const NewFile& file) const {
        if (file.source.empty() || file.link || file.size == 0 ||
            file.source_size > largest_compared_) {
            return {};
        }
        return load_verified(from_, file.source, file.source_path).content;
    }

    [[nodiscard]] std::optional<std::string> worthwhile_diff(const std::string& source,
                                                             const std::string& content) const {
        if (source.empty() || (content.size() > small_file && !is_alike(source, content))) {
            return std::nullopt;
        }
        std::string diff = binary_diff(ctx_, source, content);
        if (!makes(diff, source, content)) {
            throw Error("a difference between two files does not make the new one");
        }
        if (diff.size() > content.size() * percent_of_diff / 100 + small_file ||
            deflated_size(diff) >= deflated_size(content)) {
            return std::nullopt;
        }
        return diff;
    }

    /// Makes a file of pieces of its source and bytes of its own, if that is worth it: neither here
    /// nor on a device does that take what `binary_diff` takes.
    bool add_copied(const NewFile& file) {
        if (file.source.empty() || std::max(file.size, file.source_size) > largest_copied) {
            return false;
        }
        last_ = {};
        const LoadedFile made = load_verified(to_, file.checksum, file.path);
        const std::string source = load_verified(from_, file.source, file.source_path).content;
        if (!is_alike(source, made.content)) {
            return false;
        }
        const std::string digest = sha256_hex(made.content);
        if (digest == copied_.digest && file.source == copied_.source) {
            write_copied(file, made);
            return true;
        }
        const std::vector<ContentPiece> pieces = find_copies(ctx_, source, made.content);
        if (!makes(pieces, source, made.content)) {
            throw Error("the pieces of two files do not make the new one");
        }
        const std::size_t own = own_size(pieces);
        if (own > made.content.size() / 4 * 3 || payload_.size() + own > largest_payload) {
            return false;
        }
        copied_ = {digest, file.source, ""};
        std::swap(copied_.operations, operations_);
        write_pieces(pieces, put(checksum_bytes(file.source)).offset, made.content);
        std::swap(copied_.operations, operations_);
        write_copied(file, made);
        return true;
    }

    void write_copied(const NewFile& file, const LoadedFile& made) {
        begin(OSTREE_OBJECT_TYPE_FILE, file.checksum, made.content.size());
        open(made.object, made.content.size());
        operations_ += copied_.operations;
        operations_ += OpCode::close;
    }

    void write_pieces(const std::vector<ContentPiece>& pieces, std::size_t source,
                      std::string_view content) {
        bool of_source = false;
        for (const ContentPiece& piece : pieces) {
            if (piece.copied && !of_source) {
                operations_ += OpCode::set_source;
                add_number(source);
            } else if (!piece.copied && of_source) {
                operations_ += OpCode::unset_source;
            }
            of_source = piece.copied;
            operations_ += OpCode::write;
            add_number(piece.size);
            add_number(of_source ? piece.offset
                                 : put(content.substr(piece.offset, piece.size)).offset);
        }
        if (of_source) {
            operations_ += OpCode::unset_source;
        }
    }

    static bool is_better_fetched(const NewFile& file, std::string_view content) {
        return !file.link && (content.size() > largest_alone ||
                              (content.size() > largest_compressed && is_compressed(content)));
    }

    void begin(OstreeObjectType type, const std::string& checksum, std::uint64_t size) {
        part_.objects += static_cast<char>(type);
        part_.objects += checksum_bytes(checksum);
        part_.unpacked += size;
    }

    void open(const FileObject& object, std::size_t size, char operation = OpCode::open) {
        operations_ += operation;
        add_number(index_of_mode(object.described));
        add_number(index_of_attributes(object));
        add_number(size);
    }

    void write_file(const NewFile& file, const FileObject& object) {
        begin(OSTREE_OBJECT_TYPE_FILE, file.checksum, last_.content.size());
        if (last_.patched) {
            operations_ += OpCode::set_source;
            add_number(put(checksum_bytes(file.source)).offset);
        }
        open(object, last_.content.size(), last_.patched ? OpCode::open : OpCode::splice);
        if (last_.patched) {
            operations_ += OpCode::patch;
        }
        add_number(last_.place->offset);
        if (last_.patched) {
            add_number(last_.place->size);
            operations_ += OpCode::close;
            operations_ += OpCode::unset_source;
        }
    }

    std::size_t index_of_mode(const CommitPath& described) {
        const unsigned type = described.type == EntryType::symlink ? S_IFLNK : S_IFREG;
        const auto mode = std::tuple(described.uid, described.gid, type | described.mode);
        const auto found = std::ranges::find(modes_, mode);
        if (found == modes_.end()) {
            modes_.push_back(mode);
            return modes_.size() - 1;
        }
        return static_cast<std::size_t>(found - modes_.begin());
    }

    std::size_t index_of_attributes(const FileObject& object) {
        VariantHandle attributes =
            object.attributes ? VariantHandle(g_variant_ref(object.attributes.get()))
                              : own(g_variant_new_array(G_VARIANT_TYPE("(ayay)"), nullptr, 0));
        const auto [entry, added] =
            attribute_index_.emplace(std::string(bytes_of(attributes.get())), attributes_.size());
        if (added) {
            attributes_.push_back(std::move(attributes));
        }
        return entry->second;
    }

    Place put(std::string_view bytes) {
        const Place place{payload_.size(), bytes.size()};
        payload_ += bytes;
        return place;
    }

    /// Seven bits a byte, the lowest first; all but the last byte have the highest bit set.
    void add_number(std::uint64_t number) {
        constexpr std::uint64_t more = 0x80;
        while (number >= more) {
            operations_ += static_cast<char>(number % more | more);
            number /= more;
        }
        operations_ += static_cast<char>(number);
    }

    const Context& ctx_;
    const CommitView& from_;
    const CommitView& to_;
    std::uint64_t largest_compared_;
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> modes_;
    std::vector<VariantHandle> attributes_;
    std::map<std::string, std::size_t> attribute_index_;
    std::string payload_;
    std::string operations_;
    Written last_;
    Copied copied_;
    DeltaPart part_;
};

}  // namespace

DeltaPart make_delta_part(const Context& ctx, const DeltaPartRequest& request) {
    PartWriter writer(ctx, request);
    for (const TreeObject& directory : request.directories) {
        writer.add_directory(directory);
    }
    for (const NewFile& file : request.files) {
        ctx.check_cancelled();
        writer.add_file(file);
    }
    return writer.finish();
}

}  // namespace edgegpu
