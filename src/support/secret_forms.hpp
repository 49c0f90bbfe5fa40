#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace edgegpu {

/// How tokens of well-known services begin: alternatives of a regular expression (PCRE).
inline constexpr std::string_view token_prefixes =
    "gh[pousr]_|github_pat_|glpat-|glrt-|xox[abprs]-|dckr_pat_|npm_|hf_|nvapi-|AIza|sk_live_|"
    "pypi-AgE|sha256~|tskey-auth-";

/// Half-open ranges of a text, [begin, end).
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

/// Adds where `text` has what looks like a secret (`hide_secrets` lists the forms), in no order;
/// ranges may overlap. Takes time proportional to the text's length.
void find_secrets_by_form(std::string_view text, Spans& spans);

}  // namespace edgegpu
