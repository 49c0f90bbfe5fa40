#include "delta/binary_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <divsufsort.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Clients refuse records of more (INT_MAX).
constexpr std::size_t longest_run = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t number_size = 8;
constexpr std::uint64_t sign_bit = 1ULL << 63U;

/// Another place of the old content has to match this many bytes more than where the last one goes
/// on: a record costs about as much.
constexpr std::size_t worth_a_record = 8;

/// A run this long, where the last match goes on, is taken without looking for another one: that
/// takes a search of the whole old content for each byte.
constexpr std::size_t long_run = 32;

std::size_t common_prefix(std::string_view one, std::string_view other) {
    const std::size_t most = std::min(one.size(), other.size());
    return static_cast<std::size_t>(
        std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(most), other.begin())
            .first -
        one.begin());
}

struct Match {
    /// where, in the old content
    std::size_t place = 0;
    std::size_t length = 0;
};

/// The suffixes of a content in order.
class Suffixes {
public:
    explicit Suffixes(std::string_view content) : content_(content), order_(content.size()) {
        if (content.empty()) {
            return;
        }
        if (content.size() > longest_run ||
            ::divsufsort(reinterpret_cast<const sauchar_t*>(content.data()), order_.data(),
                         static_cast<saidx_t>(content.size())) != 0) {
            throw error("cannot sort {} bytes for a delta: out of memory", content.size());
        }
        find_beginnings();
    }

    /// Where the content has the longest beginning of `text`.
    [[nodiscard]] Match longest(std::string_view text) const {
        auto [low, high] = range_of(text);
        Match best;
        // What all suffixes between two bounds begin with need not be compared again.
        std::size_t common_low = 0;
        std::size_t common_high = 0;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            const auto place = static_cast<std::size_t>(order_[middle]);
            const std::string_view suffix = content_.substr(place);
            const std::size_t known = std::min(common_low, common_high);
            const std::size_t length =
                known + common_prefix(suffix.substr(known), text.substr(known));
            if (length > best.length) {
                best = {place, length};
            }
            if (length == text.size()) {
                break;
            }
            const bool below =
                length == suffix.size() || static_cast<unsigned char>(suffix[length]) <
                                               static_cast<unsigned char>(text[length]);
            if (below) {
                low = middle + 1;
                common_low = length;
            } else {
                high = middle;
                common_high = length;
            }
        }
        return best;
    }

private:
    static std::size_t beginning_of(std::string_view text) {
        return static_cast<std::size_t>(static_cast<unsigned char>(text[0])) << 8U |
               static_cast<unsigned char>(text[1]);
    }

    /// Most searches end in the same few places: `first_` tells where suffixes that begin with two
    /// certain bytes are, which saves sixteen steps, each to another page of memory.
    void find_beginnings() {
        if (content_.size() < beginnings) {
            return;
        }
        first_.assign(beginnings + 1, 0);
        for (std::size_t i = 0; i + 1 < content_.size(); ++i) {
            ++first_[beginning_of(content_.substr(i)) + 1];
        }
        // The last suffix is one byte long, and before all others that begin with it.
        ++first_[(static_cast<std::size_t>(static_cast<unsigned char>(content_.back())) << 8U) + 1];
        for (std::size_t i = 1; i < first_.size(); ++i) {
            first_[i] += first_[i - 1];
        }
    }

    [[nodiscard]] std::pair<std::size_t, std::size_t> range_of(std::string_view text) const {
        if (first_.empty() || text.size() < 2) {
            return {0, order_.size()};
        }
        const std::size_t beginning = beginning_of(text);
        return {first_[beginning], first_[beginning + 1]};
    }

    static constexpr std::size_t beginnings = 1U << 16U;

    std::string_view content_;
    std::vector<saidx_t> order_;
    /// for each two bytes: how many suffixes are before those that begin with them
    std::vector<std::uint32_t> first_;
};

/// Finds which parts of the new content are alike to which of the old one, and writes the records.
class Differ {
public:
    Differ(const Context& ctx, std::string_view old, std::string_view made)
        : ctx_(ctx), old_(old), made_(made), suffixes_(old) {}

