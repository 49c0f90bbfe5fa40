#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// One "-----BEGIN PGP …-----" block of a text.
struct ArmorBlock {
    /// "PUBLIC KEY BLOCK", "SIGNATURE", …
    std::string type;
    /// The decoded content.
    std::string data;
    /// Why `data` must not be used, to follow "it is damaged: "; empty if it is valid.
    std::string problem;
};

/// The armoured blocks in a text (RFC 4880, section 6.2), which may have other text around them;
/// lines may end with CRLF and be indented. A checksum is optional, but must match.
[[nodiscard]] std::vector<ArmorBlock> read_armor(std::string_view text);

/// Whether a text looks like a web page, which servers may send instead of a missing file.
[[nodiscard]] bool is_web_page(std::string_view text);

}  // namespace edgegpu
