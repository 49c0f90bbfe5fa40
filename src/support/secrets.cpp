#include "support/secrets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <openssl/evp.h>
#include <pcre2.h>

#include "support/handles.hpp"

namespace edgegpu {

namespace {

/// Half-open ranges of a text.
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t shortest_secret = 4;
constexpr std::size_t shortest_anywhere = 8;

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The byte of `digits` hexadecimal digits at the beginning; -1 where they are none, or no byte.
int hex_byte(std::string_view text, std::size_t digits) {
    if (text.size() < digits) {
        return -1;
    }
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const int digit = hex_value(text[i]);
        value = digit < 0 || value > 15 ? -1 : value * 16 + digit;
        if (value < 0) {
            return -1;
        }
    }
    return value;
}

/// A character, and how many bytes of the text are its escape; 0: it is no escape.
struct Escape {
    char value = 0;
    std::size_t length = 0;
};

/// %41, \x41, \u0041, \n and their like.
Escape escape_at(std::string_view text) {
    const auto hexadecimal = [&](std::size_t prefix, std::size_t digits) {
        const int value = hex_byte(text.substr(prefix), digits);
        return value < 0 ? Escape{} : Escape{static_cast<char>(value), prefix + digits};
    };
    if (text.size() < 2) {
        return {};
    }
    if (text[0] == '%') {
        return hexadecimal(1, 2);
    }
    if (text[0] != '\\') {
        return {};
    }
    switch (text[1]) {
        case 'x':
            return hexadecimal(2, 2);
        case 'u':
            return hexadecimal(2, 4);
        case 'n':
            return {'\n', 2};
        case 't':
            return {'\t', 2};
        case 'r':
            return {'\r', 2};
        case '"':
        case '\'':
        case '/':
        case '\\':
            return {text[1], 2};
        default:
            return {};
    }
}

bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// A line with its escapes undone, and where each of its characters begins in the original. What
/// would come out as blank becomes '_': in the original it does not end a word.
class PlainLine {
public:
    explicit PlainLine(std::string_view original) : original_(original), text_(original) {
        if (original.find_first_of("%\\") == std::string_view::npos) {
            return;
        }
        decoded_.reserve(original.size());
        starts_.reserve(original.size());
        for (std::size_t i = 0; i < original.size();) {
            const Escape escape = escape_at(original.substr(i));
            starts_.push_back(static_cast<std::uint32_t>(i));
            const char value = escape.length == 0 ? original[i] : escape.value;
            decoded_ += escape.length != 0 && (is_blank(value) || value == 0) ? '_' : value;
            i += std::max<std::size_t>(escape.length, 1);
        }
        text_ = decoded_;
    }
    PlainLine(const PlainLine&) = delete;
    PlainLine& operator=(const PlainLine&) = delete;

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    /// The place in the original of a place in text().
    [[nodiscard]] std::size_t original(std::size_t at) const {
        if (starts_.empty()) {
            return at;
        }
        return at < starts_.size() ? starts_[at] : original_.size();
    }

private:
    std::string_view original_;
    std::string_view text_;
    std::string decoded_;
    std::vector<std::uint32_t> starts_;
};

/// User and password, and the query, of all URLs of a line. A word holds one: where there are
/// more, all before the last '@' goes.
void find_in_urls(std::string_view line, Spans& spans) {
    constexpr auto npos = std::string_view::npos;
    for (std::size_t at = line.find("//"); at != npos; at = line.find("//", at)) {
        const std::size_t begin = at + 2;
        const std::size_t end = std::min(line.find_first_of(" \t\r\n\v\f<>", begin), line.size());
        const std::string_view word = line.substr(begin, end - begin);
        const std::size_t last = word.rfind('@');
        const bool is_login = last != npos && (last < word.find_first_of("/?#") ||
                                               word.substr(0, last).find(':') != npos);
        if (is_login) {
            spans.emplace_back(begin, begin + last);
        }
        const std::size_t query = word.find('?', is_login ? last : 0);
        if (query != npos && word.find('=', query) != npos) {
            const std::size_t stop = std::min(word.find_first_of("\"'`", query), word.size());
            spans.emplace_back(begin + query + 1, begin + stop);
        }
        at = end;
    }
}

/// Secrets that have a name or a form, one to a line of this text; what \K leaves is hidden. No
/// repetition is without a bound where it could be tried again: a hostile line costs no more.
constexpr const char* named_secrets =
    R"((?:proxy-)?authorization["']?\s{0,8}[:=]\s{0,8}\K\S.*)"
    R"(|(?:set-)?cookie["']?\s{0,8}:\s{0,8}\K\S.*)"
    R"(|\bx-[a-z-]{0,32}?(?:token|key|auth|secret)["']?\s{0,8}:\s{0,8}\K\S.*)"
    R"(|\b(?:private|deploy|job)-token["']?\s{0,8}:\s{0,8}\K\S.*)"
    R"(|\b(?:bearer|basic|negotiate)\s{1,8}\K(?=[^\s0-9=+/]{0,64}[0-9=+/])[a-z0-9+/_=.~-]{12,})"
    R"(|\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1)\$\K[^\s:"'<>]{8,})"
    R"(|\{s?sha[0-9]{0,3}\}\K[a-z0-9+/=]{8,})"
    R"(|grub\.pbkdf2\.sha512\.\K\S+)"
    R"(|(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api|access|private)[_-]?key)"
    R"(|credentials?)[\w-]{0,32}["']?=\K(?:"[^"]+|'[^']+|[^\s"'&;,]+))"
    R"(|["'][\w.-]{0,32}?(?:pass(?:word|wd|phrase)|secret|token|(?:api|access|private)[_-]?key))"
    R"([\w-]{0,32}["']\s{0,8}[:=]\s{0,8}["']\K[^"']+)"
    R"(|^\s{0,64}[\w.-]{0,32}?(?:pass(?:word|wd|phrase)|secret|token|(?:api|access)[_-]?key))"
    R"([\w-]{0,32}\s{0,8}[:=]\s{0,8}\K\S.*)"
    R"(|\beyJ[\w-]{8,}\.\K[\w-]+\.[\w-]*)"
    R"(|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-)\K[\w-]{12,})"
    R"(|\bAKIA\K[A-Z0-9]{12,})";

using Pattern = Handle<pcre2_code, pcre2_code_free>;
using MatchData = Handle<pcre2_match_data, pcre2_match_data_free>;

const Pattern& named_pattern() {
    static const Pattern pattern = [] {
        int code = 0;
        PCRE2_SIZE offset = 0;
        Pattern compiled(pcre2_compile(
            reinterpret_cast<PCRE2_SPTR>(named_secrets), PCRE2_ZERO_TERMINATED,
            PCRE2_CASELESS | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE, &code, &offset, nullptr));
        if (compiled) {
            pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
        }
        return compiled;
    }();
    return pattern;
}

void find_named(std::string_view line, Spans& spans) {
    const Pattern& pattern = named_pattern();
    const MatchData match(pattern ? pcre2_match_data_create_from_pattern(pattern.get(), nullptr)
                                  : nullptr);
    for (std::size_t at = 0; at < line.size();) {
        const int found =
            match ? pcre2_match(pattern.get(), reinterpret_cast<PCRE2_SPTR>(line.data()),
                                line.size(), at, 0, match.get(), nullptr)
                  : PCRE2_ERROR_NOMEMORY;
        if (found == PCRE2_ERROR_NOMATCH) {
            return;
        }
        if (found < 0) {  // what cannot be looked at is not shown
            spans.emplace_back(0, line.size());
            return;
        }
        const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
        spans.emplace_back(range[0], range[1]);
        at = std::max<std::size_t>(range[1], at + 1);
    }
}

/// Where the lines of a private key begin, whose first line says so at `at`.
std::size_t begin_of_key(std::string_view text, std::size_t at) {
    const std::size_t dashes = std::min(text.find_first_not_of(" BLOCK-\r", at), text.size());
    return dashes < text.size() && text[dashes] == '\n' ? dashes + 1 : at;
}

/// From the first line of each private key to its last; to the end of the text, or from its
/// beginning, where the other one was cut off.
void find_private_keys(std::string_view text, Spans& spans) {
    constexpr std::string_view name = "PRIVATE KEY";
    std::size_t open = std::string_view::npos;
    bool any = false;
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + name.size())) {
        const std::size_t line = text.rfind('\n', at) + 1;
        const std::string_view before = text.substr(line, at - line);
        if (before.find("-----BEGIN") != std::string_view::npos) {
            open = std::min(open, at);
            any = true;
        } else if (before.find("-----END") != std::string_view::npos) {
            if (open != std::string_view::npos || !any) {
                spans.emplace_back(
                    open == std::string_view::npos ? 0 : begin_of_key(text, open + name.size()),
                    line);
            }
            open = std::string_view::npos;
            any = true;
        }
    }
    if (open != std::string_view::npos) {
        spans.emplace_back(begin_of_key(text, open + name.size()), text.size());
    }
}

