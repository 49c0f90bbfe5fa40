#include "oci/reference.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view digest_mark = "@sha256:";
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_tag = 128;

constexpr std::array<std::pair<std::string_view, ImageTransport>, 4> prefixes{{
    {"docker://", ImageTransport::docker},
    {"oci:", ImageTransport::oci},
    {"dir:", ImageTransport::dir},
    {"docker-archive:", ImageTransport::docker_archive},
}};

bool is_lower_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_word(char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Letters and digits, with separators ('.', '_', "__", any number of '-') between them.
bool is_path_component(std::string_view part) {
    if (part.empty() || !is_lower_or_digit(part.front()) || !is_lower_or_digit(part.back())) {
        return false;
    }
    while (!part.empty()) {
        const std::size_t end = static_cast<std::size_t>(
            std::ranges::find_if_not(part, is_lower_or_digit) - part.begin());
        part.remove_prefix(end);
        const std::size_t next =
            static_cast<std::size_t>(std::ranges::find_if(part, is_lower_or_digit) - part.begin());
        const std::string_view separator = part.substr(0, next);
        const bool dashes = separator.find_first_not_of('-') == std::string_view::npos;
        if (!dashes && separator != "." && separator != "_" && separator != "__") {
            return false;
        }
        part.remove_prefix(next);
    }
    return true;
}

/// A host name or an address, and perhaps a port.
bool is_domain(std::string_view text) {
    std::string_view host = text;
    if (const std::size_t colon = text.rfind(':');
        colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
        const std::string_view port = text.substr(colon + 1);
        host = text.substr(0, colon);
        if (port.empty() || port.find_first_not_of("0123456789") != std::string_view::npos) {
            return false;
        }
    }
    if (host.starts_with('[')) {
        return host.size() > 2 && host.ends_with(']') &&
               host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:") ==
                   std::string_view::npos;
    }
    const std::vector<std::string_view> labels = split(host, '.');
    return std::ranges::all_of(labels, [](std::string_view label) {
        return !label.empty() && label.front() != '-' && label.back() != '-' &&
               std::ranges::all_of(label,
                                   [](char c) { return (is_word(c) && c != '_') || c == '-'; });
    });
}

bool is_tag(std::string_view tag) {
    return !tag.empty() && tag.size() <= longest_tag && is_word(tag.front()) &&
           std::ranges::all_of(tag, [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

/// Whether the first component is a domain, as the engines decide it.
bool names_domain(std::string_view first) {
    return first == "localhost" || first.find_first_of(".:[") != std::string_view::npos ||
           std::ranges::any_of(first, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// The repository with its domain, or nothing.
std::optional<std::string> complete_repository(std::string_view name) {
    const std::size_t slash = name.find('/');
    std::string domain = "docker.io";
    std::string_view path = name;
    if (slash != std::string_view::npos && names_domain(name.substr(0, slash))) {
        domain = name.substr(0, slash);
        path = name.substr(slash + 1);
    }
    if (domain == "index.docker.io") {
        domain = "docker.io";
    }
    const bool official = domain == "docker.io" && path.find('/') == std::string_view::npos;
    std::string result = domain + (official ? "/library/" : "/") + std::string(path);
    const std::vector<std::string_view> parts = split(path, '/');
    if (result.size() > longest_name || !is_domain(domain) ||
        !std::ranges::all_of(parts, is_path_component)) {
        return std::nullopt;
    }
    return result;
}

}  // namespace

std::string ImagePlace::text() const {
    const auto* const known =
        std::ranges::find_if(prefixes, [&](const auto& one) { return one.second == transport; });
    return std::string(known->first) + rest;
}

ImageNameParts parts_of_image_name(std::string_view name) {
    ImageNameParts parts;
    if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
        parts.digest = name.substr(at + 1);
        name = name.substr(0, at);
    }
    const std::size_t colon = name.rfind(':');
    if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
        parts.tag = name.substr(colon + 1);
        name = name.substr(0, colon);
    }
    parts.repository = name;
    return parts;
}

std::string ImagePlace::digest() const {
    const std::size_t at = rest.find(digest_mark);
    return transport == ImageTransport::docker && at != std::string::npos
               ? rest.substr(at + digest_mark.size())
               : std::string();
}

ImagePlace ImagePlace::pinned(const std::string& sha256) const {
    if (transport != ImageTransport::docker) {
        return *this;
    }
    return {transport,
            fmt::format("{}{}{}", parts_of_image_name(rest).repository, digest_mark, sha256)};
}

std::string shown_image(std::string_view source) {
    const std::string_view prefix = prefixes.front().first;
    return std::string(source.starts_with(prefix) ? source.substr(prefix.size()) : source);
}

std::optional<ImagePlace> image_place(std::string_view source) {
    for (const auto& [prefix, transport] : prefixes) {
        if (source.starts_with(prefix)) {
            return ImagePlace{transport, std::string(source.substr(prefix.size()))};
        }
    }
    for (const std::string_view other :
         {"containers-storage:", "docker-daemon:", "oci-archive:", "ostree:", "sif:", "tarball:"}) {
        if (source.starts_with(other)) {
            return std::nullopt;
        }
    }
    if (source.find("://") != std::string_view::npos) {
        return std::nullopt;
    }
    return ImagePlace{ImageTransport::docker, std::string(source)};
}

std::optional<std::string> complete_image_name(std::string_view name, bool by_digest) {
    const ImageNameParts parts = parts_of_image_name(name);
    constexpr std::string_view kind = digest_mark.substr(1);
    if ((parts.digest &&
         (!parts.digest->starts_with(kind) || !is_sha256(parts.digest->substr(kind.size())))) ||
        (parts.tag && !is_tag(*parts.tag))) {
        return std::nullopt;
    }
    const std::optional<std::string> repository = complete_repository(parts.repository);
    if (!repository) {
        return std::nullopt;
    }
    if (parts.digest && (by_digest || !parts.tag)) {
        return fmt::format("{}@{}", *repository, *parts.digest);
    }
    return fmt::format("{}:{}", *repository, parts.tag.value_or("latest"));
}

}  // namespace edgegpu
