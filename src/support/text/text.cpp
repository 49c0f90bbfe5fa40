#include "support/text/text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

namespace edgegpu {

namespace {

std::string digits_of(std::string_view bytes, std::string_view digits) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 0xfU];
    }
    return text;
}

/// UTC, for strftime; "no date" if the year is out of range.
std::string date_text(std::int64_t seconds, const char* form) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&time, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), form, &parts) == 0) {
        return "no date";
    }
    return text.data();
}

}  // namespace

std::string_view trim(std::string_view text, std::string_view blanks) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view trim_end(std::string_view text, std::string_view blanks) {
    return text.substr(0, text.find_last_not_of(blanks) + 1);  // npos + 1 is 0
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        lines.push_back(take_line(text));
    }
    return lines;
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(separators);
        if (begin == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(separators), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::vector<std::string> last_lines(std::string_view output, std::size_t count) {
    std::vector<std::string> lines;
    while (!output.empty() && lines.size() < count) {
        const std::size_t begin = output.rfind('\n') + 1;  // npos + 1 is 0
        if (begin < output.size()) {
            lines.emplace_back(output.substr(begin));
        }
        output = output.substr(0, begin == 0 ? 0 : begin - 1);
    }
    std::ranges::reverse(lines);
    return lines;
}

std::string hexadecimal(std::string_view bytes) {
    return digits_of(bytes, "0123456789abcdef");
}

std::string upper_hexadecimal(std::string_view bytes) {
    return digits_of(bytes, "0123456789ABCDEF");
}

bool is_hexadecimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_sha256(std::string_view text) {
    return text.size() == 64 && is_hexadecimal(text);
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return lower;
}

bool begins_with_any_case(std::string_view text, std::string_view start) {
    return lower_case(text.substr(0, start.size())) == start;
}

bool is_below(std::string_view path, std::string_view top) {
    return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

std::string text_of(const char* text) {
    return text != nullptr ? text : "";
}

std::string day_text(std::int64_t seconds) {
    return date_text(seconds, "%Y-%m-%d");
}

std::string minute_text(std::int64_t seconds) {
    return date_text(seconds, "%Y-%m-%d %H:%M");
}

std::string iso_time(std::int64_t seconds) {
    return date_text(seconds, "%Y-%m-%dT%H:%M:%SZ");
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\u{:04x}", byte);
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace edgegpu