    std::string run() {
        out_.reserve(made_.size() + made_.size() / 16);
        Match next;
        do {
            ctx_.check_cancelled();
            at_ += next.length;
            next = find_next();
            write_until(next, length_forward(), next.length == 0 ? 0 : length_backward(next));
        } while (next.length != 0);
        return std::move(out_);
    }

private:
    /// Whether the old content, where the last match goes on, has this byte of the new one.
    [[nodiscard]] bool goes_on_at(std::size_t place) const {
        const std::int64_t there = static_cast<std::int64_t>(place) + shift_;
        return there >= 0 && there < static_cast<std::int64_t>(old_.size()) &&
               old_[static_cast<std::size_t>(there)] == made_[place];
    }

    /// How many bytes from `at_` on are as where the last match goes on.
    [[nodiscard]] std::size_t run_length() const {
        const std::int64_t there = static_cast<std::int64_t>(at_) + shift_;
        return there < 0 || there >= static_cast<std::int64_t>(old_.size())
                   ? 0
                   : common_prefix(old_.substr(static_cast<std::size_t>(there)), made_.substr(at_));
    }

    /// Goes to the next byte from which on another place of the old content matches better than
    /// where the last match goes on, and returns that; to the end if there is none.
    Match find_next() {
        // How many of the bytes [at_, counted) the last match has right.
        std::size_t right = 0;
        std::size_t counted = at_;
        while (at_ < made_.size()) {
            if (const std::size_t run = run_length(); run >= long_run) {
                at_ += run;
                right = 0;
                counted = at_;
                continue;
            }
            const Match found = suffixes_.longest(made_.substr(at_));
            for (; counted < at_ + found.length; ++counted) {
                right += goes_on_at(counted) ? 1 : 0;
            }
            if (found.length > right + worth_a_record) {
                return found;
            }
            if (found.length == right && found.length != 0) {
                at_ += found.length;
                right = 0;
                counted = at_;
                continue;
            }
            if (counted == at_) {
                ++counted;
            } else {
                right -= goes_on_at(at_) ? 1 : 0;
            }
            ++at_;
        }
        return {};
    }

    /// How far the last match is taken beyond its beginning: most of the bytes are right.
    [[nodiscard]] std::size_t length_forward() const {
        std::size_t best = 0;
        std::int64_t score = 0;
        std::int64_t best_score = 0;
        for (std::size_t i = last_; i < at_; ++i) {
            const std::int64_t there = static_cast<std::int64_t>(i) + shift_;
            if (there < 0 || there >= static_cast<std::int64_t>(old_.size())) {
                break;
            }
            score += goes_on_at(i) ? 1 : -1;
            if (score > best_score) {
                best_score = score;
                best = i + 1 - last_;
            }
        }
        return best;
    }

    /// How far the next match is taken before its beginning.
    [[nodiscard]] std::size_t length_backward(const Match& next) const {
        std::size_t best = 0;
        std::int64_t score = 0;
        std::int64_t best_score = 0;
        for (std::size_t i = 1; i <= at_ - last_ && i <= next.place; ++i) {
            score += old_[next.place - i] == made_[at_ - i] ? 1 : -1;
            if (score > best_score) {
                best_score = score;
                best = i;
            }
        }
        return best;
    }

    /// Where both matches claim the same bytes: how many of them the last one gets.
    [[nodiscard]] std::size_t share_of_last(const Match& next, std::size_t begin,
                                            std::size_t end) const {
        std::int64_t score = 0;
        std::int64_t best_score = 0;
        std::size_t best = 0;
        for (std::size_t i = begin; i < end; ++i) {
            score += goes_on_at(i) ? 1 : 0;
            score -= old_[next.place + i - at_] == made_[i] ? 1 : 0;
            if (score > best_score) {
                best_score = score;
                best = i + 1 - begin;
            }
        }
        return best;
    }

