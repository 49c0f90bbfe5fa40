#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A pattern of absolute paths, as for fnmatch(3) with FNM_PATHNAME: '*', '?' and "[a-z]" stop at
/// '/', a backslash makes the next character literal. "**" does not stop at '/'.
class PathGlob {
public:
    /// Throws Error saying what is wrong with an invalid pattern.
    explicit PathGlob(std::string_view pattern);

    [[nodiscard]] bool matches(std::string_view path) const;
    /// The same as a regular expression of file_contexts(5) (PCRE, anchored by its readers).
    [[nodiscard]] std::string regex() const;

private:
    enum class Kind { literal, any, set, star, stars };
    struct Token {
        Kind kind = Kind::literal;
        char literal = 0;
        std::bitset<256> set;
    };
    std::size_t read_set(std::string_view pattern, std::size_t at);
    static bool fits(const Token& token, char c);
    std::vector<Token> tokens_;
};

}  // namespace edgegpu
