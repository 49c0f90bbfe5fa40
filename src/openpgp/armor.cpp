#include "openpgp/armor.hpp"

#include <cstdint>
#include <optional>

#include "support/base64.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view begin_mark = "-----BEGIN PGP ";
constexpr std::string_view end_mark = "-----END PGP ";
constexpr std::string_view dashes = "-----";

std::optional<std::string> decode_base64(std::string_view text) {
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) {
        return std::nullopt;
    }
    return base64_bytes(text);
}

/// CRC-24 of RFC 4880, section 6.1.
std::uint32_t crc24(std::string_view data) {
    std::uint32_t crc = 0xb704ceU;
    for (const char c : data) {
        crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 16U;
        for (int bit = 0; bit < 8; ++bit) {
            crc <<= 1U;
            if ((crc & 0x1000000U) != 0) {
                crc ^= 0x1864cfbU;
            }
        }
    }
    return crc & 0xffffffU;
}

bool checksum_fits(std::string_view written, std::string_view data) {
    const std::optional<std::string> bytes = decode_base64(written);
    if (!bytes || bytes->size() != 3) {
        return false;
    }
    std::uint32_t expected = 0;
    for (const char c : *bytes) {
        expected = (expected << 8U) | static_cast<unsigned char>(c);
    }
    return expected == crc24(data);
}

void skip_headers(std::string_view& text) {
    // Some programs write no empty line after "Version: …"; base64 has no colon.
    while (!text.empty()) {
        std::string_view rest = text;
        const std::string_view line = trim(take_line(rest));
        if (!line.empty() && (line.find(':') == std::string_view::npos || line.starts_with('-'))) {
            return;
        }
        text = rest;
        if (line.empty()) {
            return;
        }
    }
}

/// Takes a block of type `type` from `text`, which begins after the block's first line.
ArmorBlock read_block(std::string_view type, std::string_view& text) {
    ArmorBlock block{std::string(type), "", ""};
    skip_headers(text);
    std::string encoded;
    std::string checksum;
    bool ended = false;
    while (!text.empty() && !ended) {
        std::string_view rest = text;
        const std::string_view line = trim(take_line(rest));
        if (line.starts_with(begin_mark)) {
            break;  // the next block: this one is not terminated
        }
        text = rest;
        if (line.starts_with(dashes)) {
            ended = line.starts_with(end_mark);
        } else if (line.size() == 5 && line.front() == '=') {
            checksum = line.substr(1);
        } else {
            encoded += line;
        }
    }
    std::optional<std::string> data = decode_base64(encoded);
    if (!ended) {
        block.problem = "its end is missing";
    } else if (!data) {
        block.problem = "it has characters that are not base64";
    } else if (data->empty()) {
        block.problem = "it is empty";
    } else if (!checksum.empty() && !checksum_fits(checksum, *data)) {
        block.problem = "its checksum does not match";
    }
    block.data = data.value_or("");
    return block;
}

}  // namespace

std::vector<ArmorBlock> read_armor(std::string_view text) {
    std::vector<ArmorBlock> blocks;
    while (!text.empty()) {
        std::string_view line = trim(take_line(text));
        if (line.starts_with(begin_mark) && line.ends_with(dashes) &&
            line.size() > begin_mark.size() + dashes.size()) {
            line.remove_prefix(begin_mark.size());
            line.remove_suffix(dashes.size());
            blocks.push_back(read_block(line, text));
        }
    }
    return blocks;
}

bool is_web_page(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    const std::string start = lower_case(trim(text.substr(0, 4096)));
    return start.starts_with("<!doctype html") || start.starts_with("<html") ||
           (start.starts_with('<') && start.find("<html") != std::string::npos);
}

}  // namespace edgegpu
