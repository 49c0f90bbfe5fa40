#include "blueprint/customizations/ssh_key.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view line_blanks = " \t\r";

/// Structure of the blob after its type: number of fields, each with a length prefix, and required
/// lengths.
struct KeyType {
    std::string_view name;
    std::size_t fields;
    /// 1-based index and length in bytes of a field of fixed length; 0: none.
    std::size_t fixed_field = 0;
    std::size_t fixed_length = 0;
    /// Name of the elliptic curve, which is the first field.
    std::string_view curve = {};
};

constexpr std::array<KeyType, 7> key_types{{
    {"ssh-ed25519", 1, 1, 32},
    {"ssh-rsa", 2},
    {"ssh-dss", 4},
    {"ecdsa-sha2-nistp256", 2, 2, 65, "nistp256"},
    {"ecdsa-sha2-nistp384", 2, 2, 97, "nistp384"},
    {"ecdsa-sha2-nistp521", 2, 2, 133, "nistp521"},
    {"sk-ssh-ed25519@openssh.com", 2, 1, 32},
}};
constexpr KeyType security_key{"sk-ecdsa-sha2-nistp256@openssh.com", 3, 2, 65, "nistp256"};

constexpr const char* as_pub_file =
    "the whole line of the .pub file: TYPE BASE64 COMMENT, as ssh-keygen wrote it";

const KeyType* find_type(std::string_view name) {
    if (name == security_key.name) {
        return &security_key;
    }
    const auto* found =
        std::ranges::find_if(key_types, [&](const KeyType& type) { return type.name == name; });
    return found == key_types.end() ? nullptr : found;
}

/// Fields of certificates are not checked.
bool is_certificate(std::string_view name) {
    constexpr std::string_view end = "-cert-v01@openssh.com";
    return name.size() > end.size() && name.ends_with(end);
}

/// Whether a word is probably meant as a type.
bool looks_like_type(std::string_view word) {
    return word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-") ||
           word.starts_with("rsa-sha2-");
}

/// End of the first word, at a blank outside of quotes; npos if a quote is not closed.
std::size_t end_of_options(std::string_view line) {
    bool quoted = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '"') {
            ++at;
        } else if (line[at] == '"') {
            quoted = !quoted;
        } else if ((line[at] == ' ' || line[at] == '\t') && !quoted) {
            return at;
        }
    }
    return quoted ? std::string_view::npos : line.size();
}

/// Whether base64 is in groups of four characters, the last one padded, with unused bits zero:
/// sshd's b64_pton rejects anything else.
bool is_whole(std::string_view text, const std::string& bytes) {
    return to_base64(bytes) == text;
}

/// Nothing if `text` is not base64.
std::optional<std::string> decode(std::string_view text) {
    return base64_bytes(text.substr(0, text.size() - (text.ends_with("==")  ? 2
                                                      : text.ends_with("=") ? 1
                                                                            : 0)));
}

/// Removes the first field of a blob and returns it; nothing if the blob is too short.
std::optional<std::string_view> take_field(std::string_view& blob) {
    constexpr std::size_t length_size = 4;
    if (blob.size() < length_size) {
        return std::nullopt;
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_size; ++i) {
        length = (length << 8U) | static_cast<unsigned char>(blob[i]);
    }
    blob.remove_prefix(length_size);
    if (blob.size() < length) {
        return std::nullopt;
    }
    const std::string_view field = blob.substr(0, length);
    blob.remove_prefix(length);
    return field;
}

KeyFault cut_off(std::string_view type) {
    return {fmt::format("the {} key is cut off", type), as_pub_file};
}

constexpr const char* newer_key = "create a new one: ssh-keygen -t ed25519";

/// OpenSSH itself rejects RSA keys below 1024 bits (sshkey.h), the crypto policies of Enterprise
/// Linux 9 and later those below 2048 (RSAMinSize).
KeyFault judge_rsa(std::string_view modulus) {
    constexpr std::size_t shortest = 2048;
    modulus.remove_prefix(std::min(modulus.find_first_not_of('\0'), modulus.size()));
    if (modulus.size() * 8 < shortest) {
        return {
            fmt::format("an RSA key of {} bits is too short: sshd of Enterprise Linux 9 rejects "
                        "those below {}",
                        modulus.size() * 8, shortest),
            newer_key};
    }
    return {};
}