    /// Writes everything up to where the next match begins, `back` bytes before `at_`.
    void write_until(const Match& next, std::size_t forward, std::size_t back) {
        if (last_ + forward > at_ - back) {
            const std::size_t begin = at_ - back;
            const std::size_t end = last_ + forward;
            const std::size_t kept = share_of_last(next, begin, end);
            forward = begin + kept - last_;
            back -= kept;
        }
        const std::size_t begin_of_next = at_ - back;
        const std::int64_t old_end = static_cast<std::int64_t>(last_ + forward) + shift_;
        const std::int64_t next_shift =
            static_cast<std::int64_t>(next.place) - static_cast<std::int64_t>(at_);
        const std::size_t own = begin_of_next - (last_ + forward);
        write_number(static_cast<std::int64_t>(forward));
        write_number(static_cast<std::int64_t>(own));
        write_number(
            next.length == 0 ? 0 : static_cast<std::int64_t>(begin_of_next) + next_shift - old_end);
        for (std::size_t i = last_; i < last_ + forward; ++i) {
            const auto there = static_cast<std::size_t>(static_cast<std::int64_t>(i) + shift_);
            out_ += static_cast<char>(static_cast<unsigned char>(made_[i]) -
                                      static_cast<unsigned char>(old_[there]));
        }
        out_.append(made_.substr(last_ + forward, own));
        last_ = begin_of_next;
        shift_ = next_shift;
    }

    void write_number(std::int64_t number) {
        std::uint64_t bits = number < 0 ? static_cast<std::uint64_t>(-number) | sign_bit
                                        : static_cast<std::uint64_t>(number);
        for (std::size_t i = 0; i < number_size; ++i, bits >>= 8U) {
            out_ += static_cast<char>(bits & 0xffU);
        }
    }

    const Context& ctx_;
    std::string_view old_;
    std::string_view made_;
    Suffixes suffixes_;
    std::string out_;
    /// What comes before it in the new content is written.
    std::size_t last_ = 0;
    /// From a place in the new content to that of the old one which the last match has for it.
    std::int64_t shift_ = 0;
    std::size_t at_ = 0;
};

/// Reads a diff as clients do.
class DiffReader {
public:
    explicit DiffReader(std::string_view diff) : rest_(diff) {}

    [[nodiscard]] std::optional<std::int64_t> number() {
        const std::optional<std::string_view> bytes = take(number_size);
        if (!bytes) {
            return std::nullopt;
        }
        std::uint64_t bits = 0;
        for (std::size_t i = number_size; i-- > 0;) {
            bits = bits << 8U | static_cast<unsigned char>((*bytes)[i]);
        }
        const auto size = static_cast<std::int64_t>(bits & ~sign_bit);
        return (bits & sign_bit) != 0 ? -size : size;
    }

    [[nodiscard]] std::optional<std::string_view> take(std::size_t count) {
        if (count > rest_.size()) {
            return std::nullopt;
        }
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

private:
    std::string_view rest_;
};

}  // namespace

std::string binary_diff(const Context& ctx, std::string_view old, std::string_view made) {
    if (made.size() > longest_run) {
        throw error("cannot make a delta of {} bytes", made.size());
    }
    return Differ(ctx, old, made).run();
}

bool makes(std::string_view diff, std::string_view old, std::string_view made) {
    DiffReader reader(diff);
    std::size_t done = 0;
    std::int64_t place = 0;
    while (done < made.size()) {
        const auto added = reader.number();
        const auto own = reader.number();
        const auto seek = reader.number();
        if (!added || !own || !seek || *added < 0 || *own < 0 ||
            made.size() - done < static_cast<std::size_t>(*added) ||
            made.size() - done - static_cast<std::size_t>(*added) <
                static_cast<std::size_t>(*own)) {
            return false;
        }
        const auto differences = reader.take(static_cast<std::size_t>(*added));
        const auto content = reader.take(static_cast<std::size_t>(*own));
        // What lies outside of the old content counts as zero.
        if (!differences || !content) {
            return false;
        }
        for (std::size_t i = 0; i < differences->size(); ++i, ++place, ++done) {
            const bool there = place >= 0 && place < static_cast<std::int64_t>(old.size());
            const auto base = there
                                  ? static_cast<unsigned char>(old[static_cast<std::size_t>(place)])
                                  : static_cast<unsigned char>(0);
            const auto sum =
                static_cast<unsigned char>(base + static_cast<unsigned char>((*differences)[i]));
            if (sum != static_cast<unsigned char>(made[done])) {
                return false;
            }
        }
        if (*content != made.substr(done, content->size())) {
            return false;
        }
        done += content->size();
        place += *seek;
    }
    return true;
}

}  // namespace edgegpu
