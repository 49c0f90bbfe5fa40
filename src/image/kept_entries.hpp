#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Results of a stage that the store keeps: paths with their entries, whose contents lie in
/// `content/` of the cache already.

/// One line an entry: type, mode, owner, group, size, digest, content below the cache, path, link
/// target, separated by tabs; labels are not kept. Nothing where a name has a tab or a newline in
/// it or a file has capabilities: such a result is not kept, and the next build does the work
/// again.
[[nodiscard]] std::optional<std::string> format_entries(const Context& ctx, const Entries& entries);

/// The reverse. Nothing where a line is damaged, or a content is gone or is another one.
[[nodiscard]] std::optional<Entries> parse_entries(const Context& ctx, std::string_view text);

}  // namespace edgegpu
