#include "bundles/go_module.hpp"

#include <cstddef>
#include <cstdint>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view magic = "\xff Go buildinf:";
constexpr std::size_t alignment = 16;
constexpr std::size_t header_size = 32;
/// Where the flags are in the header; the strings follow the header if this one is set.
constexpr std::size_t flags_place = 15;
constexpr unsigned char strings_follow = 2;
/// Random bytes before and after the text, by which tools find it.
constexpr std::size_t frame = 16;

/// Takes a string with its length before it, a little-endian base 128 number, off `data`.
std::optional<std::string_view> take_string(std::string_view& data) {
    std::uint64_t length = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (data.empty()) {
            return std::nullopt;
        }
        const auto byte = static_cast<unsigned char>(data.front());
        data.remove_prefix(1);
        length |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            if (length > data.size()) {
                return std::nullopt;
            }
            const std::string_view text = data.substr(0, length);
            data.remove_prefix(length);
            return text;
        }
    }
    return std::nullopt;
}

/// The line "mod\tPATH\tVERSION\t…" of the text.
std::optional<GoModule> main_module(std::string_view text) {
    for (std::string_view line : lines_of(text)) {
        constexpr std::string_view key = "mod\t";
        if (!line.starts_with(key)) {
            continue;
        }
        line.remove_prefix(key.size());
        const std::size_t end = line.find('\t');
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view version = line.substr(end + 1);
        return GoModule{std::string(line.substr(0, end)),
                        std::string(version.substr(0, version.find('\t')))};
    }
    return std::nullopt;
}

std::optional<GoModule> module_at(std::string_view data) {
    if (data.size() < header_size ||
        (static_cast<unsigned char>(data[flags_place]) & strings_follow) == 0) {
        return std::nullopt;
    }
    data.remove_prefix(header_size);
    if (!take_string(data)) {  // the version of Go
        return std::nullopt;
    }
    const std::optional<std::string_view> framed = take_string(data);
    if (!framed || framed->size() < 2 * frame) {
        return std::nullopt;
    }
    return main_module(framed->substr(frame, framed->size() - 2 * frame));
}

}  // namespace

std::optional<GoModule> go_module_of(std::string_view program) {
    for (std::size_t at = program.find(magic); at != std::string_view::npos;
         at = program.find(magic, at + 1)) {
        if (at % alignment == 0) {
            if (std::optional<GoModule> found = module_at(program.substr(at))) {
                return found;
            }
        }
    }
    return std::nullopt;
}

}  // namespace edgegpu