void find_by_form(std::string_view text, Spans& spans) {
    find_private_keys(text, spans);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const PlainLine line(text.substr(at, end - at));
        Spans own;
        find_in_urls(line.text(), own);
        find_named(line.text(), own);
        for (const auto& [begin, stop] : own) {
            spans.emplace_back(at + line.original(begin), at + line.original(stop));
        }
        at = end + 1;
    }
}

char lower_ascii(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool is_word_character(char c) {
    return (c >= '0' && c <= '9') || (lower_ascii(c) >= 'a' && lower_ascii(c) <= 'z') || c == '_';
}

/// Where `secret` (lower case) ends that begins at `at`; npos: it is not there. A '%' or backslash
/// may be the secret's own or begin an escape: `escapes_first` says what is tried first.
std::size_t end_of_secret(std::string_view text, std::size_t at, std::string_view secret,
                          bool escapes_first) {
    for (const char wanted : secret) {
        if (at >= text.size()) {
            return std::string_view::npos;
        }
        const Escape escape = escape_at(text.substr(at));
        const bool escaped = escape.length != 0 && lower_ascii(escape.value) == wanted;
        const bool plain = lower_ascii(text[at]) == wanted || (text[at] == '+' && wanted == ' ');
        if (!escaped && !plain) {
            return std::string_view::npos;
        }
        at += escaped && (escapes_first || !plain) ? escape.length : 1;
    }
    return at;
}

void find_known(std::string_view text, std::string_view secret, Spans& spans) {
    const char first = secret.front();
    const std::array<char, 5> begins{
        first, first >= 'a' && first <= 'z' ? static_cast<char>(first - 0x20) : first, '%', '\\',
        first == ' ' ? '+' : first};
    const std::string_view set(begins.data(), begins.size());
    for (std::size_t at = text.find_first_of(set); at != std::string_view::npos;
         at = text.find_first_of(set, at)) {
        std::size_t end = end_of_secret(text, at, secret, true);
        if (end == std::string_view::npos) {
            end = end_of_secret(text, at, secret, false);
        }
        const bool whole_word = end != std::string_view::npos &&
                                (at == 0 || !is_word_character(text[at - 1])) &&
                                (end == text.size() || !is_word_character(text[end]));
        if (end != std::string_view::npos && (whole_word || secret.size() >= shortest_anywhere)) {
            spans.emplace_back(at, end);
            at = end;
        } else {
            ++at;
        }
    }
}

std::string without(std::string_view text, Spans spans) {
    std::sort(spans.begin(), spans.end());
    std::string shown;
    shown.reserve(text.size());
    std::size_t at = 0;
    for (const auto& [begin, end] : spans) {
        if (end <= at || begin == end) {
            continue;
        }
        if (begin >= at) {
            shown += text.substr(at, begin - at);
            shown += hidden_mark;
        }
        at = end;
    }
    return shown += text.substr(at);
}

std::string base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size();) {
        const Escape escape = text[i] == '%' ? escape_at(text.substr(i)) : Escape{};
        plain += escape.length == 0 ? text[i] : escape.value;
        i += std::max<std::size_t>(escape.length, 1);
    }
    return plain;
}

}  // namespace

