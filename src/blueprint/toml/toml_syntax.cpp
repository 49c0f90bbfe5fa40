#include "blueprint/toml/toml_syntax.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "blueprint/toml/toml_statements.hpp"
#include "blueprint/toml/toml_words.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view blanks = " \t\r";

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

class Diagnosis {
public:
    Diagnosis(const std::string& file, std::string_view text, std::size_t at, std::string_view said)
        : file_(file),
          text_(text),
          at_(at),
          said_(said),
          // What sets something twice is refused as a whole, at its beginning.
          statements_(
              toml_statements(text, contains(said, "cannot redefine") ? text.find('\n', at) : at)),
          now_(statements_.back()) {}

    [[nodiscard]] Error run() const {
        if (auto found = encoding()) {
            return *found;
        }
        if (contains(said_, "after '\\r'")) {
            return at(at_, "lines end with CR alone: save the file with line ends of Unix (LF)");
        }
        if (contains(said_, "cannot redefine")) {
            return twice();
        }
        if (now_.string != nowhere) {
            return string();
        }
        if (auto found = character()) {
            return *found;
        }
        if (character_at(now_.begin) == '[') {
            return header();
        }
        if (now_.key_end == nowhere) {
            return no_value();
        }
        if (auto found = brackets()) {
            return *found;
        }
        return value();
    }

private:
    [[nodiscard]] Error at(std::size_t place, const std::string& message) const {
        return error(ErrorKind::usage, "{}: {}", toml_place(file_, text_, place).text(), message);
    }
    [[nodiscard]] Error as_said() const {
        return at(at_, fmt::format("malformed TOML: {}", said_));
    }
    [[nodiscard]] char character_at(std::size_t place) const {
        return place < text_.size() ? text_[place] : '\n';
    }
    [[nodiscard]] unsigned line_of(std::size_t place) const {
        return toml_place(file_, text_, place).line;
    }
    /// From `begin` to the end of its line, without blanks at the ends.
    [[nodiscard]] std::string_view line_from(std::size_t begin) const {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        return trim(text_.substr(begin, end - begin), blanks);
    }
    /// The same without a comment.
    [[nodiscard]] std::string_view content_from(std::size_t begin) const {
        const std::string_view line = line_from(begin);
        return trim(line.substr(0, std::min(line.find(" #"), line.find("\t#"))), blanks);
    }
    [[nodiscard]] std::string key() const {
        return std::string(trim(text_.substr(now_.begin, now_.key_end - now_.begin), blanks));
    }
    /// "KEY = VALUE", or the value alone for an element of an array.
    [[nodiscard]] std::string line_with(std::string_view value) const {
        if (now_.open.empty()) {
            return assignment(key(), value);
        }
        const std::size_t begin = now_.value == nowhere ? at_ : now_.value;
        const std::size_t open = text_.substr(0, begin).find_last_of("{[,\n");
        const std::string_view before = text_.substr(open + 1, begin - open - 1);
        const std::size_t equals = before.find('=');
        return equals == nowhere ? std::string(value)
                                 : assignment(trim(before.substr(0, equals)), value);
    }

    /// Without the value where the key's name says that it is a secret: messages get into logs.
    [[nodiscard]] static std::string assignment(std::string_view name, std::string_view value) {
        const std::string lower = lower_case(name);
        for (const std::string_view word : {"pass", "secret", "token", "credential"}) {
            if (contains(lower, word)) {
                value = "\"…\"";
            }
        }
        return fmt::format("{} = {}", name, value);
    }

