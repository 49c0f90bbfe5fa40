#include "resolve/explain/fixes_edit.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_file = 16U << 20U;

bool is_blank(const std::string& line) {
    const std::string_view text = trim(line);
    return text.empty() || text.front() == '#';
}

/// End of the value that begins at `begin`: a quoted string or a bare word.
std::size_t value_end(const std::string& line, std::size_t begin) {
    if (begin < line.size() && (line[begin] == '"' || line[begin] == '\'')) {
        for (std::size_t i = begin + 1; i < line.size(); ++i) {
            if (line[i] == '\\' && line[begin] == '"') {
                ++i;
            } else if (line[i] == line[begin]) {
                return i + 1;
            }
        }
        return line.size();
    }
    const std::size_t end = line.find_first_of(" \t#,}", begin);
    return end == std::string::npos ? line.size() : end;
}

struct Value {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Position of the value of `key` in a line, which may contain an inline table.
std::optional<Value> find_value(const std::string& line, const std::string& key) {
    if (trim(line).starts_with('#')) {
        return std::nullopt;
    }
    for (std::size_t at = line.find(key); at != std::string::npos; at = line.find(key, at + 1)) {
        const bool starts = at == 0 || std::string(" \t{,").find(line[at - 1]) != std::string::npos;
        const std::size_t sign = line.find_first_not_of(" \t", at + key.size());
        if (starts && sign != std::string::npos && line[sign] == '=') {
            std::size_t begin = line.find_first_not_of(" \t", sign + 1);
            begin = begin == std::string::npos ? line.size() : begin;
            return Value{begin, value_end(line, begin)};
        }
    }
    return std::nullopt;
}

bool is_repo_file(const std::string& file) {
    return file.ends_with(".repo");
}

}  // namespace

std::vector<std::string> edit_lines(const Edit& edit) {
    std::vector<std::string> out{edit.line == 0 ? edit.file
                                                : fmt::format("{}:{}", edit.file, edit.line)};
    for (const std::string& line : edit.removed) {
        out.push_back("- " + line);
    }
    for (const std::string& line : edit.inserted) {
        out.push_back("+ " + line);
    }
    return out;
}

const std::vector<std::string>& BlueprintText::lines(const std::string& file) {
    const auto known = files_.find(file);
    if (known != files_.end()) {
        return known->second;
    }
    std::vector<std::string>& found = files_[file];
    try {
        const std::string text = read_file(file, largest_file);
        const std::vector<std::string_view> read = lines_of(text);
        found.assign(read.begin(), read.end());
    } catch (const Error&) {
        // The blueprint exists only in memory, or was deleted: edits are derived from its values.
        found.clear();
    }
    return found;
}

bool BlueprintText::is_header(const std::string& line) {
    const std::string_view text = trim(line);
    return text.size() > 2 && text.front() == '[' && text.find(']') != std::string::npos &&
           text.find('"') == std::string::npos;
}

BlueprintText::Range BlueprintText::table_range(const SourceLocation& place) {
    const std::vector<std::string>& text = lines(place.file);
    Range range;
    range.begin = std::min<std::size_t>(place.line == 0 ? 0 : place.line - 1, text.size());
    if (place.line != 0) {
        // The file may have become shorter since it was parsed.
        while (range.begin > 0 && (range.begin == text.size() || !is_header(text[range.begin]))) {
            --range.begin;
        }
    }
    range.end = range.begin + (place.line == 0 || range.begin == text.size() ? 0 : 1);
    while (range.end < text.size() && !is_header(text[range.end])) {
        ++range.end;
    }
    while (range.end > range.begin + 1 && is_blank(text[range.end - 1])) {
        --range.end;
    }
    return range;
}

