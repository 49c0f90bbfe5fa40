#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Whether programs read JSON or TOML from this path of an image, so that `configuration_fault` can
/// say something of the file.
[[nodiscard]] bool has_known_syntax(std::string_view path);

/// What is wrong with the text of such a file.
struct SyntaxFault {
    /// "it is not JSON"
    std::string problem;
    /// of the text, from 1
    std::size_t line = 1;
    /// what a device does with it
    std::string_view consequence;
};

/// The first mistake of syntax in a file that is read from this path; nothing, also for any other
/// path: it has none. Nothing of the text is in it, which may be a secret.
[[nodiscard]] std::optional<SyntaxFault> configuration_fault(std::string_view path,
                                                             std::string_view text);

}  // namespace edgegpu
