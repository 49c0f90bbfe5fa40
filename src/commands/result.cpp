#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

void print_result(std::string_view result) {
    const std::string text = printable_result(result);
    // Flushed here, because a full disk or a closed pipe shows only then, and must not pass for
    // success.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        // Not errno_error: its hint for a full disk is about the build, which is over.
        throw error("cannot write to standard output: {}", strerrordesc_np(errno));
    }
}

std::string result_row(std::string_view name, std::string_view value) {
    return fmt::format("  {:<11}{}\n", name, printable_line(value));
}

std::vector<std::string> aligned_lines(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    return mapped(rows, [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    });
}

std::string row_unless_empty(std::string_view name, std::string_view value) {
    return value.empty() ? std::string() : result_row(name, value);
}

std::string document_text(const nlohmann::ordered_json& document) {
    using nlohmann::ordered_json;
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

void add_text(nlohmann::ordered_json& object, const char* key, const std::string& text) {
    if (!text.empty()) {
        object[key] = text;
    }
}

}  // namespace edgegpu
