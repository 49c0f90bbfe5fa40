#include "support/secret_forms.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include "support/handles.hpp"
#include "support/text/escape.hpp"

namespace edgegpu {

namespace {

bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// A line with its escapes undone, and where each of its characters begins in the original. An
/// escaped blank becomes '_': in the original it does not end a word.
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

/// User and password, and the query, of all URLs of a line. A word is taken for one URL: if there
/// are several, everything before the last '@' is hidden.
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
        // Of a URL also one without a name: it may be a token as a whole.
        const bool is_url = at > 0 && line[at - 1] == ':';
        if (query != npos && (is_url || word.find('=', query) != npos)) {
            const std::size_t stop = std::min(word.find_first_of("\"'`", query), word.size());
            if (stop > query + 1) {
                spans.emplace_back(begin + query + 1, begin + stop);
            }
        }
        at = end;
    }
}

/// Secrets with a name or a known form, one alternative per line; what follows \K is hidden.
/// Repetitions that could be retried are bounded, so that a hostile line takes no longer.
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
    R"(|\bAKIA\K[A-Z0-9]{12,})";

using Pattern = Handle<pcre2_code, pcre2_code_free>;
using MatchData = Handle<pcre2_match_data, pcre2_match_data_free>;

const Pattern& named_pattern() {
    static const Pattern pattern = [] {
        int code = 0;
        PCRE2_SIZE offset = 0;
        const std::string text = std::string(named_secrets) +
                                 "|\\b(?:" + std::string(token_prefixes) + ")\\K[\\w-]{12,}";
        Pattern compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                       PCRE2_CASELESS | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE, &code,
                                       &offset, nullptr));
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
        if (found < 0) {  // what cannot be checked is hidden
            spans.emplace_back(0, line.size());
            return;
        }
        const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
        spans.emplace_back(range[0], range[1]);
        at = std::max<std::size_t>(range[1], at + 1);
    }
}

/// Where the content of a private key begins, whose "BEGIN" line was found at `at`.
std::size_t begin_of_key(std::string_view text, std::size_t at) {
    const std::size_t dashes = std::min(text.find_first_not_of(" BLOCK-\r", at), text.size());
    return dashes < text.size() && text[dashes] == '\n' ? dashes + 1 : at;
}

/// From the first line of each private key to its last; to the end of the text, or from its
/// beginning, if the other one is missing.
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

}  // namespace

void find_secrets_by_form(std::string_view text, Spans& spans) {
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

}  // namespace edgegpu
