#include "blueprint/toml/toml_statements.hpp"

#include <algorithm>

namespace edgegpu {

namespace {

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

/// Whether `string`, which begins with its quotes, also ends with them.
bool is_closed(std::string_view string) {
    const char quote = string.front();
    const std::size_t length = string.starts_with(std::string(3, quote)) ? 3 : 1;
    if (string.size() < 2 * length || !string.ends_with(std::string(length, quote))) {
        return false;
    }
    const std::string_view inside = string.substr(0, string.size() - length);
    const std::size_t escapes = inside.size() - 1 - inside.find_last_not_of('\\');
    return quote == '\'' || escapes % 2 == 0;
}

/// Reads statements one character or string after the other.
class StatementReader {
public:
    StatementReader(std::string_view text, std::size_t end) : text_(text), end_(end) {}

    std::vector<TomlStatement> run() {
        found_.emplace_back();
        for (std::size_t at = 0; at < end_ && found_.back().string == nowhere;) {
            at = step(found_.back(), at);
        }
        return std::move(found_);
    }

private:
    /// Returns where to go on.
    std::size_t step(TomlStatement& now, std::size_t at) {
        const char c = text_[at];
        if (c == '#') {
            return std::min(text_.find('\n', at), end_);
        }
        if (c == '"' || c == '\'') {
            return string(now, at);
        }
        if (c == '\n' && now.open.empty()) {
            found_.emplace_back();
            found_.back().begin = at + 1;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            now.begin += at == now.begin ? 1 : 0;
        } else if (now.key_end == nowhere) {
            key(now, at);
        } else {
            value(now, at);
        }
        return at + 1;
    }

    std::size_t string(TomlStatement& now, std::size_t at) const {
        if (now.key_end != nowhere && now.value == nowhere) {
            now.value = at;
        }
        const std::size_t end = end_of_toml_string(text_, at);
        if (end > end_ || (end == end_ && !is_closed(text_.substr(at, end - at)))) {
            now.string = at;
        }
        return end;
    }

    void key(TomlStatement& now, std::size_t at) const {
        const char c = text_[at];
        now.header = now.header || (c == '[' && at == now.begin);
        if (c == '=' && !now.header) {
            now.key_end = at;
        } else if (c == ']' && now.header && (at + 1 == text_.size() || text_[at + 1] != ']')) {
            now.key_end = at + 1;
        }
    }

    void value(TomlStatement& now, std::size_t at) const {
        const char c = text_[at];
        if (c == '[' || c == '{') {
            now.open.push_back(at);
            now.value = nowhere;
        } else if ((c == ']' || c == '}') && !now.open.empty()) {
            now.value = now.open.back();
            now.open.pop_back();
        } else if (!now.open.empty() && (c == ',' || c == '=')) {
            now.value = nowhere;
        } else if (now.value == nowhere) {
            now.value = at;
        }
    }

    std::string_view text_;
    std::size_t end_;
    std::vector<TomlStatement> found_;
};

}  // namespace

std::string TomlStatement::name(std::string_view text) const {
    std::string name;
    const std::size_t end = std::min({key_end, text.find('\n', begin), text.size()});
    for (const char c : text.substr(begin, end - begin)) {
        if (std::string_view(" \t\r\"'[]").find(c) == std::string_view::npos) {
            name += c;
        }
    }
    return name;
}

std::vector<TomlStatement> toml_statements(std::string_view text, std::size_t end) {
    return StatementReader(text, std::min(end, text.size())).run();
}

std::size_t end_of_toml_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool long_string = text.substr(at, 3) == std::string(3, quote);
    const std::size_t length = long_string ? 3 : 1;
    for (at += length; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (!long_string && text[at] == '\n') {
            return at;
        } else if (text[at] == quote &&
                   (!long_string || text.substr(at, 3) == std::string(3, quote))) {
            return at + length;
        }
    }
    return text.size();
}

SourceLocation toml_place(const std::string& file, std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view left = before.substr(line_start);
    const auto lines = std::ranges::count(before, '\n');
    const auto rest = std::ranges::count_if(left, continues_character);
    return {file, static_cast<std::uint32_t>(lines + 1),
            static_cast<std::uint32_t>(left.size() + 1) - static_cast<std::uint32_t>(rest)};
}

std::size_t toml_position(std::string_view text, std::uint32_t line, std::uint32_t column) {
    std::size_t at = 0;
    for (std::uint32_t number = 1; number < line; ++number) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) {
            return text.size();
        }
        at = end + 1;
    }
    for (std::uint32_t left = column; left > 1 && at < text.size() && text[at] != '\n'; --left) {
        do {
            ++at;
        } while (at < text.size() && continues_character(text[at]));
    }
    return at;
}

}  // namespace edgegpu
