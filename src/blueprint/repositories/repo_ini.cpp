#include "blueprint/repositories/repo_ini.hpp"

#include <algorithm>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/secrets.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// redhat.repo of a subscribed machine has several hundred repositories with 15 keys each.
constexpr std::size_t most_repositories = 5000;
constexpr std::size_t most_keys = 200;

/// Begins a section, or continues the one with this name.
void begin_section(std::string_view text, const SourceLocation& here,
                   std::vector<IniSection>& sections, IniSection*& current) {
    const std::size_t end = text.find(']');
    const std::string_view behind =
        end == std::string_view::npos ? std::string_view{} : trim(text.substr(end + 1));
    const std::string_view id =
        end == std::string_view::npos ? std::string_view{} : trim(text.substr(1, end - 1));
    // Nothing is quoted of what need not be a .repo file: a blueprint can name any file.
    if (id.empty() || id.find_first_of("\"'{}[,$ \t") != std::string_view::npos ||
        (!behind.empty() && behind.front() != '#' && behind.front() != ';')) {
        throw error_at(here, "malformed section header").hinted("as in [ID]");
    }
    const auto known = std::ranges::find(sections, id, &IniSection::id);
    current = known == sections.end()
                  ? &sections.emplace_back(IniSection{std::string(id), here, {}, false})
                  : &*known;
}

/// Parses a line that is neither blank nor a comment.
void read_line(std::string_view line, const SourceLocation& here, std::vector<IniSection>& sections,
               IniSection*& current) {
    const std::string_view text = trim(line);
    std::string without_tabs(text);
    std::ranges::replace(without_tabs, '\t', ' ');
    if (has_control_characters(without_tabs)) {
        throw error_at(here, "control character in a .repo file");
    }
    if (line.front() == '[') {
        begin_section(text, here, sections, current);
        return;
    }
    if (current == nullptr) {
        throw error_at(here, "this is before the first [section]")
            .hinted("is it a .repo file? These consist of sections: [ID], then KEY = VALUE");
    }
    std::vector<IniEntry>& entries = current->entries;
    if ((line.front() == ' ' || line.front() == '\t') && !entries.empty()) {
        entries.back().value += '\n' + std::string(text);
        return;
    }
    const std::size_t equals = text.find('=');
    const std::string key(trim(text.substr(0, equals)));
    if (equals == std::string_view::npos || key.empty()) {
        // The line is not quoted: it may be part of a password.
        throw error_at(here, "expected \"key = value\"");
    }
    std::erase_if(entries, [&](const IniEntry& earlier) { return earlier.key == key; });
    entries.push_back({key, std::string(trim(text.substr(equals + 1))), here});
}

}  // namespace

std::vector<IniSection> read_ini(const std::string& file, std::string_view content,
                                 Mistakes& mistakes) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (content.starts_with(byte_order_mark)) {
        content.remove_prefix(byte_order_mark.size());
    }
    std::vector<IniSection> sections;
    // `current` points into the vector, which must not be reallocated.
    sections.reserve(static_cast<std::size_t>(std::ranges::count(content, '[')) + 2);
    IniSection* current = nullptr;
    std::uint32_t number = 0;
    for (const std::string_view line : lines_of(content)) {
        if (sections.size() > most_repositories ||
            (current != nullptr && current->entries.size() > most_keys)) {
            mistakes.add(error_at({file, number, 1}, "more than {} repositories, or {} keys of one",
                                  most_repositories, most_keys));
            return sections;
        }
        ++number;
        const std::string_view text = trim(line);
        if (text.empty() || text.front() == '#' || text.front() == ';') {
            continue;
        }
        const SourceLocation here{file, number, 1};
        if (mistakes.attempt([&] { read_line(line, here, sections, current); })) {
            continue;
        }
        if (line.front() == '[' || current == nullptr) {
            // The following lines belong to an unnamed section; as [main] they are not checked.
            current = &sections.emplace_back(IniSection{"main", here, {}, true});
        }
        current->damaged = true;
    }
    return sections;
}

std::vector<std::string> as_list(const IniEntry& entry) {
    const std::vector<std::string_view> items = words_of(entry.value, " \t\n,");
    return {items.begin(), items.end()};
}

bool as_boolean(const IniEntry& entry) {
    const std::string lower = lower_case(entry.value);
    if (lower == "1" || lower == "yes" || lower == "true" || lower == "on") {
        return true;
    }
    if (lower == "0" || lower == "no" || lower == "false" || lower == "off") {
        return false;
    }
    throw error_at(entry.location, "\"{}\" must be a boolean (1 or 0), not \"{}\"", entry.key,
                   entry.value);
}

int as_integer(const IniEntry& entry) {
    const int value = whole_number<int>(entry.value).value_or(-1);
    if (value < 0 || value > 1000000) {
        throw error_at(entry.location,
                       "\"{}\" must be an integer between 0 and 1000000, not \"{}\"", entry.key,
                       entry.value);
    }
    return value;
}

std::string as_string(const IniEntry& entry) {
    if (entry.value.find('\n') != std::string::npos) {
        throw error_at(entry.location, "\"{}\" must be a single line", entry.key);
    }
    return entry.value;
}

}  // namespace edgegpu
