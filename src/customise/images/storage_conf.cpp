#include "customise/images/storage_conf.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "customise/images/image_toml.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* list_key = "additionalimagestores";
constexpr const char* list_path = "storage.options.additionalimagestores";

/// The list of stores, or nullptr.
toml::array* image_stores(toml::table& document, const std::string& name) {
    const auto found = document.at_path(list_path);
    if (found && !found.is_array()) {
        throw error(ErrorKind::usage, "{}:{}: {} is not a list", name,
                    found.node()->source().begin.line, list_key)
            .hinted("correct this file of the image, with an overlay or its package");
    }
    return found.as_array();
}

void require_overlay(toml::table& document, const std::string& name) {
    const auto driver = document.at_path("storage.driver");
    const std::string chosen = driver.value_or<std::string>("");
    if (!chosen.empty() && chosen != "overlay" && chosen != "overlay2") {
        throw error(ErrorKind::usage,
                    "{}:{}: the storage driver is \"{}\": additional image stores are for overlay",
                    name, driver.node()->source().begin.line, printable_line(chosen))
            .hinted("set driver = \"overlay\" in this file of the image, with an overlay");
    }
}

/// The index in `text` of a position that the parser gave, whose columns are code points.
std::size_t index_of(const std::string& text, const toml::source_position& position) {
    std::size_t at = 0;
    for (toml::source_index line = 1; line < position.line; ++line) {
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    }
    for (toml::source_index column = 1; column < position.column && at < text.size(); ++column) {
        do {
            ++at;
        } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
    }
    return at;
}

/// `text` with the line after the one at `position`.
std::string with_line_after(std::string text, const toml::source_position& position,
                            const std::string& line, const char* end) {
    const std::size_t next = text.find('\n', index_of(text, position));
    if (next == std::string::npos) {
        return text + end + line + end;
    }
    return text.insert(next + 1, line + end);
}

/// The document after the edit that is wanted; nothing if a value is where a table should be.
std::optional<toml::table> wanted_document(toml::table document, const std::string& path) {
    toml::table* table = &document;
    for (const char* key : {"storage", "options"}) {
        table = table->emplace<toml::table>(key).first->second.as_table();
        if (table == nullptr) {
            return std::nullopt;
        }
    }
    toml::array& list = *table->emplace<toml::array>(list_key).first->second.as_array();
    list.insert(list.begin(), path);
    return document;
}

/// Whether the text says exactly what is wanted.
bool says(const std::string& text, const toml::table& wanted) {
    try {
        return toml::parse(text) == wanted;
    } catch (const toml::parse_error&) {
        return false;
    }
}

}  // namespace

std::string with_image_store(const std::string& text, const std::string& path,
                             const std::string& name) {
    toml::table document = parse_image_toml(text, name);
    require_overlay(document, name);
    const toml::array* list = image_stores(document, name);
    const char* end = text.find("\r\n") == std::string::npos ? "\n" : "\r\n";
    const std::string line = fmt::format("{} = [{}]", list_key, toml_string(path));
    // Where the list or its table begins depends on which of TOML's many forms the file has: each
    // edit is taken only if the parser then finds what is wanted, and nothing else changed.
    std::vector<std::string> edits;
    if (list != nullptr) {
        if (std::any_of(list->begin(), list->end(),
                        [&](const toml::node& one) { return one.value<std::string>() == path; })) {
            return text;
        }
        edits.push_back(text);
        edits.back().insert(std::min(index_of(text, list->source().begin) + 1, text.size()),
                            toml_string(path) + (list->empty() ? "" : ", "));
    } else {
        if (const toml::table* options = document.at_path("storage.options").as_table()) {
            edits.push_back(with_line_after(text, options->source().begin, line, end));
        }
        edits.push_back(text + (text.empty() || text.back() == '\n' ? "" : end) + end +
                        "[storage.options]" + end + line + end);
        if (const toml::table* storage = document.get_as<toml::table>("storage")) {
            edits.push_back(with_line_after(text, storage->source().begin, "options." + line, end));
        }
    }
    if (const auto wanted = wanted_document(document, path)) {
        for (std::string& edit : edits) {
            if (says(edit, *wanted)) {
                return std::move(edit);
            }
        }
    }
    throw error(ErrorKind::usage, "{}: {} cannot be added to this file", name, list_key)
        .hinted(fmt::format("write `{}` in its table [storage.options], with an overlay", line));
}

bool replaces_image_stores(const std::string& text, const std::string& name) {
    toml::table document = parse_image_toml(text, name);
    const toml::array* list = image_stores(document, name);
    return list != nullptr && std::none_of(list->begin(), list->end(), [](const toml::node& one) {
               return one.is_table() && (*one.as_table())["append"].value_or(false);
           });
}

std::string user_storage_conf(const std::string& text, const std::string& path,
                              const std::string& name) {
    toml::table document = parse_image_toml(text, name);
    const auto line_of = [&](const char* place, const char* key) {
        const auto value = document.at_path(place).value<std::string>();
        return value ? fmt::format("{} = {}\n", key, toml_string(*value)) : "";
    };
    // Only overlay reads the store, whatever the system's file leaves open.
    std::string result =
        "[storage]\ndriver = \"overlay\"\n" +
        line_of("storage.rootless_storage_path", "rootless_storage_path") +
        fmt::format("\n[storage.options]\n{} = [{}]\n", list_key, toml_string(path)) +
        line_of("storage.options.ignore_chown_errors", "ignore_chown_errors");
    if (const toml::table* pull = document.at_path("storage.options.pull_options").as_table();
        pull != nullptr && !pull->empty()) {
        result += "\n[storage.options.pull_options]\n";
        for (const auto& [key, value] : *pull) {
            if (const auto option = value.value<std::string>()) {
                result += fmt::format("{} = {}\n", toml_string(key.str()), toml_string(*option));
            }
        }
    }
    const std::string ignored =
        line_of("storage.options.overlay.ignore_chown_errors", "ignore_chown_errors");
    return ignored.empty() ? result : result + "\n[storage.options.overlay]\n" + ignored;
}

}  // namespace edgegpu
