#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// One "-----BEGIN PGP …-----" block of a text.
struct ArmorBlock {
    /// "PUBLIC KEY BLOCK", "SIGNATURE", …
    std::string type;
    /// What it holds, decoded.
    std::string data;
    /// Why `data` is not to be used, in words that follow "it is damaged: "; empty where all is
    /// well.
    std::string problem;
};

/// The armoured blocks of a text (RFC 4880, section 6.2) with whatever stands around them; lines
/// may end with CRLF and be indented. A checksum that is there must be right.
[[nodiscard]] std::vector<ArmorBlock> read_armor(std::string_view text);

/// Whether a text looks like a web page: what servers answer in place of a file that they lack.
[[nodiscard]] bool is_web_page(std::string_view text);

}  // namespace edgegpu
