#include "schema/schema_problem.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace edgegpu {

namespace {

bool is_plain_key(const std::string& key) {
    return !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '$';
    });
}

std::string pointer_key(const std::string& key) {
    std::string escaped;
    for (const char c : key) {
        if (c == '~') {
            escaped += "~0";
        } else if (c == '/') {
            escaped += "~1";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace

std::string pointer_of(const ObjectPath& path) {
    std::string pointer;
    for (const auto& step : path) {
        pointer += '/';
        if (const auto* key = std::get_if<std::string>(&step)) {
            pointer += pointer_key(*key);
        } else {
            pointer += std::to_string(std::get<std::size_t>(step));
        }
    }
    return pointer;
}

std::string text_of(const ObjectPath& path) {
    std::string text;
    for (const auto& step : path) {
        const auto* key = std::get_if<std::string>(&step);
        if (key == nullptr) {
            text += fmt::format("[{}]", std::get<std::size_t>(step));
        } else if (is_plain_key(*key)) {
            text += text.empty() ? *key : "." + *key;
        } else {
            text += fmt::format("[{}]", quoted_text(*key));
        }
    }
    return text;
}

SchemaProblem problem_at(const ObjectPath& path, const std::string& text) {
    return {pointer_of(path), path.empty() ? text : text_of(path) + ": " + text};
}

std::string quoted_text(const std::string& text) {
    constexpr std::size_t limit = 80;
    std::string shown = text.substr(0, limit);
    if (text.size() > limit) {
        // Not in the middle of a character of UTF-8.
        while (!shown.empty() &&
               (static_cast<unsigned char>(text[shown.size()]) & 0xC0U) == 0x80U) {
            shown.pop_back();
        }
        shown += "…";
    }
    return nlohmann::json(shown).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace edgegpu
