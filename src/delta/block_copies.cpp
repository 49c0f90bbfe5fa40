#include "delta/block_copies.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace edgegpu {

namespace {

constexpr std::size_t block_size = 32;
/// A shorter copy costs as much as its bytes: three numbers, and a file that clients open again.
constexpr std::size_t shortest_copy = 64;
/// Bytes between two looks at whether the user wants to stop.
constexpr std::size_t stride = 16U << 20U;

std::uint64_t word_at(const char* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

/// Of the `block_size` bytes there; the same on all machines with this byte order.
std::uint64_t hash_of(const char* block) {
    constexpr std::uint64_t first = 0x9E3779B185EBCA87;
    constexpr std::uint64_t others = 0xC2B2AE3D27D4EB4F;
    std::uint64_t hash = word_at(block) * first;
    for (std::size_t i = sizeof(hash); i < block_size; i += sizeof(hash)) {
        hash = (hash ^ (hash >> 29U) ^ word_at(block + i)) * others;
    }
    return hash ^ (hash >> 32U);
}

/// The same byte all over: they are in every program, and compress to nothing.
bool is_uniform(const char* block) {
    return std::memcmp(block, block + 1, block_size - 1) == 0;
}

/// Where the old content has which block.
class BlockIndex {
public:
    BlockIndex(const Context& ctx, std::string_view old) : old_(old) {
        const std::size_t blocks = old.size() / block_size;
        first_.resize(std::bit_ceil(2 * blocks + 1));
        known_.resize(std::bit_ceil(16 * blocks + 64) / 64);
        for (std::size_t i = 0; i < blocks; ++i) {
            if (i % (stride / block_size) == 0) {
                ctx.check_cancelled();
            }
            const char* block = old.data() + i * block_size;
            if (is_uniform(block)) {
                continue;
            }
            const std::uint64_t hash = hash_of(block);
            known_[word_of(hash)] |= bit_of(hash);
            std::uint32_t& entry = first_[hash & (first_.size() - 1)];
            if (entry == 0) {
                entry = static_cast<std::uint32_t>(i + 1);
            }
        }
    }

    /// Where the old content has these `block_size` bytes, on a multiple of that size.
    [[nodiscard]] std::optional<std::size_t> find(const char* block) const {
        const std::uint64_t hash = hash_of(block);
        // Most are not there, and one look at a small table says so.
        if ((known_[word_of(hash)] & bit_of(hash)) == 0) {
            return std::nullopt;
        }
        const std::uint32_t entry = first_[hash & (first_.size() - 1)];
        if (entry == 0) {
            return std::nullopt;
        }
        const std::size_t place = (entry - std::size_t{1}) * block_size;
        return std::memcmp(old_.data() + place, block, block_size) == 0 ? std::optional(place)
                                                                        : std::nullopt;
    }

private:
    // The two tables go by different bits.
    [[nodiscard]] std::size_t word_of(std::uint64_t hash) const {
        return (hash >> 38U) & (known_.size() - 1);
    }
    [[nodiscard]] static std::uint64_t bit_of(std::uint64_t hash) {
        return std::uint64_t{1} << ((hash >> 32U) % 64U);
    }

    std::string_view old_;
    /// numbers of blocks, from 1 on
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> known_;
};

/// Takes pieces from the beginning of the new content to its end.
class CopyFinder {
public:
    CopyFinder(const Context& ctx, std::string_view old, std::string_view made)
        : ctx_(ctx), old_(old), made_(made), index_(ctx, old) {}

    std::vector<ContentPiece> run() {
        std::size_t next_look = 0;
        while (at_ + block_size <= made_.size()) {
            if (at_ >= next_look) {
                ctx_.check_cancelled();
                next_look = at_ + stride;
            }
            const std::optional<std::size_t> place = place_of_block();
            if (!place || !take(*place)) {
                ++at_;
            }
        }
        add_own(made_.size());
        return std::move(pieces_);
    }

private:
    /// Where the old content has the block at `at_`: where the last copy goes on, or anywhere.
    [[nodiscard]] std::optional<std::size_t> place_of_block() const {
        const char* block = made_.data() + at_;
        const std::size_t there = at_ + shift_;
        if (there < old_.size() && old_.size() - there >= block_size &&
            std::memcmp(old_.data() + there, block, block_size) == 0) {
            return there;
        }
        return index_.find(block);
    }

    /// Takes the copy to which the block at `at_` belongs, if it is worth it.
    bool take(std::size_t place) {
        std::size_t before = 0;
        const std::size_t most_before = std::min(at_ - done_, place);
        while (before < most_before && old_[place - before - 1] == made_[at_ - before - 1]) {
            ++before;
        }
        const auto* rest = made_.data() + at_;
        const std::size_t most = std::min(made_.size() - at_, old_.size() - place);
        const auto length = static_cast<std::size_t>(
            std::mismatch(rest, rest + most, old_.data() + place).first - rest);
        if (before + length < shortest_copy) {
            return false;
        }
        add_own(at_ - before);
        pieces_.push_back({true, place - before, before + length});
        shift_ = place - at_;
        at_ += length;
        done_ = at_;
        return true;
    }

    void add_own(std::size_t end) {
        if (end > done_) {
            pieces_.push_back({false, done_, end - done_});
            done_ = end;
        }
    }

    const Context& ctx_;
    std::string_view old_;
    std::string_view made_;
    BlockIndex index_;
    std::vector<ContentPiece> pieces_;
    std::size_t at_ = 0;
    /// What comes before it is in pieces.
    std::size_t done_ = 0;
    /// From a place in the new content to that of the old one where the last copy has it; modulo
    /// 2^64.
    std::size_t shift_ = 0;
};

}  // namespace

std::vector<ContentPiece> find_copies(const Context& ctx, std::string_view old,
                                      std::string_view made) {
    return CopyFinder(ctx, old, made).run();
}

bool makes(const std::vector<ContentPiece>& pieces, std::string_view old, std::string_view made) {
    std::size_t done = 0;
    for (const ContentPiece& piece : pieces) {
        const std::string_view whole = piece.copied ? old : made;
        if (piece.offset > whole.size() || whole.size() - piece.offset < piece.size ||
            made.size() - done < piece.size || (!piece.copied && piece.offset != done) ||
            whole.substr(piece.offset, piece.size) != made.substr(done, piece.size)) {
            return false;
        }
        done += piece.size;
    }
    return done == made.size();
}

std::size_t own_size(const std::vector<ContentPiece>& pieces) {
    std::size_t size = 0;
    for (const ContentPiece& piece : pieces) {
        size += piece.copied ? 0 : piece.size;
    }
    return size;
}

}  // namespace edgegpu
