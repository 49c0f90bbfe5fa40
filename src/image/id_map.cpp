#include "image/id_map.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint32_t first_of_root = 0x70000000;
constexpr std::uint32_t all_ids = 0xffffffff;

/// Parses `Count` numbers of 32 bits separated by any of `separators`; nothing if `line` has
/// anything else.
template <std::size_t Count>
std::optional<std::array<std::uint32_t, Count>> numbers_of(std::string_view line,
                                                           std::string_view separators) {
    std::array<std::uint32_t, Count> numbers{};
    for (std::uint32_t& number : numbers) {
        line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
        const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (code != std::errc()) {
            return std::nullopt;
        }
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
    return line.find_first_not_of(separators) == std::string_view::npos ? std::optional(numbers)
                                                                        : std::nullopt;
}

bool overlap(std::uint64_t first, std::uint64_t count, const IdRange& other) {
    return first < std::uint64_t{other.first} + other.count && other.first < first + count;
}

/// The first of `image_ids` consecutive free ids of the machine, or nothing.
std::optional<std::uint32_t> free_range(const std::vector<IdRange>& taken) {
    std::uint64_t first = first_of_root;
    for (bool moved = true; moved;) {
        moved = false;
        for (const IdRange& other : taken) {
            if (other.count > 0 && overlap(first, image_ids, other)) {
                first = std::uint64_t{other.first} + other.count;
                moved = true;
            }
        }
    }
    return first + image_ids < all_ids ? std::optional(static_cast<std::uint32_t>(first))
                                       : std::nullopt;
}

/// The first of the last `image_ids` consecutive ids of a container, without 0, or nothing.
std::optional<std::uint32_t> last_range(IdMap current) {
    std::ranges::sort(current, {}, &IdExtent::inside);
    std::optional<std::uint32_t> last;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (const IdExtent& extent : current) {
        begin = extent.inside == end ? begin : extent.inside;
        end = std::uint64_t{extent.inside} + extent.count;
        if (end - std::max<std::uint64_t>(begin, 1) >= image_ids && end > begin) {
            last = static_cast<std::uint32_t>(end - image_ids);
        }
    }
    return last;
}

}  // namespace

IdMap parse_id_map(std::string_view text) {
    IdMap map;
    for (const std::string_view line : lines_of(text)) {
        if (const auto numbers = numbers_of<3>(line, " \t")) {
            map.push_back({(*numbers)[0], (*numbers)[1], (*numbers)[2]});
        }
    }
    return map;
}

std::optional<std::uint32_t> id_outside(const IdMap& map, std::uint32_t id) {
    constexpr std::uint32_t without_id = 65534;  // the kernel's overflowuid
    for (const IdExtent& extent : map) {
        if (id != without_id && id >= extent.inside && id - extent.inside < extent.count) {
            return extent.outside + (id - extent.inside);
        }
    }
    return std::nullopt;
}

std::string format_id_map(const IdMap& map) {
    return sum_of(map, [](const IdExtent& extent) {
        return fmt::format("{} {} {}\n", extent.inside, extent.outside, extent.count);
    });
}

IdMap map_for_user(const std::vector<IdRange>& subordinate, std::uint32_t caller) {
    IdMap map;
    std::uint32_t next = 0;
    for (const IdRange& range : subordinate) {
        const std::uint32_t count = std::min(range.count, image_ids - next);
        if (count > 0) {
            map.push_back({next, range.first, count});
            next += count;
        }
    }
    if (next < image_ids) {
        return {};
    }
    map.push_back({caller_id, caller, 1});
    return map;
}

IdMap map_for_root(const IdMap& current, const std::vector<IdRange>& taken) {
    const bool first_namespace =
        current.size() == 1 && current.front().inside == 0 && current.front().count == all_ids;
    const std::optional<std::uint32_t> first =
        first_namespace ? free_range(taken) : last_range(current);
    if (!first) {
        return {};
    }
    // Only up to the first gap, as a map must not contain ids that do not exist.
    std::uint32_t below = 1;
    for (const IdExtent& extent : current) {
        if (extent.inside == 0) {
            below = std::max(below, extent.count);
        }
    }
    return {{0, *first, image_ids}, {caller_id, 0, std::min(below, *first)}};
}

std::vector<IdRange> parse_subordinate_file(std::string_view text) {
    std::vector<IdRange> ranges;
    for (const std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        if (const auto numbers = numbers_of<2>(line.substr(colon), ":")) {
            ranges.push_back({(*numbers)[0], (*numbers)[1]});
        }
    }
    return ranges;
}

}  // namespace edgegpu
