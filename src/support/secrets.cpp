#include "support/secrets.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "support/base64.hpp"
#include "support/secret_forms.hpp"
#include "support/text/escape.hpp"
#include "support/text/percent_encoding.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t shortest_secret = 4;
constexpr std::size_t shortest_anywhere = 8;

char lower_ascii(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool is_word_character(char c) {
    return (c >= '0' && c <= '9') || (lower_ascii(c) >= 'a' && lower_ascii(c) <= 'z') || c == '_';
}

/// The end of `secret` (lower case) if it begins at `at`; npos if it does not. A '%' or backslash
/// may belong to the secret or begin an escape: `escapes_first` says what is tried first.
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
    std::ranges::sort(spans);
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

}  // namespace

std::string hide_secrets(std::string_view text) {
    Spans spans;
    find_secrets_by_form(text, spans);
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
    std::ranges::transform(lower, lower.begin(), lower_ascii);
    const std::lock_guard lock(known_->mutex);
    known_->texts.insert(std::move(lower));
}

void Secrets::add_login(std::string_view user, std::string_view password) const {
    if (password.empty()) {
        return;
    }
    add(password);
    add(to_base64(std::string(user).append(":").append(password)));
}

void Secrets::add_url(std::string_view url) const {
    const std::size_t scheme = url.find("//");
    std::string_view rest = scheme == std::string_view::npos ? url : url.substr(scheme + 2);
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view login = rest.substr(0, at);
        const std::size_t colon = std::min(login.find(':'), login.size());
        const std::string user = percent_decoded(login.substr(0, colon));
        if (colon == login.size()) {
            add(user);  // a token
        } else {
            add_login(user, percent_decoded(login.substr(colon + 1)));
        }
        rest.remove_prefix(at + 1);
    }
    std::size_t query = rest.find('?');
    while (query < rest.size()) {
        const std::size_t end = std::min(rest.find_first_of("&;#", query + 1), rest.size());
        const std::string_view pair = rest.substr(query + 1, end - query - 1);
        const std::size_t equals = pair.find('=');
        const std::string value =
            percent_decoded(equals == std::string_view::npos ? pair : pair.substr(equals + 1));
        // "arch=x86_64" is no secret: a short value would be hidden all over.
        if (value.size() >= shortest_anywhere) {
            add(value);
        }
        query = end;
    }
}

std::string Secrets::hide(std::string_view text) const {
    Spans spans;
    find_secrets_by_form(text, spans);
    {
        const std::lock_guard lock(known_->mutex);
        for (const std::string& secret : known_->texts) {
            find_known(text, secret, spans);
        }
    }
    return without(text, std::move(spans));
}

}  // namespace edgegpu
