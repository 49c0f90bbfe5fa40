#include <algorithm>

#include <fmt/format.h>

#include "report/format/diff_page.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Letters, digits and what begins nothing inside a line.
bool is_harmless(char c) {
    constexpr std::string_view others = " /+,-()%=;{}";
    return static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
}

/// HTML that shows `line`. No character reference begins Markdown, and an empty comment behind each
/// keeps what it stands for from being a part of an address, which would become a link.
std::string html_code(std::string_view line) {
    std::string html;
    for (const char c : line) {
        html += is_harmless(c) ? std::string(1, c)
                               : fmt::format("&#{};<!-- -->", static_cast<unsigned>(c));
    }
    return fmt::format("<code>{}</code>", html);
}

}  // namespace

std::string markdown_code(std::string_view text) {
    const std::string line = printable_line(text);
    if (line.empty()) {
        return "";
    }
    // Between backticks nothing has a meaning but these, and a bar ends the cell of a table.
    const bool fits = line.find_first_of("`|\\") == std::string::npos && line.front() != ' ' &&
                      line.back() != ' ';
    return fits ? fmt::format("`{}`", line) : html_code(line);
}

MarkdownPage::MarkdownPage(std::string_view title) {
    add(fmt::format("# Changes of {}\n", markdown_code(title)));
}

void MarkdownPage::heading(std::string_view title, std::string_view summary) {
    add(fmt::format("\n## {}\n", title));
    if (!summary.empty()) {
        add(fmt::format("\n{}\n", summary));
    }
    in_list_ = false;
}

void MarkdownPage::subsection(std::string_view title, std::string_view summary) {
    add(fmt::format("\n### {}\n\n{}\n", title, summary));
    in_list_ = false;
}

void MarkdownPage::plain(std::string_view line) {
    if (!line.empty()) {
        add(fmt::format("\n{}\n", markdown_code(line)));
    }
    in_list_ = false;
}

void MarkdownPage::line(std::string_view sign, std::string_view line, std::size_t indent) {
    add(fmt::format("{}{}- {} {}\n", in_list_ ? "" : "\n",
                    std::string(2 * (std::max<std::size_t>(indent, 1) - 1), ' '),
                    markdown_code(sign), markdown_code(line)));
    in_list_ = true;
}

void MarkdownPage::columns(const PageRows& rows, const std::vector<std::string>& titles) {
    in_list_ = false;
    if (rows.empty()) {
        return;
    }
    const bool signs =
        std::ranges::any_of(rows, [](const auto& row) { return !row.front().empty(); });
    add(fmt::format("\n|{} {} |\n|{}", signs ? " |" : "", fmt::join(titles, " | "),
                    signs ? "---|" : ""));
    for (std::size_t i = 0; i < titles.size(); ++i) {
        add("---|");
    }
    add("\n");
    for (const std::vector<std::string>& row : rows) {
        add("|");
        for (std::size_t i = signs ? 0 : 1; i <= titles.size(); ++i) {
            add(fmt::format(" {} |", i < row.size() ? markdown_code(row[i]) : ""));
        }
        add("\n");
    }
}

void MarkdownPage::left_out(std::size_t count, std::string_view where) {
    add(fmt::format("\n… {} more ({})\n", count, where));
    in_list_ = false;
}

void MarkdownPage::unknown_line(const Unknown& one) {
    add(fmt::format("- Not compared: {}: {}.\n", one.what, markdown_code(one.why)));
}

}  // namespace edgegpu
