#include "gpu_health/tables/tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "embedded_tables.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t columns = 5;
/// A table larger than this is none; the shipped ones have less than 20 KiB.
constexpr std::size_t largest_table = std::size_t{1} << 20U;

[[noreturn]] void refuse_line(std::size_t number, const std::string& why) {
    throw std::runtime_error("line " + std::to_string(number) + ": " + why);
}

/// "2026-11-29" of a line such as "# xid 2026-11-29: …".
std::string date_of(std::string_view line) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (const std::string_view word : words_of(line, " \t:#")) {
        bool is_date = word.size() == 10;
        for (std::size_t i = 0; is_date && i < word.size(); ++i) {
            is_date = i == 4 || i == 7 ? word[i] == '-' : is_digit(word[i]);
        }
        if (is_date) {
            return std::string(word);
        }
    }
    return {};
}

void check_verdict(std::size_t number, std::string_view verdict, bool applications) {
    constexpr std::array known{"image", "hardware", "machine", "unclear", "note"};
    const bool is_known = std::ranges::find(known, verdict) != known.end();
    if (!is_known && !(applications && verdict == "application")) {
        refuse_line(number, "\"" + std::string(verdict) + "\" is no verdict");
    }
}

/// "39-41" or "79": the first and the last number.
std::pair<int, int> range_of(std::size_t number, std::string_view text) {
    constexpr int largest_code = 100000;
    std::string_view rest = text;
    const auto first = take_number<int>(rest);
    auto last = first;
    if (first && rest.starts_with('-')) {
        rest.remove_prefix(1);
        last = take_number<int>(rest);
    }
    if (!first || !last || !rest.empty() || *first < 0 || *last < *first || *last > largest_code) {
        refuse_line(number, "\"" + std::string(text) + "\" is neither a number nor a range");
    }
    return {*first, *last};
}

/// What a table holds, before it takes the place of the old one.
struct NewTable {
    std::vector<MessageRow> messages;
    std::map<int, CodeRow> codes;
};

void read_row(std::size_t number, const std::vector<std::string_view>& cells, bool messages,
              bool applications, NewTable& table) {
    const auto cell = [&](std::size_t at) { return std::string(cells.at(at)); };
    if (messages) {
        check_verdict(number, cells[1], false);
        if (cells[0].empty() || cells[2].empty()) {
            refuse_line(number, "the piece of the message or the fault is empty");
        }
        table.messages.push_back({cell(0), cell(1), cell(2), cell(3), cell(4)});
        return;
    }
    check_verdict(number, cells[1], applications);
    const auto [first, last] = range_of(number, cells[0]);
    for (int code = first; code <= last; ++code) {
        if (!table.codes.emplace(code, CodeRow{cell(1), cell(2), cell(3), cell(4)}).second) {
            refuse_line(number, std::to_string(code) + " is in the table twice");
        }
    }
}

/// The tables have one date as long as all of them are of the same day.
void add_date(std::string_view name, const std::string& date, std::string& dates) {
    if (dates.empty()) {
        dates = date;
    } else if (dates.find(date) == std::string::npos) {
        dates += ", " + std::string(name) + " " + date;
    }
}

}  // namespace

void read_table(std::string_view name, std::string_view text, Tables& tables) {
    const bool messages = name == "messages";
    const bool applications = name == "xid";
    if (!messages && !applications && name != "nvml") {
        throw std::runtime_error("there is no table \"" + std::string(name) + "\"");
    }
    if (text.size() > largest_table) {
        throw std::runtime_error("line 1: the table is larger than a MiB");
    }
    NewTable table;
    std::string date;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        if (number == 1) {
            date = line.starts_with('#') ? date_of(line) : std::string();
            if (date.empty()) {
                refuse_line(number, "it is no comment with the date of the table");
            }
        }
        if (trim(line).empty() || line.starts_with('#')) {
            continue;
        }
        const std::vector<std::string_view> cells = split(trim_end(line, "\r"), '\t');
        if (cells.size() != columns) {
            refuse_line(number, "it has " + std::to_string(cells.size()) + " columns, not 5");
        }
        read_row(number, cells, messages, applications, table);
    }
    if (table.messages.empty() && table.codes.empty()) {
        refuse_line(number, "the table has no rows");
    }
    if (messages) {
        tables.messages = std::move(table.messages);
    } else {
        (applications ? tables.xids : tables.nvml) = std::move(table.codes);
    }
    add_date(name, date, tables.date);
}

Tables shipped_tables() {
    Tables tables;
    read_table("messages", embedded::messages_tsv, tables);
    read_table("xid", embedded::xid_tsv, tables);
    read_table("nvml", embedded::nvml_tsv, tables);
    return tables;
}

}  // namespace edgegpu::gpu_health