KeyFault judge_blob(std::string_view name, std::string_view blob) {
    const auto inner = take_field(blob);
    if (!inner) {
        return cut_off(name);
    }
    if (*inner != name) {
        const bool known = find_type(*inner) != nullptr;
        return {known ? fmt::format("the key is of type {}, not {}", *inner, name)
                      : fmt::format("there is no {} key in it", name),
                as_pub_file};
    }
    const KeyType* type = find_type(name);
    if (type == nullptr) {
        return {};
    }
    std::vector<std::string_view> fields;
    while (fields.size() < type->fields) {
        const auto field = take_field(blob);
        if (!field) {
            return cut_off(name);
        }
        fields.push_back(*field);
    }
    const bool wrong_length =
        type->fixed_field != 0 && fields[type->fixed_field - 1].size() != type->fixed_length;
    const bool wrong_curve = !type->curve.empty() && fields.front() != type->curve;
    if (wrong_length || wrong_curve || !blob.empty()) {
        return {fmt::format("the {} key is damaged", name), as_pub_file};
    }
    if (name == "ssh-dss") {  // off by default since OpenSSH 7.0
        return {"sshd rejects DSA keys", newer_key};
    }
    return name == "ssh-rsa" ? judge_rsa(fields[1]) : KeyFault{};
}

KeyFault unknown_type(std::string_view word) {
    std::vector<std::string> names{std::string(security_key.name)};
    for (const KeyType& type : key_types) {
        names.emplace_back(type.name);
    }
    const std::vector<std::string> near = nearest_names(word, names);
    return {fmt::format("\"{}\" is not a type of SSH key",
                        word.substr(0, std::min<std::size_t>(word.size(), 40))),
            near.empty() ? fmt::format("types are {}", fmt::join(names, ", "))
                         : fmt::format("did you mean \"{}\"?", near.front())};
}

}  // namespace

KeyFault ssh_key_fault(std::string_view line) {
    line = trim(line, line_blanks);
    if (line.empty() || line.front() == '#') {
        return {};
    }
    if (line.find("PRIVATE KEY") != std::string_view::npos) {
        return {"it is a private key", "give the line of the .pub file"};
    }
    std::string_view type = line.substr(0, line.find_first_of(" \t"));
    if (find_type(type) == nullptr && !is_certificate(type)) {
        // Not a type: options, which the type follows.
        const std::size_t end = end_of_options(line);
        const std::string_view rest = end == std::string_view::npos
                                          ? std::string_view{}
                                          : trim(line.substr(end), line_blanks);
        const std::string_view second = rest.substr(0, rest.find_first_of(" \t"));
        if (find_type(second) == nullptr && !is_certificate(second)) {
            if (looks_like_type(type)) {
                return unknown_type(type);
            }
            if (looks_like_type(second)) {
                return unknown_type(second);
            }
            return {"it is not a public SSH key", as_pub_file};
        }
        line = rest;
        type = second;
    }
    const std::string_view rest = trim(line.substr(type.size()), line_blanks);
    const std::string_view encoded = rest.substr(0, rest.find_first_of(" \t"));
    if (encoded.empty()) {
        return {fmt::format("\"{}\" is not followed by a key", type), as_pub_file};
    }
    if (encoded.find("...") != std::string_view::npos ||
        encoded.find("…") != std::string_view::npos) {
        return {fmt::format("the {} key is shortened (\"...\")", type), as_pub_file};
    }
    const std::optional<std::string> blob = decode(encoded);
    if (!blob) {
        return {fmt::format("the text after \"{}\" is not base64", type), as_pub_file};
    }
    KeyFault fault = judge_blob(type, *blob);
    if (fault.reason.empty() && !is_whole(encoded, *blob)) {
        return {fmt::format("the base64 of the {} key is cut off or damaged at its end", type),
                as_pub_file};
    }
    return fault;
}

}  // namespace edgegpu
