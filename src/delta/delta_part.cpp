#include "delta/delta_part.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <lzma.h>
#include <sys/stat.h>

#include "delta/binary_diff.hpp"
#include "image/deflate_call.hpp"
#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

/// Files of more than this, old and new together, are compared one at a time: suffixes take five
/// times the old one.
constexpr std::uint64_t large_pair = 64 * mebibyte;
/// A difference may be that much larger than the new file, by many small records: it has few bytes
/// when it is compressed, but takes its space on devices.
constexpr std::size_t percent_of_diff = 125;
/// Smaller files are not looked at before they are compared.
constexpr std::uint64_t small_file = 256ULL << 10U;
/// Above this size, compressed data travel as objects, which the server has already.
constexpr std::uint64_t largest_compressed = 4 * mebibyte;
/// Above this size, so does what is like no old file: XZ takes a second for two megabytes of it.
constexpr std::uint64_t largest_alone = 16 * mebibyte;

/// What clients can decompress with 100 MiB (libostree 2026.3), and all need no more.
constexpr std::uint32_t largest_dictionary = 32U << 20U;
constexpr std::uint32_t xz_preset = 6;

std::string compressed(std::string_view payload) {
    lzma_options_lzma options{};
    const std::size_t window =
        std::clamp<std::size_t>(std::bit_ceil(payload.size()), 1U << 16U, largest_dictionary);
    if (lzma_lzma_preset(&options, xz_preset) != 0) {
        throw Error("liblzma does not know its preset");
    }
    options.dict_size = static_cast<std::uint32_t>(window);
    std::array<lzma_filter, 2> filters{lzma_filter{LZMA_FILTER_LZMA2, &options},
                                       lzma_filter{LZMA_VLI_UNKNOWN, nullptr}};
    std::string out(1 + lzma_stream_buffer_bound(payload.size()), '\0');
    out[0] = 'x';
    std::size_t size = 1;
    if (lzma_stream_buffer_encode(filters.data(), LZMA_CHECK_CRC32, nullptr,
                                  reinterpret_cast<const std::uint8_t*>(payload.data()),
                                  payload.size(), reinterpret_cast<std::uint8_t*>(out.data()),
                                  &size, out.size()) != LZMA_OK) {
        throw error("cannot compress {} bytes of a delta: out of memory", payload.size());
    }
    out.resize(size);
    out.shrink_to_fit();
    return out;
}

/// About how many bytes a part gets larger by this.
std::size_t cost_of(std::string_view bytes) {
    return deflate_whole(new_compressor(1).get(), bytes).size();
}

bool is_compressed(std::string_view content) {
    return level_for([&](std::uint64_t offset,
                         std::size_t size) { return std::string(content.substr(offset, size)); },
                     content.size(), 1) == 0;
}

/// Whether a sixteenth of the samples of `made` have something that is also in `old`: else
/// comparing them takes long, and gains little.
bool is_alike(std::string_view old, std::string_view made) {
    constexpr std::size_t block = 32;
    constexpr std::size_t samples = 64;
    constexpr std::size_t sample_size = 4096;
    constexpr std::size_t most_known = 1U << 20U;
    const std::hash<std::string_view> hash;
    // A sample is longer than the distance between two blocks of any file that is compared.
    const std::size_t distance = std::max(block, old.size() / most_known);
    std::unordered_set<std::size_t> known;
    known.reserve(old.size() / distance + 1);
    for (std::size_t at = 0; at + block <= old.size(); at += distance) {
        known.insert(hash(old.substr(at, block)));
    }
    const auto is_known = [&](std::string_view sample) {
        for (std::size_t at = 0; at + block <= sample.size(); ++at) {
            const std::string_view text = sample.substr(at, block);
            // Runs of one byte are in every program.
            if (text.find_first_not_of(text[0]) != std::string_view::npos &&
                known.contains(hash(text))) {
                return true;
            }
        }
        return false;
    };
    std::size_t alike = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        alike += is_known(made.substr(made.size() / samples * i, sample_size)) ? 1 : 0;
    }
    return alike * 16 >= samples;
}

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
        if (!file.link && file.size > largest_compared_) {
            part_.left_out.push_back(file);
            return;
        }
        static std::mutex large;
        std::unique_lock<std::mutex> lock(large, std::defer_lock);
        if (file.size + file.source_size > large_pair) {
            if (file.size != last_.content.size()) {
                last_ = {};
            }
            lock.lock();
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
        part_.bytes = compressed(bytes_of(whole.get()));
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
    };

    /// The content of a file, with how it was written.
    struct Written {
        std::string content;
        std::string source;
        std::optional<Place> place;
        bool patched = false;
    };

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
            cost_of(diff) >= cost_of(content)) {
            return std::nullopt;
        }
        return diff;
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

    void write_file(const NewFile& file, const FileObject& object) {
        begin(OSTREE_OBJECT_TYPE_FILE, file.checksum, last_.content.size());
        if (last_.patched) {
            operations_ += OpCode::set_source;
            add_number(put(checksum_bytes(file.source)).offset);
        }
        operations_ += last_.patched ? OpCode::open : OpCode::splice;
        add_number(index_of_mode(object.described));
        add_number(index_of_attributes(object));
        add_number(last_.content.size());
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
