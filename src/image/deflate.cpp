#include "image/deflate.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry_lock.hpp"
#include "cache/last_use.hpp"
#include "execution/memory_budget.hpp"
#include "execution/parallel.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t magic = 0x31464445;  // "EDF1"
constexpr std::size_t trailer_size = 16;
// Content and stream are in memory then; larger contents are deflated in pieces.
constexpr std::uint64_t largest_at_once = 32ULL << 20U;
// Bytes that all threads together may use for contents and streams: one of the largest, and others
// beside it. Two of them at a time were the peak of a whole build.
constexpr std::uint64_t memory_budget = 96ULL << 20U;
constexpr std::size_t piece_size = 1UL << 20U;
// Pieces that take longer than others do not keep a thread waiting for long, if each has several.
constexpr std::uint64_t pieces_a_thread = 4;
// With those that are written meanwhile, 64 MiB of contents and streams.
constexpr std::uint64_t most_pieces = 16;
// Contents below this size are deflated without a lock: two builds may do it twice.
constexpr std::uint64_t worth_a_lock = 64ULL << 10U;
constexpr std::size_t copy_size = 256UL << 10U;

using Trailer = std::array<unsigned char, trailer_size>;

void put_little_endian(unsigned char* place, std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) {
        place[i] = static_cast<unsigned char>(value >> (8U * i));
    }
}

Trailer make_trailer(std::uint32_t crc, std::uint64_t size) {
    Trailer trailer{};
    put_little_endian(trailer.data(), crc, 4);
    put_little_endian(trailer.data() + 4, magic, 4);
    put_little_endian(trailer.data() + 8, size, 8);
    return trailer;
}

[[noreturn]] void throw_changed(const Entry& entry) {
    throw error("{}: its content is not the one recorded for it", entry.content.string())
        .hinted("the cache was changed from outside: delete this file and build again");
}

/// A stream that is written to the cache, where it gets its name when it is complete.
class NewStream {
public:
    NewStream(const Context& ctx, fs::path path) : ctx_(ctx), path_(std::move(path)) {
        make_directories(path_.parent_path());
        temporary_ = path_.string() + ".XXXXXX";
        file_ = Fd(::mkostemp(temporary_.data(), O_CLOEXEC));
        if (!file_) {
            throw write_error(ctx_.cache.string(), path_.string(), errno);
        }
    }
    NewStream(const NewStream&) = delete;
    NewStream& operator=(const NewStream&) = delete;
    ~NewStream() {
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }
    void append(const void* data, std::size_t size) {
        crc_ = libdeflate_crc32(crc_, data, size);
        write(data, size);
    }
    void finish(std::uint64_t content_size) {
        const Trailer trailer = make_trailer(crc_, content_size);
        write(trailer.data(), trailer.size());
        if (::fchmod(file_.get(), 0644) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
            throw write_error(ctx_.cache.string(), path_.string(), errno);
        }
        temporary_.clear();
    }

private:
    void write(const void* data, std::size_t size) {
        if (!write_all(file_.get(), {static_cast<const char*>(data), size})) {
            throw write_error(ctx_.cache.string(), path_.string(), errno);
        }
    }

    const Context& ctx_;
    fs::path path_;
    std::string temporary_;
    Fd file_;
    std::uint32_t crc_ = 0;
};

// Reads exactly `size` bytes at `offset`; a shorter file is an Error.
void read_content(const Entry& entry, int file, char* data, std::size_t size,
                  std::uint64_t offset) {
    const ssize_t got = read_at(file, data, size, offset);
    if (got < 0) {
        throw errno_error(entry.content.string(), errno);
    }
    if (static_cast<std::size_t>(got) != size) {
        throw_changed(entry);
    }
}

}  // namespace

DeflateStreams::DeflateStreams(const Context& ctx)
    : ctx_(ctx), directory_(ctx.cache / "deflate"), level_(ctx.deflate_level) {}

fs::path DeflateStreams::path_of(const Entry& entry) const {
    const std::string name =
        level_ == default_deflate_level ? entry.digest : fmt::format("{}-{}", entry.digest, level_);
    return directory_ / entry.digest.substr(0, 2) / name;
}

bool DeflateStreams::has(const Entry& entry) const {
    const fs::path path = path_of(entry);
    struct stat status {};
    return mark_used(ctx_, path) && ::stat(path.c_str(), &status) == 0 &&
           status.st_size > static_cast<off_t>(trailer_size);
}

CompressorHandle DeflateStreams::take_compressor(int level) {
    if (level == level_) {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            CompressorHandle compressor = std::move(idle_.back());
            idle_.pop_back();
            return compressor;
        }
    }
    return new_compressor(level);
}

void DeflateStreams::give_back(CompressorHandle compressor, int level) {
    if (level == level_) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(compressor));
    }
}

std::string DeflateStreams::deflate(const Entry& entry, std::string_view content) {
    if (sha256_hex(content) != entry.digest) {
        throw_changed(entry);
    }
    const int level =
        level_for([&](std::uint64_t offset,
                      std::size_t size) { return std::string(content.substr(offset, size)); },
                  content.size(), level_);
    CompressorHandle compressor = take_compressor(level);
    std::string out = deflate_whole(compressor.get(), content);
    give_back(std::move(compressor), level);
    return out;
}

void DeflateStreams::make_one(const Entry& entry) {
    std::string content(entry.size, '\0');
    read_content(entry, open_to_read(entry.content).get(), content.data(), content.size(), 0);
    const std::string stream = deflate(entry, content);
    NewStream out(ctx_, path_of(entry));
    out.append(stream.data(), stream.size());
    out.finish(entry.size);
}

