#include "support/path_glob.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

std::string quoted(char c) {
    static constexpr std::string_view special = "\\^$.[]|()?*+{}-";
    if (c == ' ') {
        return "\\s";  // file_contexts(5) separates its fields by white space
    }
    return special.find(c) != std::string_view::npos ? fmt::format("\\{}", c) : std::string(1, c);
}

}  // namespace

PathGlob::PathGlob(std::string_view pattern) {
    for (std::size_t at = 0; at < pattern.size();) {
        const char c = pattern[at];
        Token token;
        token.literal = c;
        if (c == '[') {
            at = read_set(pattern, at);
            continue;
        }
        if (c == '*') {
            const bool twice = pattern.substr(at).starts_with("**");
            token.kind = twice ? Kind::stars : Kind::star;
            at += twice ? 1 : 0;
        } else if (c == '?') {
            token.kind = Kind::any;
        } else if (c == '\\') {
            if (++at == pattern.size()) {
                throw error("'{}' ends in a backslash", pattern);
            }
            token.literal = pattern[at];
        }
        tokens_.push_back(token);
        ++at;
    }
}

/// Reads "[...]" that begins at `at`; returns what follows it.
std::size_t PathGlob::read_set(std::string_view pattern, std::size_t at) {
    Token token;
    token.kind = Kind::set;
    std::size_t i = at + 1;
    const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    i += negated ? 1 : 0;
    const std::size_t first = i;
    const auto byte = [&](std::size_t where) { return static_cast<unsigned char>(pattern[where]); };
    for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
        const bool range = i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']';
        const unsigned last = byte(range ? i + 2 : i);
        if (byte(i) < 0x20 || last < byte(i) || pattern[i] == '[' || pattern[i] == '\\') {
            throw error("'{}' has a set of characters that cannot be read", pattern);
        }
        for (unsigned c = byte(i); c <= last; ++c) {
            token.set.set(c);
        }
        i += range ? 2 : 0;
    }
    if (i >= pattern.size()) {
        throw error("'{}' has a '[' without its ']'", pattern);
    }
    if (negated) {
        token.set.flip();
    }
    token.set.reset('/');
    tokens_.push_back(token);
    return i + 1;
}

bool PathGlob::fits(const Token& token, char c) {
    switch (token.kind) {
        case Kind::literal:
            return c == token.literal;
        case Kind::set:
            return token.set.test(static_cast<unsigned char>(c));
        case Kind::any:
        case Kind::star:
            return c != '/';
        case Kind::stars:
            return true;
    }
    return false;
}

bool PathGlob::matches(std::string_view path) const {
    // reached[i]: the first i tokens fit what was read of the path
    std::vector<bool> reached(tokens_.size() + 1, false);
    const auto is_star = [&](std::size_t i) {
        return tokens_[i].kind == Kind::star || tokens_[i].kind == Kind::stars;
    };
    const auto pass_stars = [&] {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (reached[i] && is_star(i)) {
                reached[i + 1] = true;
            }
        }
    };
    reached[0] = true;
    pass_stars();
    for (const char c : path) {
        std::vector<bool> next(tokens_.size() + 1, false);
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (reached[i] && fits(tokens_[i], c)) {
                next[is_star(i) ? i : i + 1] = true;
            }
        }
        reached = std::move(next);
        pass_stars();
    }
    return reached.back();
}

std::string PathGlob::regex() const {
    std::string text;
    for (const Token& token : tokens_) {
        switch (token.kind) {
            case Kind::literal:
                text += quoted(token.literal);
                break;
            case Kind::any:
                text += "[^/]";
                break;
            case Kind::star:
                text += "[^/]*";
                break;
            case Kind::stars:
                text += ".*";
                break;
            case Kind::set: {
                // Listed by exclusion where that is shorter, so that "[!a]" takes any byte.
                const bool most = token.set.count() > 128;
                text += most ? "[^" : "[";
                for (unsigned c = 1; c < 256; ++c) {
                    if (token.set.test(c) != most) {
                        text += quoted(static_cast<char>(c));
                    }
                }
                text += ']';
                break;
            }
        }
    }
    return text;
}

}  // namespace edgegpu