    [[nodiscard]] std::optional<Error> encoding() const {
        if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff") ||
            text_.substr(0, 2).find('\0') != std::string_view::npos) {
            return at(0, "the file is not UTF-8 (perhaps UTF-16): save it as UTF-8");
        }
        if (contains(said_, "utf-8")) {
            std::size_t place = 0;
            while (place < text_.size()) {
                const std::size_t size = first_character(text_.substr(place)).size;
                if (size == 0) {
                    return at(place,
                              fmt::format("the byte 0x{:02x} is not UTF-8: save the file as UTF-8",
                                          static_cast<unsigned char>(text_[place])));
                }
                place += size;
            }
        }
        return std::nullopt;
    }

    /// The line of the statement that sets the same key or opens the same table; 0: not found.
    [[nodiscard]] unsigned earlier_line(const std::string& name) const {
        bool same_table = true;
        for (std::size_t i = statements_.size() - 1; i-- > 0;) {
            const TomlStatement& other = statements_[i];
            same_table = same_table && !other.header;
            if (now_.header ? other.header : same_table) {
                if (other.name(text_) == name) {
                    return line_of(other.begin);
                }
            }
        }
        return 0;
    }

    [[nodiscard]] Error twice() const {
        const std::string name = now_.name(text_);
        const unsigned line = earlier_line(name);
        const std::string first = line == 0 ? " above" : fmt::format(" at line {}", line);
        if (!now_.header) {
            return at(now_.begin, fmt::format("\"{}\" is set already{}", name, first));
        }
        if (contains(said_, "existing array")) {
            return at(now_.begin, fmt::format("[[{}]] with two brackets begins{}: each [{}] needs "
                                              "two",
                                              name, first, name));
        }
        if (contains(said_, "as array-of-tables")) {
            return at(now_.begin, fmt::format("[{}] with one bracket begins{}: write [[{}]] there, "
                                              "too, if there are several",
                                              name, first, name));
        }
        return at(now_.begin,
                  fmt::format("[{}] is there already{}: move these lines to it", name, first));
    }

    [[nodiscard]] Error string() const {
        const char quote = text_[now_.string];
        const bool long_string = text_.substr(now_.string, 3) == std::string(3, quote);
        if (contains(said_, "escape sequence")) {
            return at(now_.string,
                      "a backslash in \"…\" begins an escape: write '…' with single "
                      "quotes, or \\\\ for each backslash");
        }
        const char c = character_at(at_);
        if (at_ >= text_.size() || c == '\n' || c == '\r') {
            return at(now_.string, fmt::format("the text that begins here has no closing {}",
                                               std::string(long_string ? 3 : 1, quote)));
        }
        if (contains(said_, "control characters")) {
            return at(at_, fmt::format("a control character in a text: if it belongs there, write "
                                       "\\u{:04x} between \"…\"",
                                       static_cast<unsigned char>(c)));
        }
        return as_said();
    }

    /// Quotes and blanks of word processors, and marks of git.
    [[nodiscard]] std::optional<Error> character() const {
        if (at_ >= text_.size()) {
            return std::nullopt;
        }
        const std::string_view line = line_from(at_);
        for (const std::string_view mark : {"<<<<<<<", "=======", ">>>>>>>"}) {
            if (line.starts_with(mark) && at_ == now_.begin) {
                return at(at_, "a merge of git ended here with a conflict: resolve it");
            }
        }
        const Utf8Character found = first_character(text_.substr(at_));
        if (is_invisible(found.code)) {
            return at(at_, fmt::format("a blank that TOML does not have (U+{:04X}): replace it "
                                       "by a plain one",
                                       static_cast<unsigned>(found.code)));
        }
        if (is_curly_quote(found.code) && now_.key_end != nowhere) {
            return at(at_, fmt::format("these are not the quotes of TOML: {}", quoted_value(at_)));
        }
        return std::nullopt;
    }

    [[nodiscard]] Error header() const {
        std::string name = now_.name(text_);
        name.resize(std::min(name.find('#'), name.size()));
        const std::string_view line = content_from(now_.begin);
        const bool two = line.starts_with("[[");
        const char c = character_at(at_);
        if (name.empty()) {
            return at(now_.begin, "a table needs a name: [NAME]");
        }
        if (contains(said_, "expected ']'") && (c == '\n' || c == '\r' || c == '#')) {
            return at(now_.begin, fmt::format("a bracket is missing: {}{}{}", two ? "[[" : "[",
                                              name, two ? "]]" : "]"));
        }
        return now_.key_end == nowhere
                   ? as_said()
                   : at(at_, "only a # comment may follow a table's name on its line");
    }

    /// A statement without '='.
    [[nodiscard]] Error no_value() const {
        const std::string_view line = content_from(now_.begin);
        const char c = character_at(at_);
        if (line.starts_with("//") || line.starts_with(';') || line.starts_with("/*") ||
            line.starts_with("--")) {
            return line == "---" ? at(now_.begin, "this is YAML; a blueprint must be TOML")
                                 : at(now_.begin, "a comment begins with '#'");
        }
        if (line.starts_with("- ")) {
            return at(now_.begin, "a list is written in brackets: KEY = [\"…\", \"…\"]");
        }
        if (line.starts_with('=')) {
            return at(now_.begin, "a key is missing before '='");
        }
        if (c == ':' && at_ > now_.begin) {
            const std::string_view name = trim(text_.substr(now_.begin, at_ - now_.begin), blanks);
            const std::string_view rest = content_from(at_ + 1);
            return at(at_, fmt::format("'=' is between a key and its value, not ':': {}",
                                       assignment(name, rest.empty() ? "…" : as_value(rest))));
        }
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos && at_ < now_.begin + line.size()) {
            const std::string_view name = trim(line.substr(0, equals), blanks);
            return at(now_.begin, fmt::format("a key of other characters than A-Z a-z 0-9 _ - "
                                              "needs quotes: \"{}\" =",
                                              shortened(without_quotes(name))));
        }
        return at(now_.begin, "not TOML: a line is KEY = VALUE, [TABLE] or # COMMENT");
    }

    /// Mistakes within brackets.
    [[nodiscard]] std::optional<Error> brackets() const {
        if (now_.open.empty()) {
            return std::nullopt;
        }
        const std::size_t open = now_.open.back();
        if (text_[open] == '{') {
            if (character_at(at_) == '\n' || character_at(at_) == '\r') {
                return at(open,
                          "a table in braces must end on its line: use [TABLE] for several "
                          "lines");
            }
            return contains(said_, "dangling comma")
                       ? std::optional(at(at_, "no comma may follow the last key in braces"))
                       : std::nullopt;
        }
        const std::size_t outer = now_.open.front();
        if (contains(said_, "end-of-file") || begins_a_statement(outer)) {
            return at(outer, "the array that begins here has no closing ']'");
        }
        if (contains(said_, "expected comma")) {
            return at(at_, "a comma is missing between elements of the array");
        }
        return std::nullopt;
    }

    /// Whether the line of the error, below the line of `open`, looks like "KEY = …" or "[TABLE]".
    [[nodiscard]] bool begins_a_statement(std::size_t open) const {
        const std::size_t begin = text_.substr(0, at_).rfind('\n') + 1;  // npos + 1 is 0
        const std::string_view line = content_from(begin);
        if (begin <= open) {
            return false;
        }
        const std::size_t end = line.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.[");
        return end != std::string_view::npos && end > 0 &&
               (line.front() == '[' ? line.ends_with(']') && line.find_first_of("\", ") == nowhere
                                    : trim(line.substr(end), blanks).starts_with('='));
    }

    /// `value` as it should be: quoted, unless it is TOML.
    [[nodiscard]] static std::string as_value(std::string_view value) {
        if (const auto boolean = boolean_of(value)) {
            return std::string(*boolean);
        }
        const bool number = !value.empty() && value.size() < 16 &&
                            (value.front() != '0' || value == "0") &&
                            value.find_first_not_of("0123456789") == std::string_view::npos;
        if (number || value.starts_with('[') || value.starts_with('{')) {
            return shortened(value);
        }
        return toml_string(shortened(without_quotes(value)));
    }

    /// The statement with the text that begins at `begin` in quotes.
    [[nodiscard]] std::string quoted_value(std::size_t begin) const {
        std::string_view rest = content_from(begin);
        if (!now_.open.empty()) {
            rest = trim(rest.substr(0, rest.find_first_of(",]}")), blanks);
        }
        return line_with(toml_string(shortened(without_quotes(rest))));
    }

    [[nodiscard]] Error value() const {
        const std::size_t begin = now_.value == nowhere ? at_ : now_.value;
        std::string_view rest = content_from(begin);
        if (!now_.open.empty()) {
            rest = trim(rest.substr(0, rest.find_first_of(",]}")), blanks);
        }
        const char first = character_at(begin);
        if (rest.empty()) {
            return now_.open.empty() ? at(now_.begin, fmt::format("\"{}\" has no value", key()))
                                     : as_said();
        }
        if (first == '=') {
            return at(begin, "one '=' is between a key and its value");
        }
        if ((rest.ends_with(';') || rest.ends_with(',')) && now_.open.empty() &&
            character_at(at_) == rest.back()) {
            return at(at_, fmt::format("no ';' or ',' ends a line of TOML: {}",
                                       line_with(rest.substr(0, rest.size() - 1))));
        }
        if (first == '"' || first == '\'' || first == '[' || first == '{') {
            return after_value(begin, first);
        }
        if (const auto boolean = boolean_of(rest)) {
            return at(begin, fmt::format("a boolean is true or false, not {}: {}", rest,
                                         line_with(*boolean)));
        }
        if (is_null(rest)) {
            return at(begin, fmt::format("TOML has no {}: leave the key out", rest));
        }
        if (contains(said_, "leading zeroes")) {
            return at(begin, fmt::format("a number cannot begin with 0: if it is text (a mode), {}",
                                         quoted_value(begin)));
        }
        if (contains(said_, "date") || contains(said_, "time") ||
            contains(said_, "representable")) {
            return as_said();
        }
        return at(begin, fmt::format("text needs quotes: {}", quoted_value(begin)));
    }

    /// Something that follows a value on its line.
    [[nodiscard]] Error after_value(std::size_t begin, char first) const {
        if (first == '\'' && at_ > begin && text_[at_ - 1] == '\'') {
            return at(begin, "text with ' in it needs double quotes: \"…\"");
        }
        if (first == '"' && at_ > begin && text_[at_ - 1] == '"' &&
            contains(line_from(at_), "\"")) {
            return at(begin, "a \" within \"…\" is written \\\", or '…' is used for the text");
        }
        return at(
            at_, fmt::format("only a # comment may follow the value of \"{}\" on its line", key()));
    }

    const std::string& file_;
    std::string_view text_;
    std::size_t at_;
    std::string_view said_;
    std::vector<TomlStatement> statements_;
    const TomlStatement& now_;
};

/// Whether the text of a file may be in messages: not that of any file of the build machine that a
/// blueprint of somebody else names (`extends`), or is a link to.
bool is_toml_by_name(const std::string& file) {
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(file, failure);
    return (failure ? std::filesystem::path(file) : real).extension() == ".toml";
}

}  // namespace

Error toml_syntax_error(const std::string& file, std::string_view text, std::uint32_t line,
                        std::uint32_t column, std::string_view said) {
    constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8, which the parser does not count
    if (text.starts_with(mark)) {
        text.remove_prefix(mark.size());
    }
    if (!is_toml_by_name(file)) {
        return error_at({file, line, column}, "not TOML")
            .hinted("what is wrong is only shown of files that are called *.toml");
    }
    return Diagnosis(file, text, toml_position(text, line, column), said).run();
}

}  // namespace edgegpu