void DeflateStreams::make_large(const Entry& entry) {
    /// Pieces that are deflated beside each other.
    struct Wave {
        std::vector<std::string> contents;
        std::vector<std::string> streams;
    };
    const Fd file = open_to_read(entry.content);
    const std::uint64_t pieces = (entry.size + piece_size - 1) / piece_size;
    const std::uint64_t at_once =
        std::clamp<std::uint64_t>(ctx_.jobs * pieces_a_thread, 1, most_pieces);
    NewStream out(ctx_, path_of(entry));
    Sha256 hash;
    const auto finish_wave = [&](const Wave& wave) {
        for (std::size_t i = 0; i < wave.contents.size(); ++i) {
            hash.update(wave.contents[i]);
            out.append(wave.streams[i].data(), wave.streams[i].size());
        }
    };
    Wave done;
    for (std::uint64_t first = 0; first < pieces; first += at_once) {
        const std::uint64_t count = std::min(at_once, pieces - first);
        Wave wave{std::vector<std::string>(count), std::vector<std::string>(count)};
        // One thread hashes and writes those before.
        parallel_for(ctx_, count + 1, [&](std::size_t task) {
            if (task == 0) {
                finish_wave(done);
                return;
            }
            const std::uint64_t piece = first + task - 1;
            const std::uint64_t offset = piece * piece_size;
            std::string content(std::min<std::uint64_t>(piece_size, entry.size - offset), '\0');
            read_content(entry, file.get(), content.data(), content.size(), offset);
            wave.streams[task - 1] = deflate_piece(content, level_, piece + 1 == pieces);
            wave.contents[task - 1] = std::move(content);
        });
        done = std::move(wave);
    }
    finish_wave(done);
    if (hash.hex() != entry.digest) {
        throw_changed(entry);
    }
    out.finish(entry.size);
}

void DeflateStreams::make(std::vector<const Entry*> entries) {
    std::ranges::sort(entries, [](const Entry* a, const Entry* b) {
        return a->size != b->size ? a->size > b->size : a->digest < b->digest;
    });
    const auto small = std::ranges::find_if(
        entries, [](const Entry* entry) { return entry->size <= largest_at_once; });
    for (auto large = entries.begin(); large != small; ++large) {
        const EntryLock lock(ctx_, EntryKind::deflate, (*large)->digest,
                             "is compressing a large file");
        if (!has(**large)) {
            make_large(**large);
        }
    }
    MemoryBudget budget(memory_budget);
    const auto offset = small - entries.begin();
    // Contents that another build is deflating come last, when they are probably done.
    std::mutex mutex;
    std::vector<const Entry*> busy;
    parallel_for(ctx_, static_cast<std::size_t>(entries.end() - small), [&](std::size_t i) {
        const Entry& entry = *entries[static_cast<std::size_t>(offset) + i];
        if (has(entry)) {
            return;
        }
        std::optional<EntryLock> lock;
        if (entry.size >= worth_a_lock) {
            lock = EntryLock::try_take(ctx_, EntryKind::deflate, entry.digest);
            if (!lock) {
                const std::lock_guard guard(mutex);
                busy.push_back(&entry);
                return;
            }
        }
        const HeldMemory held(budget, 2 * entry.size);
        make_one(entry);
    });
    parallel_for(ctx_, busy.size(), [&](std::size_t i) {
        const EntryLock lock(ctx_, EntryKind::deflate, busy[i]->digest, "is compressing a file");
        if (!has(*busy[i])) {
            const HeldMemory held(budget, 2 * busy[i]->size);
            make_one(*busy[i]);
        }
    });
}

bool DeflateStreams::read(const Entry& entry, const Sink& sink) {
    if (entry.size == 0) {
        // A final block without content, RFC 1951 3.2.6.
        sink(std::string_view("\x03\x00", 2));
        return true;
    }
    if (entry.size < smallest_cached_stream) {
        std::string content(entry.size, '\0');
        read_content(entry, open_to_read(entry.content).get(), content.data(), content.size(), 0);
        sink(deflate(entry, content));
        return true;
    }
    const fs::path path = path_of(entry);
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) {
        make({&entry});
        file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        throw errno_error(path.string(), errno);
    }
    std::uint64_t rest = status.st_size < static_cast<off_t>(trailer_size)
                             ? 0
                             : static_cast<std::uint64_t>(status.st_size) - trailer_size;
    std::string buffer(std::min<std::uint64_t>(copy_size, rest + trailer_size), '\0');
    std::uint32_t crc = 0;
    std::uint64_t offset = 0;
    while (rest > 0) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), rest));
        read_content(entry, file.get(), buffer.data(), size, offset);
        crc = libdeflate_crc32(crc, buffer.data(), size);
        sink(std::string_view(buffer.data(), size));
        offset += size;
        rest -= size;
    }
    Trailer found{};
    const ssize_t got = ::pread(file.get(), found.data(), found.size(), static_cast<off_t>(offset));
    if (offset > 0 && got == static_cast<ssize_t>(found.size()) &&
        found == make_trailer(crc, entry.size)) {
        return true;
    }
    ::unlink(path.c_str());
    return false;
}

void deflate_contents(const Context& ctx, const Entries& entries) {
    DeflateStreams streams(ctx);
    std::unordered_set<std::string_view> seen;
    std::vector<const Entry*> missing;
    std::size_t found = 0;
    for (const auto& [path, entry] : entries) {
        if (entry.type == EntryType::file && entry.size >= smallest_cached_stream &&
            seen.insert(entry.digest).second) {
            if (streams.has(entry)) {
                ++found;
            } else {
                missing.push_back(&entry);
            }
        }
    }
    ctx.log.debug("deflate streams", {{"found", found}, {"missing", missing.size()}});
    streams.make(std::move(missing));
}

}  // namespace edgegpu
