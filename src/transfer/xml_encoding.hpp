#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Why an XML document that begins with `text` must not reach a parser, as the end of a sentence;
/// nothing if it may. Its encoding must be UTF-8, ASCII or ISO-8859-1: libxml2 leaves the others to
/// iconv, and if that fails in the midst of a document, librepo, and libsolv where it uses libxml2,
/// dereference a null pointer. `text` is the whole document, or as much of it as the XML
/// declaration needs (1 KiB is plenty). A document that is empty or damaged in other ways is left
/// to the parser.
[[nodiscard]] std::optional<std::string> xml_problem(std::string_view text);

}  // namespace edgegpu
