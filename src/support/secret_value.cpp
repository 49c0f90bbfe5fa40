#include "support/secret_value.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using Words = std::set<std::string, std::less<>>;

/// "input.password", "DB_PASSWORD": what a program calls it.
bool is_variable(std::string_view value, std::string_view lower) {
    const bool name = std::ranges::all_of(value, [](unsigned char c) {
        return std::isalpha(c) != 0 || c == '_' || c == '.' || c == '-';
    });
    const bool joined = value.find_first_of("_.") != std::string_view::npos;
    const bool constant =
        std::ranges::none_of(value, [](unsigned char c) { return std::islower(c) != 0; });
    const auto has = [&](std::string_view part) {
        return lower.find(part) != std::string_view::npos;
    };
    return name && joined &&
           (constant || has("passw") || has("secret") || has("token") || has("key"));
}

/// "~/x", "*.pem", "*x*", "#{x}", "&quot;x&quot;"
bool is_pattern_or_reference(std::string_view value) {
    return value.starts_with("~/") || value.starts_with("*.") || value.starts_with("#{") ||
           (value.starts_with('*') && value.ends_with('*')) ||
           (value.starts_with('&') && value.find(';') != std::string_view::npos);
}

bool any_of_characters(std::string_view text, int (*is)(int)) {
    return std::ranges::any_of(text, [&](unsigned char c) { return is(c) != 0; });
}

/// Whether several words are a passphrase and not a description or a message: one of them has
/// digits or signs among its letters, or they are plain words that make no sentence.
bool is_passphrase(std::string_view value) {
    // Of descriptions of a password.
    static const Words about{
        "at",       "change",     "characters", "confirm",   "default",   "enter",  "file",
        "for",      "forgot",     "if",         "incorrect", "invalid",   "key",    "least",
        "login",    "minimum",    "must",       "new",       "no",        "not",    "of",
        "optional", "passphrase", "passwd",     "password",  "passwords", "please", "required",
        "secret",   "secrets",    "set",        "should",    "string",    "the",    "to",
        "token",    "type",       "used",       "user",      "username",  "value",  "your"};
    // Of sentences.
    static const Words joining{"a",   "an",   "and",  "are",  "as",   "be",   "but",  "by",   "can",
                               "did", "do",   "from", "has",  "have", "how",  "in",   "into", "is",
                               "it",  "on",   "or",   "read", "so",   "that", "then", "this", "was",
                               "we",  "what", "when", "will", "with", "you"};
    if (std::string_view(".:?,;").find(value.back()) != std::string_view::npos) {
        return false;
    }
    const std::vector<std::string_view> words = words_of(value);
    bool mixed = false;
    bool plain = words.size() >= 3;
    for (const std::string_view word : words) {
        const std::string lower = lower_case(trim(word, ".,:;!?'()"));
        if (about.contains(lower)) {
            return false;
        }
        const bool signs = any_of_characters(lower, std::isdigit) ||
                           lower.find_first_of("@#$^*+~!&") != std::string::npos;
        mixed = mixed || (signs && any_of_characters(lower, std::isalpha));
        plain = plain && !joining.contains(lower) &&
                std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    }
    return mixed || plain;
}

}  // namespace

bool is_secret_value(std::string_view value) {
    constexpr std::size_t shortest = 4;
    if (value.size() < shortest ||
        std::string_view("$%@<{[(|>/\\.=?`-").find(value.front()) != std::string_view::npos) {
        return false;
    }
    for (const std::string_view part :
         {"${", "$(", "{{", "...", "…", "(", "<", "\\n", "***", "EXAMPLE", "example", "xxxx",
          "XXXX", "://", "%20", "/secrets/"}) {
        if (value.find(part) != std::string_view::npos) {
            return false;
        }
    }
    const std::string lower = lower_case(value);
    for (const std::string_view suffix : {".pem", ".key", ".crt", ".p12", ".der", ".pub"}) {
        if (lower.ends_with(suffix)) {
            return false;  // a file that has it
        }
    }
    if (is_variable(value, lower) || is_pattern_or_reference(value)) {
        return false;
    }
    if (value.find(' ') != std::string_view::npos) {
        return is_passphrase(value);
    }
    for (const std::string_view scheme :
         {"file:", "env:", "vault:", "secret:", "ref:", "keyring:", "pkcs11:", "tpm2",
          "sha256:", "md5", "grub.pbkdf2", "your", "my-", "my_", "replace", "insert", "enter"}) {
        if (lower.starts_with(scheme)) {
            return false;
        }
    }
    static const Words words{
        "admin",    "always",    "auto",      "automatic",  "base64",   "blank",    "bool",
        "boolean",  "change-me", "change_me", "changeme",   "changeit", "default",  "disable",
        "disabled", "dummy",     "empty",     "enable",     "enabled",  "external", "false",
        "files",    "hidden",    "ignore",    "integer",    "never",    "none",     "null",
        "object",   "optional",  "pass",      "passphrase", "passwd",   "password", "placeholder",
        "plain",    "plaintext", "private",   "prompt",     "redacted", "required", "secret",
        "secrets",  "some",      "stdin",     "str",        "string",   "test",     "text",
        "todo",     "token",     "true",      "undefined",  "unset",    "user",     "username",
        "value"};
    if (words.contains(trim_end(lower, "="))) {
        return false;
    }
    // A number of a few digits: a limit, a version, a port.
    const bool number =
        std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) != 0; });
    const bool same = std::ranges::all_of(value, [&](char c) { return c == value.front(); });
    return !same && !(number && value.size() < 6);
}

}  // namespace edgegpu
