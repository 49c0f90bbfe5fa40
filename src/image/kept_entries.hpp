#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

// Entries as text, for results of a stage that the store keeps. Contents of files are in the cache
// already.

/// One line per entry: type (d, f, l), mode (octal), uid, gid, size, digest, path of the content
/// below the cache, path, link target, capabilities (base64), separated by tabs; without labels.
/// Nothing if a path or a target has a tab or a newline: such a result cannot be stored.
[[nodiscard]] std::optional<std::string> format_entries(const Context& ctx, const Entries& entries);

/// The inverse of format_entries. Nothing if a line is damaged, or a content is missing or does not
/// match its digest.
[[nodiscard]] std::optional<Entries> parse_entries(const Context& ctx, std::string_view text);

}  // namespace edgegpu
