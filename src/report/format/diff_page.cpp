#include "report/format/diff_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t widest_column = 64;
constexpr const char* bold = "\033[1m";
constexpr const char* plain_again = "\033[0m";

const char* color_of(std::string_view sign) {
    return sign == "+" || sign == "+++"   ? "\033[32m"
           : sign == "-" || sign == "---" ? "\033[31m"
                                          : "\033[33m";
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string DiffPage::sign(std::string_view change) {
    for (const char* gain : {"added", "enabled", "unmasked"}) {
        if (change == gain) {
            return "+";
        }
    }
    return change == "changed" ? "~" : "-";
}

std::string TextPage::marked(std::string_view sign, std::string_view text) const {
    return colored_ ? fmt::format("{}{}{}{}", color_of(sign), sign, text, plain_again)
                    : fmt::format("{}{}", sign, text);
}

void DiffPage::section(std::string_view title, std::string_view summary, bool differs) {
    if (differs) {
        heading(title, summary);
    } else {
        same_.emplace_back(title);
    }
}

void DiffPage::lines(std::string_view sign, const std::vector<std::string>& lines,
                     std::size_t limit, std::size_t indent) {
    // A single line is not left out, as the note would take one as well.
    const std::size_t shown =
        lines.size() > limit && lines.size() - limit > 1 ? limit : lines.size();
    for (std::size_t i = 0; i < shown; ++i) {
        line(sign, lines[i], indent);
    }
    more(lines.size() - shown);
}

void DiffPage::more(std::size_t count, std::string_view where) {
    if (count > 0) {
        left_out(count, where);
    }
}

void DiffPage::end(const std::vector<Unknown>& unknown) {
    if (!same_.empty()) {
        add(fmt::format("\nNo difference: {}.\n", fmt::join(same_, ", ")));
    }
    add(unknown.empty() ? "" : "\n");
    for (const Unknown& one : unknown) {
        unknown_line(one);
    }
}

void TextPage::heading(std::string_view title, std::string_view summary) {
    const std::string rest = summary.empty() ? "" : fmt::format(": {}", summary);
    add(colored_ ? fmt::format("\n{}{}{}{}\n", bold, title, plain_again, rest)
                 : fmt::format("\n{}{}\n", title, rest));
}

void TextPage::subsection(std::string_view title, std::string_view summary) {
    add(colored_ ? fmt::format("  {}{}{}: {}\n", bold, title, plain_again, summary)
                 : fmt::format("  {}: {}\n", title, summary));
}

void TextPage::plain(std::string_view line) {
    add(printable_line(line) + '\n');
}

void TextPage::line(std::string_view sign, std::string_view line, std::size_t indent) {
    add(std::string(2 * indent, ' ') + marked(sign, ' ' + printable_line(line)) + '\n');
}

void TextPage::columns(const PageRows& rows, const std::vector<std::string>& /*titles*/) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] =
                std::max(widths[i], std::min(width_of(printable_line(row[i])), widest_column));
        }
    }
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (std::size_t i = 1; i < row.size(); ++i) {
            const std::string cell = printable_line(row[i]);
            const std::size_t width = width_of(cell);
            line += (i == 1 ? "" : "  ") + cell +
                    std::string(widths[i] - std::min(widths[i], width), ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        const std::string& sign = row.front();
        // Those of the two commits begin a line, as in other differences.
        add(sign.empty()
                ? fmt::format("  {}\n", line)
                : fmt::format("{}{}\n", sign.size() > 1 ? "" : "  ", marked(sign, ' ' + line)));
    }
}

void TextPage::left_out(std::size_t count, std::string_view where) {
    add(fmt::format("    … {} more ({})\n", count, where));
}

void TextPage::unknown_line(const Unknown& one) {
    add(fmt::format("Not compared: {}: {}.\n", one.what, printable_line(one.why)));
}

DiffCounts::DiffCounts(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        counts_.emplace_back(name, 0);
    }
}

void DiffCounts::add(std::string_view name, std::size_t count) {
    const auto found =
        std::ranges::find(counts_, name, &std::pair<std::string, std::size_t>::first);
    if (found != counts_.end()) {
        found->second += count;
    }
}

std::string DiffCounts::text() const {
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts_) {
        if (count > 0) {
            parts.push_back(fmt::format("{} {}", count, name));
        }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace edgegpu
