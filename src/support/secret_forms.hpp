#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace edgegpu {

/// Half-open ranges of a text, [begin, end).
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

/// Adds where `text` has what looks like a secret (`hide_secrets` lists the forms), in no order;
/// ranges may overlap. Takes time proportional to the text's length.
void find_secrets_by_form(std::string_view text, Spans& spans);

}  // namespace edgegpu
