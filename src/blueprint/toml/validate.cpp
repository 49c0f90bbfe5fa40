#include "blueprint/toml/validate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "blueprint/toml/toml_reader.hpp"
#include "support/text/ref_path.hpp"

namespace edgegpu {

namespace {

bool is_alphanumeric(char c) noexcept {
    // Not isalnum(): the result must not depend on the locale.
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether `accept` is true for every part between slashes.
template <typename Accept>
bool all_parts(std::string_view path, Accept accept) {
    while (true) {
        const std::size_t slash = path.find('/');
        if (!accept(path.substr(0, slash))) {
            return false;
        }
        if (slash == std::string_view::npos) {
            return true;
        }
        path.remove_prefix(slash + 1);
    }
}

}  // namespace

bool has_control_characters(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

bool is_plain_name(std::string_view text, std::string_view others) noexcept {
    if (text.empty() || text.front() == '-' || text.front() == '.') {
        return false;
    }
    return std::ranges::all_of(text, [&](char c) {
        return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
    });
}

void require_account_name(const SourceLocation& location, std::string_view what,
                          std::string_view name) {
    const bool digit_first = !name.empty() && name.front() >= '0' && name.front() <= '9';
    if (!is_plain_name(name, "_.-") || digit_first || name.size() > 32) {
        throw error_at(location, "invalid {} name \"{}\"", what, name)
            .hinted("at most 32 letters, digits, '_', '.', '-', beginning with a letter or '_'");
    }
}

void require_absolute_path(const SourceLocation& location, std::string_view what,
                           std::string_view path) {
    if (path.empty() || path.front() != '/') {
        throw error_at(location, "\"{}\" must be an absolute path, not \"{}\"", what, path);
    }
    const bool clean = all_parts(path.substr(1), [](std::string_view part) {
        return !part.empty() && part != "." && part != ".." && part.size() <= 255;
    });
    if (!clean || path.size() > 4095 || has_control_characters(path)) {
        throw error_at(location,
                       "\"{}\" must be a path without \"..\", \".\" and double or "
                       "trailing slashes, not \"{}\"",
                       what, path);
    }
}

void require_unit_name(const SourceLocation& location, std::string_view name) {
    if (!is_plain_name(name, "_.-@:\\") || name.size() > 255) {
        throw error_at(location, "invalid unit name \"{}\"", name);
    }
}

void require_kernel_module_name(const SourceLocation& location, std::string_view name) {
    if (!is_plain_name(name, "_-") || name.size() > 64) {
        throw error_at(location, "invalid kernel module name \"{}\"", name);
    }
}

void require_ref(const SourceLocation& location, std::string_view what, std::string_view ref) {
    const bool valid = ref.size() <= 255 && all_parts(ref, [](std::string_view part) {
                           return is_plain_name(part, "_.-");
                       });
    if (!valid) {
        throw error_at(location, "\"{}\" is not a valid ostree ref: \"{}\"", what, ref)
            .hinted(
                "parts of letters, digits, '_', '.', '-' separated by '/', as in "
                "\"rhel/9/x86_64/edge\"");
    }
    if (const std::string hint = hint_for_ref_path(ref); !hint.empty()) {
        throw error_at(location,
                       "\"{}\" is not a valid ostree ref: \"{}\" is where a repository has one",
                       what, ref)
            .hinted(hint);
    }
}

void require_hostname(const SourceLocation& location, std::string_view name) {
    const bool valid = name.size() <= 64 && name.back() != '-' && name.back() != '.' &&
                       name.find("..") == std::string_view::npos && is_plain_name(name, ".-");
    if (!valid) {
        throw error_at(location, "invalid host name \"{}\"", name)
            .hinted("at most 64 letters, digits, '-' and '.'");
    }
}

void require_timezone(const SourceLocation& location, std::string_view name) {
    const bool valid = name.size() <= 255 && all_parts(name, [](std::string_view part) {
                           return is_plain_name(part, "_+-");
                       });
    if (!valid) {
        throw error_at(location, "invalid time zone \"{}\"", name)
            .hinted("a name below /usr/share/zoneinfo, as in \"Europe/Berlin\"");
    }
}

std::string unfit_path_reason(std::string_view path) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> reasons{{
        {"/boot", "is written when a commit is deployed; kernels belong in /usr/lib/modules"},
        {"/dev", "is created at boot"},
        {"/proc", "is created at boot"},
        {"/run", "is created at boot; use a tmpfiles.d file"},
        {"/sys", "is created at boot"},
        {"/tmp", "is created at boot; use a tmpfiles.d file"},
        {"/ostree", "belongs to ostree"},
        {"/sysroot", "belongs to ostree"},
        {"/usr/etc", "is generated from /etc; use /etc"},
        {"/bin", "is a link; use /usr/bin"},
        {"/sbin", "is a link; use /usr/sbin"},
        {"/lib", "is a link; use /usr/lib"},
        {"/lib64", "is a link; use /usr/lib64"},
        {"/lost+found", "belongs to the file system"},
    }};
    for (const auto& [prefix, reason] : reasons) {
        if (path.substr(0, prefix.size()) == prefix &&
            (path.size() == prefix.size() || path[prefix.size()] == '/')) {
            return std::string(prefix) + ' ' + std::string(reason);
        }
    }
    return {};
}

}  // namespace edgegpu
