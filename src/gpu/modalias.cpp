#include "gpu/modalias.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "support/text/number.hpp"

namespace edgegpu {

namespace {

/// Replaces "%XX" by the character with that hexadecimal code.
std::string with_characters(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::optional<std::uint8_t> code;
        if (text[i] == '%' && i + 2 < text.size()) {
            code = whole_number<std::uint8_t>(std::string_view(text).substr(i + 1, 2), 16);
        }
        if (code && *code != 0) {
            result += static_cast<char>(*code);
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

}  // namespace

std::vector<std::string> card_aliases(const std::string& pci_id) {
    const std::size_t colon = pci_id.find(':');
    if (colon == std::string::npos) {
        return {};
    }
    const std::string_view text = pci_id;
    const auto vendor = whole_number<std::uint16_t>(text.substr(0, colon), 16);
    const auto device = whole_number<std::uint16_t>(text.substr(colon + 1), 16);
    std::vector<std::string> aliases;
    if (vendor && device) {
        for (const char* subclass : {"00", "02"}) {
            aliases.push_back(fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd00000000bc03sc{}i00",
                                          *vendor, *device, *vendor, subclass));
        }
    }
    return aliases;
}

bool matches_alias(const std::string& pattern, const std::vector<std::string>& aliases) {
    const std::string decoded = with_characters(pattern);
    return std::ranges::any_of(aliases, [&](const std::string& alias) {
        return ::fnmatch(decoded.c_str(), alias.c_str(), 0) == 0;
    });
}

}  // namespace edgegpu
