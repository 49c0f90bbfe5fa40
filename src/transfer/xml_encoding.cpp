#include "transfer/xml_encoding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view xml_blanks = " \t\r\n";

/// Removes blanks from the beginning of `text`.
void skip_xml_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(xml_blanks), text.size()));
}

/// An attribute of an XML declaration.
struct DeclaredAttribute {
    std::string_view name;
    std::string_view value;
};

/// Removes the first attribute from `text`, which has no blanks before it, and returns it;
/// nothing if it does not begin with one.
std::optional<DeclaredAttribute> take_attribute(std::string_view& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view name = trim(text.substr(0, equals), xml_blanks);
    text.remove_prefix(equals + 1);
    skip_xml_blanks(text);
    const char quote = text.empty() ? '\0' : text.front();
    const std::size_t end = quote == '"' || quote == '\'' ? text.find(quote, 1) : 0;
    if (end == 0 || end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return DeclaredAttribute{name, value};
}

bool is_read(std::string_view encoding) {
    constexpr std::array<std::string_view, 5> names{"utf-8", "utf8", "us-ascii", "ascii",
                                                    "iso-8859-1"};
    return std::ranges::any_of(names, [&](std::string_view name) {
        return encoding.size() == name.size() && begins_with_any_case(encoding, name);
    });
}

}  // namespace

std::optional<std::string> xml_problem(std::string_view text) {
    constexpr std::string_view mark_of_utf8 = "\xef\xbb\xbf";
    if (text.starts_with(mark_of_utf8)) {
        text.remove_prefix(mark_of_utf8.size());
    }
    const std::size_t begin = text.find_first_not_of(xml_blanks);
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    // UTF-16, UTF-32 and EBCDIC, which parsers recognise by the first four bytes, are refused here.
    if (text[begin] != '<' || text.substr(0, 4).find('\0') != std::string_view::npos) {
        return "it is not XML in UTF-8";
    }
    constexpr std::string_view declaration = "<?xml";
    if (!text.starts_with(declaration)) {
        return std::nullopt;
    }
    text.remove_prefix(declaration.size());
    skip_xml_blanks(text);
    while (!text.starts_with("?>")) {
        const std::optional<DeclaredAttribute> attribute = take_attribute(text);
        if (!attribute) {
            return "its XML declaration is invalid";
        }
        if (attribute->name == "encoding" && !is_read(attribute->value)) {
            return fmt::format(
                "its encoding is '{}', but only UTF-8, ASCII and ISO-8859-1 are read",
                attribute->value);
        }
        skip_xml_blanks(text);
    }
    return std::nullopt;
}

}  // namespace edgegpu
