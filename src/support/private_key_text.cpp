#include "support/private_key_text.hpp"

#include <algorithm>
#include <cctype>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using PrivateKey = Handle<EVP_PKEY, EVP_PKEY_free>;

/// Whether base64 follows the "BEGIN" line of a key, after its headers ("DEK-Info: …"). All of it
/// may be in one line, with "\n" in it (JSON).
bool has_key_content(std::string_view after) {
    constexpr std::size_t least = 40;
    constexpr std::string_view escaped = "\\n";
    after = after.substr(0, 4096);
    std::size_t count = 0;
    while (!after.empty() && count < least) {
        const std::size_t end = std::min({after.find('\n'), after.find(escaped), after.size()});
        const std::string_view line = trim(after.substr(0, end));
        after.remove_prefix(end);
        after.remove_prefix(
            std::min(after.size(), after.starts_with(escaped) ? escaped.size() : std::size_t{1}));
        if (line.find(':') != std::string_view::npos) {
            count = 0;
        } else if (std::ranges::all_of(line, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '=';
                   })) {
            count += line.size();
        } else {
            return false;
        }
    }
    return count >= least;
}

void find_plain_keys(std::string_view content, std::vector<std::size_t>& places) {
    constexpr std::string_view begin = "-----BEGIN ";
    constexpr std::string_view dashes = "-----";
    for (std::size_t at = content.find(begin); at != std::string_view::npos;
         at = content.find(begin, at + begin.size())) {
        const std::size_t name = at + begin.size();
        const std::size_t end = content.find(dashes, name);
        if (end == std::string_view::npos || end - name > 64) {
            continue;
        }
        const std::string_view type = content.substr(name, end - name);
        // Those of TSS2 are wrapped by the TPM of one machine.
        if (type.find("PRIVATE KEY") != std::string_view::npos && !type.starts_with("TSS2") &&
            has_key_content(content.substr(end + dashes.size()))) {
            places.push_back(at);
        }
    }
}

/// Keys in base64, as kubeconfigs and Secrets have them.
void find_encoded_keys(std::string_view content, std::vector<std::size_t>& places) {
    constexpr std::string_view begin = "LS0tLS1CRUdJTi";  // "-----BEGIN"
    constexpr std::size_t header = 64;
    for (std::size_t at = content.find(begin); at != std::string_view::npos;
         at = content.find(begin, at + begin.size())) {
        const std::optional<std::string> text = base64_text(content.substr(at, header));
        if (text && text->find("PRIVATE KEY") != std::string::npos) {
            places.push_back(at);
        }
    }
}

}  // namespace

std::optional<std::string> base64_text(std::string_view encoded) {
    constexpr std::size_t least = 8;
    if (encoded.size() < least || encoded.size() % 4 != 0) {
        return std::nullopt;
    }
    std::string text(encoded.size(), '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(encoded.data()),
                                     static_cast<int>(encoded.size()));
    if (size < 0) {
        return std::nullopt;
    }
    text.resize(static_cast<std::size_t>(size));
    text.resize(text.find_last_not_of('\0') + 1);  // what "=" stands for
    return text;
}

std::vector<std::size_t> find_private_keys(std::string_view content) {
    std::vector<std::size_t> places;
    find_plain_keys(content, places);
    find_encoded_keys(content, places);
    return places;
}

bool is_binary_private_key(std::string_view name, std::string_view content) {
    constexpr std::size_t largest = 64U << 10U;
    const std::string lower = lower_case(name);
    if (content.size() < 16 || content.size() > largest) {
        return false;
    }
    const auto first = static_cast<unsigned char>(content.front());
    if (content.starts_with("\x05\x02") &&
        (lower.ends_with(".keytab") || lower.ends_with("keytab"))) {
        return true;
    }
    // OpenPGP: a packet of the kind 5, a secret key.
    if ((lower.ends_with(".gpg") || lower.ends_with(".pgp") || lower.ends_with(".key")) &&
        ((first & 0xFCU) == 0x94U || first == 0xC5U)) {
        return true;
    }
    if (first != 0x30) {
        return false;
    }
    if (lower.ends_with(".p12") || lower.ends_with(".pfx")) {
        return true;
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(content.data());
    const PrivateKey key(d2i_AutoPrivateKey(nullptr, &bytes, static_cast<long>(content.size())));
    return static_cast<bool>(key);
}

}  // namespace edgegpu
