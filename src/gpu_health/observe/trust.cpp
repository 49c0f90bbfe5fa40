#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_health/observe/der.hpp"
#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::string_view variables = "firmware/efi/efivars/";
constexpr std::string_view global_guid = "-8be4df61-93ca-11d2-aa0d-00e098032b8c";
constexpr std::string_view shim_guid = "-605dab50-e046-4300-abb6-3dd810dd8b23";
/// efivarfs puts the variable's attributes before its value.
constexpr std::size_t attributes = 4;
constexpr std::size_t largest_list = std::size_t{4} << 20U;

std::string upper_case(std::string_view text) {
    std::string upper(text);
    std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
        return static_cast<char>(std::toupper(letter));
    });
    return upper;
}

/// "none [integrity] confidentiality" → "integrity"
std::string chosen_word(std::string_view text) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
        return {};
    }
    return std::string(text.substr(open + 1, close - open - 1));
}

/// A line of /proc/keys: eight columns, then "asymmetri NAME: ID: X509.rsa END []". ID is the
/// subject key id, or the serial number where there is none; END are the last four bytes of the
/// subject key id (the kernel's asymmetric_key_describe, x509_key_preparse).
void read_key(std::string_view line, ModuleTrust& trust) {
    constexpr std::string_view type = " asymmetri ";
    const std::size_t start = line.find(type);
    const std::size_t kind = line.rfind(": X509.");
    if (start == std::string_view::npos || kind == std::string_view::npos ||
        kind < start + type.size()) {
        return;
    }
    std::string_view name = trim(line.substr(start + type.size(), kind - start - type.size()));
    const std::vector<std::string_view> after = words_of(line.substr(kind + 2));
    const std::string_view end = after.size() > 1 && is_hexadecimal(after[1]) ? after[1] : "";
    std::string_view id = end;
    if (const std::size_t colon = name.rfind(": "); colon != std::string_view::npos) {
        const std::string_view last = name.substr(colon + 2);
        if (is_hexadecimal(last) && last.ends_with(end)) {
            id = last;
            name = name.substr(0, colon);
        }
    }
    if (!id.empty()) {
        trust.keys.push_back(upper_case(id));
    }
    trust.names.emplace_back(name);
}

std::uint32_t little_endian(std::string_view text, std::size_t offset) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
        value = value << 8U | static_cast<unsigned char>(text[offset + i]);
    }
    return value;
}

/// EFI_SIGNATURE_LISTs (UEFI specification, 32.4.1): a type of 16 bytes, sizes of the list, of a
/// header and of each signature, the header, and signatures: 16 bytes that name the owner, and a
/// certificate.
void read_signature_lists(std::string_view lists, std::vector<std::string>& ids) {
    using namespace std::string_view_literals;
    // EFI_CERT_X509_GUID, a5c059a1-94e4-4aa7-87b5-ab155c2bf072
    constexpr auto x509 = "\xa1\x59\xc0\xa5\xe4\x94\xa7\x4a\x87\xb5\xab\x15\x5c\x2b\xf0\x72"sv;
    constexpr std::size_t head = 28;
    constexpr std::size_t owner = 16;
    while (lists.size() >= head) {
        const std::size_t size = little_endian(lists, 16);
        const std::size_t header = little_endian(lists, 20);
        const std::size_t each = little_endian(lists, 24);
        if (size < head || size > lists.size()) {
            return;
        }
        const bool certificates = lists.starts_with(x509) && header <= size - head && each > owner;
        if (certificates) {
            std::string_view rest = lists.substr(head + header, size - head - header);
            for (; rest.size() >= each; rest.remove_prefix(each)) {
                std::ranges::move(ids_of_certificate(rest.substr(owner, each - owner)),
                                  std::back_inserter(ids));
            }
        }
        lists.remove_prefix(size);
    }
}

/// What shim hands to the kernel of the keys that were enrolled by hand: a table of the firmware's,
/// or a variable where the kernel is older.
std::vector<std::string> enrolled_ids(const Places& places) {
    std::vector<std::string> ids;
    const Reading table =
        read_file(places.sys, "firmware/efi/mok-variables/MokListRT", largest_list);
    if (table.good()) {
        read_signature_lists(table.content, ids);
        return ids;
    }
    const Reading variable = read_file(
        places.sys, std::string(variables) + "MokListRT" + std::string(shim_guid), largest_list);
    if (variable.content.size() > attributes) {
        read_signature_lists(std::string_view(variable.content).substr(attributes), ids);
    }
    return ids;
}

}  // namespace

void observe_trust(const Places& places, Facts& facts) {
    ModuleTrust trust;
    trust.lockdown = chosen_word(read_line(places.sys, "kernel/security/lockdown"));
    trust.enforced = read_line(places.sys, "module/module/parameters/sig_enforce") == "Y" ||
                     trust.lockdown == "integrity" || trust.lockdown == "confidentiality";
    const Reading secure = read_start(
        places.sys, std::string(variables) + "SecureBoot" + std::string(global_guid), 64);
    if (secure.content.size() > attributes) {
        trust.secure_boot = secure.content[attributes] == 1;
    }
    const Reading keys = read_start(places.proc, "keys", largest_list);
    trust.keys_known = keys.good() && !keys.content.empty();
    for (const std::string_view line : lines_of(keys.content)) {
        read_key(line, trust);
    }
    trust.enrolled = enrolled_ids(places);
    facts.trust = trust;
}

}  // namespace edgegpu::gpu_health
