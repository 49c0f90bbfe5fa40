#include "delta/likeness.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "image/deflate_call.hpp"

namespace edgegpu {

std::size_t deflated_size(std::string_view bytes) {
    return deflate_whole(new_compressor(1).get(), bytes).size();
}

bool is_compressed(std::string_view content) {
    return level_for([&](std::uint64_t offset,
                         std::size_t size) { return std::string(content.substr(offset, size)); },
                     content.size(), 1) == 0;
}

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

}  // namespace edgegpu
