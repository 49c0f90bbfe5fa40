#include "support/tmpfiles_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/escape.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view blanks = " \t";

/// Appends what a backslash at the beginning of `text` stands for, and removes it from there. In
/// quoted fields each version of systemd takes the next character, newer ones escapes of C as well.
void take_escape(std::string_view& text, std::string& value) {
    const Escape escape = escape_at(text);
    if (escape.length > 0) {
        value += escape.value;
        text.remove_prefix(escape.length);
        return;
    }
    value += text.substr(1, 1);
    text.remove_prefix(std::min<std::size_t>(2, text.size()));
}

/// Removes the next field and the blanks before it.
std::string take_field(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    std::string value;
    char quote = '\0';
    while (!line.empty()) {
        const char c = line.front();
        if (c == '\\') {
            take_escape(line, value);
            continue;
        }
        if (quote == '\0' && blanks.find(c) != std::string_view::npos) {
            break;
        }
        if (c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            value += c;
        }
        line.remove_prefix(1);
    }
    return value;
}

std::string argument_of(std::string_view text) {
    text = trim(text);
    text = text == "-" ? std::string_view() : text;
    std::string value;
    while (!text.empty()) {
        if (text.front() == '\\') {
            take_escape(text, value);
        } else {
            value += text.front();
            text.remove_prefix(1);
        }
    }
    return value;
}

std::string doubled_percent_signs(std::string_view path) {
    return sum_of(path, [](char c) { return c == '%' ? "%%" : std::string(1, c); });
}

}  // namespace

std::optional<TmpfilesLine> parse_tmpfiles_line(std::string_view line) {
    line = trim(line);
    if (line.starts_with('#') || line.starts_with(';')) {
        return std::nullopt;
    }
    TmpfilesLine parsed;
    parsed.type = take_field(line);
    parsed.path = take_field(line);
    parsed.rest = line;
    if (parsed.type.empty() || parsed.path.empty()) {
        return std::nullopt;
    }
    for (std::string* field : {&parsed.mode, &parsed.user, &parsed.group, &parsed.age}) {
        *field = take_field(line);
    }
    parsed.argument = argument_of(line);
    return parsed;
}

std::optional<std::string> without_specifiers(std::string_view text) {
    std::string literal;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && (i + 1 == text.size() || text[++i] != '%')) {
            return std::nullopt;
        }
        literal += text[i];
    }
    return literal;
}

std::string tmpfiles_field(std::string_view path) {
    if (path.find_first_of("\r\n") != std::string_view::npos) {
        throw error("{} cannot be made on devices: its name has the end of a line", path)
            .hinted("give it another name");
    }
    const bool plain = std::ranges::all_of(path, [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '\'' && c != '\\';
    });
    if (plain) {
        return std::string(path);
    }
    std::string quoted = "\"";
    for (const char c : path) {
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
    return quoted + '"';
}

std::string tmpfiles_path(std::string_view path) {
    return tmpfiles_field(doubled_percent_signs(path));
}

std::string tmpfiles_argument(std::string_view path) {
    std::string escaped;
    for (const char c : doubled_percent_signs(path)) {
        const auto byte = static_cast<unsigned char>(c);
        // "-" alone means that there is no argument.
        const bool needs = byte <= ' ' || byte == 0x7f || c == '\\' || path == "-";
        escaped += needs ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    return escaped;
}

}  // namespace edgegpu