Edit BlueprintText::set_key(const SourceLocation& table, const std::string& key,
                            const std::string& old_value, const std::string& value) {
    const char* sign = is_repo_file(table.file) ? "=" : " = ";
    const std::vector<std::string>& text = lines(table.file);
    Edit edit{table.file, table.line, {}, {key + sign + value}};
    if (text.empty()) {
        if (!old_value.empty()) {
            edit.removed = {key + sign + old_value};
        }
        return edit;
    }
    const Range range = table_range(table);
    std::vector<std::size_t> order;
    if (table.line != 0 && table.line <= text.size()) {
        order.push_back(table.line - 1);
    }
    for (std::size_t i = range.begin; i < range.end; ++i) {
        order.push_back(i);
    }
    for (const std::size_t i : order) {
        if (const std::optional<Value> found = find_value(text[i], key)) {
            edit.line = static_cast<std::uint32_t>(i + 1);
            edit.removed = {text[i]};
            edit.inserted = {text[i].substr(0, found->begin) + value + text[i].substr(found->end)};
            return edit;
        }
    }
    const std::size_t after = table.line == 0 ? 0 : range.begin + 1;
    edit.line = static_cast<std::uint32_t>(after + 1);
    return edit;
}

Edit BlueprintText::remove_table(const SourceLocation& place, const std::string& text) {
    const std::vector<std::string>& all = lines(place.file);
    Edit edit{place.file, place.line, {text}, {}};
    if (all.empty() || place.line == 0 || place.line > all.size()) {
        return edit;
    }
    const std::string& line = all[place.line - 1];
    const std::size_t open = line.rfind('{', place.column == 0 ? 0 : place.column - 1);
    if (open != std::string::npos) {
        // An element of an array of inline tables: removes it and its comma from the line.
        std::size_t close = line.find('}', open);
        close = close == std::string::npos ? line.size() : close + 1;
        const std::size_t comma = line.find_first_not_of(" \t", close);
        if (comma != std::string::npos && line[comma] == ',') {
            close = comma + 1;
        }
        edit.removed = {line};
        const std::string rest = line.substr(0, open) + line.substr(close);
        if (!trim(rest).empty()) {
            edit.inserted = {rest};
        }
        return edit;
    }
    const Range range = table_range(place);
    edit.line = static_cast<std::uint32_t>(range.begin + 1);
    edit.removed.assign(all.begin() + static_cast<std::ptrdiff_t>(range.begin),
                        all.begin() + static_cast<std::ptrdiff_t>(range.end));
    return edit;
}

Edit BlueprintText::append(const std::string& file, std::vector<std::string> added) {
    const std::vector<std::string>& all = lines(file);
    return {
        file, static_cast<std::uint32_t>(all.empty() ? 0 : all.size() + 1), {}, std::move(added)};
}

Edit BlueprintText::remove_element(const SourceLocation& table, const std::string& key,
                                   const std::string& element) {
    const std::vector<std::string>& text = lines(table.file);
    const std::string quoted = is_repo_file(table.file) ? element : fmt::format("\"{}\"", element);
    Edit edit{table.file, table.line, {quoted}, {}};
    const Range range = text.empty() ? Range{} : table_range(table);
    bool inside = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        inside = inside || find_value(text[i], key).has_value();
        std::size_t at = inside ? text[i].find(quoted) : std::string::npos;
        if (at == std::string::npos) {
            continue;
        }
        std::string line = text[i];
        std::size_t end = at + quoted.size();
        const std::size_t comma = line.find_first_not_of(" \t", end);
        const std::size_t before =
            at == 0 ? std::string::npos : line.find_last_not_of(" \t", at - 1);
        if (comma != std::string::npos && line[comma] == ',') {
            const std::size_t next = line.find_first_not_of(" \t", comma + 1);
            end = next == std::string::npos ? line.size() : next;
        } else if (before != std::string::npos && line[before] == ',') {
            at = before;
        }
        edit.line = static_cast<std::uint32_t>(i + 1);
        edit.removed = {line};
        line.erase(at, end - at);
        if (!trim(line).empty()) {
            edit.inserted = {line};
        }
        return edit;
    }
    return edit;
}

SourceLocation BlueprintText::find_table(const std::string& file, const std::string& header) {
    const std::vector<std::string>& text = lines(file);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view line = trim(text[i]);
        if (line.starts_with(header)) {
            return {file, static_cast<std::uint32_t>(i + 1), 1};
        }
    }
    return {file, 0, 0};
}

}  // namespace edgegpu
