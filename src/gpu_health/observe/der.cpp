#include "gpu_health/observe/der.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

using namespace std::string_view_literals;

constexpr unsigned char integer = 0x02;
constexpr unsigned char octet_string = 0x04;
constexpr unsigned char object_id = 0x06;
constexpr unsigned char sequence = 0x30;
constexpr unsigned char set = 0x31;
/// [0], primitive and constructed
constexpr unsigned char context_0 = 0x80;
constexpr unsigned char explicit_0 = 0xa0;
constexpr unsigned char explicit_3 = 0xa3;

struct Element {
    unsigned char tag = 0;
    std::string_view content;
};

/// Removes the element that `rest` begins with; nothing if it is not whole, or its tag or length
/// has a form that these structures do not use.
std::optional<Element> take(std::string_view& rest) {
    if (rest.size() < 2) {
        return std::nullopt;
    }
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(rest[at]); };
    std::size_t head = 2;
    std::size_t length = byte(1);
    if (length > 0x80) {
        const std::size_t digits = length & 0x7fU;
        if (digits > 4 || rest.size() < head + digits) {
            return std::nullopt;
        }
        length = 0;
        for (; head < 2 + digits; ++head) {
            length = length << 8U | byte(head);
        }
    } else if (length == 0x80) {
        return std::nullopt;
    }
    if ((byte(0) & 0x1fU) == 0x1fU || rest.size() - head < length) {
        return std::nullopt;
    }
    const Element element{byte(0), rest.substr(head, length)};
    rest.remove_prefix(head + length);
    return element;
}

/// The same for an element that has to have this tag; nothing is removed if it has another.
std::optional<std::string_view> take(std::string_view& rest, unsigned char tag) {
    std::string_view after = rest;
    const std::optional<Element> element = take(after);
    if (!element || element->tag != tag) {
        return std::nullopt;
    }
    rest = after;
    return element->content;
}

/// A number without the zero that keeps it positive, as OpenSSL gives it.
std::string number_text(std::string_view number) {
    if (number.size() > 1 && number.front() == '\0') {
        number.remove_prefix(1);
    }
    return upper_hexadecimal(number);
}

std::string attribute_name(std::string_view id) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
        {{"\x55\x04\x03"sv, "CN"},
         {"\x55\x04\x06"sv, "C"},
         {"\x55\x04\x07"sv, "L"},
         {"\x55\x04\x08"sv, "ST"},
         {"\x55\x04\x0a"sv, "O"},
         {"\x55\x04\x0b"sv, "OU"},
         {"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01"sv, "emailAddress"}}};
    for (const auto& [known, name] : names) {
        if (id == known) {
            return std::string(name);
        }
    }
    return "?";
}

/// The content of a Name: SETs of SEQUENCE { OBJECT IDENTIFIER, string }, the last first.
std::string name_text(std::string_view name) {
    std::string text;
    while (auto part = take(name, set)) {
        std::string words;
        while (auto attribute = take(*part, sequence)) {
            const auto id = take(*attribute, object_id);
            const auto value = take(*attribute);
            if (id && value) {
                words += (words.empty() ? "" : "+") + attribute_name(*id) + "=";
                words += value->content;
            }
        }
        text = text.empty() ? words : words + "," + text;
    }
    return text;
}

/// ContentInfo { type, [0] SignedData { version, algorithms, contents, [0] certificates OPTIONAL,
/// [1] lists OPTIONAL, signers } }: the content of `signers`.
std::optional<std::string_view> signers_in(std::string_view message) {
    auto info = take(message, sequence);
    if (!info || !take(*info, object_id)) {
        return std::nullopt;
    }
    auto outer = take(*info, explicit_0);
    auto data = outer ? take(*outer, sequence) : std::nullopt;
    if (!data || !take(*data, integer) || !take(*data, set) || !take(*data, sequence)) {
        return std::nullopt;
    }
    while (auto element = take(*data)) {
        if (element->tag == set) {
            return element->content;
        }
    }
    return std::nullopt;
}

/// The content of the extension subjectKeyIdentifier (2.5.29.14) in the rest of a TBSCertificate
/// that begins with the signature's algorithm.
std::optional<std::string_view> key_id_in(std::string_view rest) {
    while (const auto element = take(rest)) {
        if (element->tag != explicit_3) {
            continue;
        }
        std::string_view wrapped = element->content;
        auto extensions = take(wrapped, sequence);
        while (extensions) {
            auto extension = take(*extensions, sequence);
            if (!extension) {
                return std::nullopt;
            }
            if (take(*extension, object_id) != "\x55\x1d\x0e"sv) {
                continue;
            }
            // A BOOLEAN, whether it is critical, may come first.
            while (const auto value = take(*extension)) {
                std::string_view octets = value->content;
                if (value->tag == octet_string) {
                    return take(octets, octet_string);
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Signer> signer_of(std::string_view message) {
    auto signers = signers_in(message);
    auto info = signers ? take(*signers, sequence) : std::nullopt;
    if (!info || !signers->empty() || !take(*info, integer)) {
        return std::nullopt;
    }
    if (const auto key = take(*info, context_0)) {
        return Signer{{}, upper_hexadecimal(*key)};
    }
    auto issuer_and_serial = take(*info, sequence);
    const auto issuer = issuer_and_serial ? take(*issuer_and_serial, sequence) : std::nullopt;
    const auto serial = issuer ? take(*issuer_and_serial, integer) : std::nullopt;
    if (!serial) {
        return std::nullopt;
    }
    return Signer{name_text(*issuer), number_text(*serial)};
}

std::vector<std::string> ids_of_certificate(std::string_view certificate) {
    std::vector<std::string> ids;
    auto outer = take(certificate, sequence);
    auto body = outer ? take(*outer, sequence) : std::nullopt;
    if (!body) {
        return ids;
    }
    static_cast<void>(take(*body, explicit_0));
    if (const auto serial = take(*body, integer)) {
        ids.push_back(number_text(*serial));
        if (const auto key = key_id_in(*body)) {
            ids.push_back(upper_hexadecimal(*key));
        }
    }
    return ids;
}

}  // namespace edgegpu::gpu_health
