#include "blueprint/customizations/password_hash.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace edgegpu {

namespace {

/// "$ID$…$SALT$HASH" of crypt(5).
struct Method {
    std::string_view prefix;
    std::string_view name;
    std::size_t longest_salt;
    std::size_t hash_length;
    bool rounds;
};

constexpr std::array<Method, 3> salted{{
    {"$1$", "an MD5", 8, 22, false},
    {"$5$", "a SHA-256", 16, 43, true},
    {"$6$", "a SHA-512", 16, 86, true},
}};

/// Those that crypt(5) has and calls weak: what a device's libxcrypt takes depends on how it was
/// built.
struct Obsolete {
    std::string_view prefix;
    std::string_view name;
};
constexpr std::array<Obsolete, 5> obsolete{{{"$sha1", "an SHA-1 (PBKDF1)"},
                                            {"$md5", "a SunMD5"},
                                            {"$3$", "an NT (MD4)"},
                                            {"$2x$", "a bcrypt \"$2x$\""},
                                            {"_", "a BSDi DES"}}};

/// Traditional DES: two characters of salt, eleven of hash. It may also be a password.
constexpr std::size_t des_length = 13;
/// BSDi's: "_", four characters for the rounds, four of salt, eleven of hash.
constexpr std::size_t bsdi_length = 20;

bool is_hash_text(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '.' || c == '/';
    });
}

bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string judge_salted(const Method& method, std::string_view rest) {
    constexpr std::string_view rounds = "rounds=";
    if (method.rounds && rest.starts_with(rounds)) {
        const std::size_t end = std::min(rest.find('$'), rest.size());
        if (!is_number(rest.substr(rounds.size(), end - rounds.size()))) {
            return fmt::format("{} hash whose \"rounds=\" is not a number", method.name);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::size_t dollar = rest.find('$');
    if (dollar == std::string_view::npos) {
        return fmt::format("{} hash that is truncated", method.name);
    }
    if (rest.substr(0, dollar).find_first_of(": *!\\") != std::string_view::npos) {
        return fmt::format("{} hash with an invalid salt", method.name);
    }
    if (dollar > method.longest_salt) {
        return fmt::format("{} hash whose salt is longer than {} characters", method.name,
                           method.longest_salt);
    }
    const std::string_view hash = rest.substr(dollar + 1);
    if (hash.size() != method.hash_length) {
        return fmt::format("{} hash that is {}: {} characters after the salt instead of {}",
                           method.name, hash.size() < method.hash_length ? "cut off" : "too long",
                           hash.size(), method.hash_length);
    }
    return is_hash_text(hash) ? std::string()
                              : fmt::format("{} hash with invalid characters", method.name);
}

/// "$2b$10$", 22 characters of salt, 31 of hash.
std::string judge_bcrypt(std::string_view rest) {
    constexpr std::size_t length = 53;
    if (rest.size() < 3 || !is_number(rest.substr(0, 2)) || rest[2] != '$') {
        return "a bcrypt hash without its cost";
    }
    rest.remove_prefix(3);
    return rest.size() == length && is_hash_text(rest)
               ? std::string()
               : std::string("a bcrypt hash that is corrupt or truncated");
}

/// "$y$PARAMETERS$SALT$HASH", with 43 characters of hash (crypt(5)).
std::string judge_yescrypt(std::string_view rest) {
    constexpr std::size_t length = 43;
    const std::size_t first = rest.find('$');
    const std::size_t second = first == std::string_view::npos ? first : rest.find('$', first + 1);
    const bool whole = second != std::string_view::npos && first > 0 &&
                       rest.size() - second - 1 == length && is_hash_text(rest.substr(0, first)) &&
                       is_hash_text(rest.substr(first + 1, second - first - 1)) &&
                       is_hash_text(rest.substr(second + 1));
    return whole ? std::string() : std::string("a yescrypt hash that is corrupt or truncated");
}

/// "$7$", 11 characters of parameters, salt, '$', hash.
std::string judge_scrypt(std::string_view rest) {
    constexpr std::size_t length = 43;
    const std::size_t dollar = rest.find('$');
    const bool whole = dollar != std::string_view::npos && dollar >= 11 &&
                       rest.size() - dollar - 1 == length && is_hash_text(rest.substr(dollar + 1));
    return whole ? std::string() : std::string("an scrypt hash that is corrupt or truncated");
}

/// Of a text that is no hash of an accepted kind.
std::string judge_other(std::string_view text) {
    for (const Obsolete& kind : obsolete) {
        const bool named = text.starts_with(kind.prefix);
        if (named &&
            (kind.prefix != "_" || (text.size() == bsdi_length && is_hash_text(text.substr(1))))) {
            return fmt::format("{} hash, a kind that is obsolete and not accepted", kind.name);
        }
    }
    if (text.size() == des_length && is_hash_text(text)) {
        return "plain text, or a DES hash, a kind that is obsolete and not accepted";
    }
    return text.starts_with('$') ? "a hash of an unknown kind" : "plain text";
}

}  // namespace

std::string password_hash_fault(std::string_view text) {
    if (text == "*" || text == "!" || text == "!!" || text == "!*") {
        return {};
    }
    if (text.starts_with('!')) {
        text.remove_prefix(text.starts_with("!!") ? 2 : 1);
    }
    for (const Method& method : salted) {
        if (text.starts_with(method.prefix)) {
            return judge_salted(method, text.substr(method.prefix.size()));
        }
    }
    for (const std::string_view bcrypt : {"$2a$", "$2b$", "$2y$"}) {
        if (text.starts_with(bcrypt)) {
            return judge_bcrypt(text.substr(bcrypt.size()));
        }
    }
    if (text.starts_with("$y$")) {
        return judge_yescrypt(text.substr(3));
    }
    if (text.starts_with("$gy$")) {
        return judge_yescrypt(text.substr(4));
    }
    if (text.starts_with("$7$")) {
        return judge_scrypt(text.substr(3));
    }
    if (text.empty()) {
        return "empty, which allows login without a password";
    }
    return judge_other(text);
}

}  // namespace edgegpu