std::string hide_secrets(std::string_view text) {
    Spans spans;
    find_by_form(text, spans);
    return without(text, std::move(spans));
}

std::string url_to_show(std::string_view value) {
    const std::size_t last = value.rfind('@');
    if (last == std::string_view::npos) {
        return hide_secrets(value);
    }
    const std::size_t scheme = value.substr(0, last).find("//");
    std::string shown(value.substr(0, scheme == std::string_view::npos ? 0 : scheme + 2));
    shown += hidden_mark;
    return hide_secrets(shown += value.substr(last));
}

struct Secrets::Known {
    mutable std::mutex mutex;
    /// in lower case
    std::set<std::string> texts;
};

Secrets::Secrets() : known_(std::make_shared<Known>()) {}

void Secrets::add(std::string_view secret) const {
    if (secret.size() < shortest_secret) {
        return;
    }
    std::string lower(secret);
    std::transform(lower.begin(), lower.end(), lower.begin(), lower_ascii);
    const std::lock_guard lock(known_->mutex);
    known_->texts.insert(std::move(lower));
}

void Secrets::add_login(std::string_view user, std::string_view password) const {
    if (password.empty()) {
        return;
    }
    add(password);
    add(base64(std::string(user).append(":").append(password)));
}

void Secrets::add_url(std::string_view url) const {
    const std::size_t scheme = url.find("//");
    std::string_view rest = scheme == std::string_view::npos ? url : url.substr(scheme + 2);
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view login = rest.substr(0, at);
        const std::size_t colon = std::min(login.find(':'), login.size());
        const std::string user = unescaped(login.substr(0, colon));
        if (colon == login.size()) {
            add(user);  // a token
        } else {
            add_login(user, unescaped(login.substr(colon + 1)));
        }
        rest.remove_prefix(at + 1);
    }
    std::size_t query = rest.find('?');
    while (query < rest.size()) {
        const std::size_t end = std::min(rest.find_first_of("&;#", query + 1), rest.size());
        const std::string_view pair = rest.substr(query + 1, end - query - 1);
        if (const std::size_t equals = pair.find('='); equals != std::string_view::npos) {
            const std::string value = unescaped(pair.substr(equals + 1));
            // "arch=x86_64" is no secret: a short value would be hidden all over.
            if (value.size() >= shortest_anywhere) {
                add(value);
            }
        }
        query = end;
    }
}

std::string Secrets::hide(std::string_view text) const {
    Spans spans;
    find_by_form(text, spans);
    {
        const std::lock_guard lock(known_->mutex);
        for (const std::string& secret : known_->texts) {
            find_known(text, secret, spans);
        }
    }
    return without(text, std::move(spans));
}

}  // namespace edgegpu
