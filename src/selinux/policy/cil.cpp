#include "selinux/policy/cil.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu::selinux {

namespace {

/// Depth of blocks: a large module nests hundreds of optional blocks.
constexpr std::size_t block_depth_limit = 10'000;
/// Depth of lists in one statement.
constexpr unsigned list_depth_limit = 64;

template <std::size_t Size>
bool is_one_of(std::string_view word, const std::string_view (&words)[Size]) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_block(std::string_view keyword) {
    constexpr std::string_view keywords[] = {"optional",  "block", "in",   "booleanif",
                                             "tunableif", "true",  "false"};
    return is_one_of(keyword, keywords);
}

/// Whether it is one of the statements for which read_cil calls `visit`.
bool is_visited(std::string_view keyword) {
    constexpr std::string_view keywords[] = {
        "allow", "type", "typeattribute", "typeattributeset", "typealiasactual", "boolean"};
    return is_one_of(keyword, keywords);
}

class Reader {
public:
    Reader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

    /// An Error at the current line.
    [[nodiscard]] Error failure(std::string_view why) const {
        const auto line = 1 + std::count(text_.begin(), text_.begin() + at_, '\n');
        return error("{}:{}: {}", where_, line, why);
    }
    /// The character that begins the next token, or 0 at the end.
    char peek() {
        while (at_ < end()) {
            const char c = here();
            if (c == ';') {
                while (at_ < end() && here() != '\n') {
                    ++at_;
                }
            } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
                ++at_;
            } else {
                return c;
            }
        }
        return 0;
    }
    void take() { ++at_; }
    /// Takes the next token, which is not a parenthesis: a symbol, or a string without its quotes.
    std::string_view atom() {
        const auto first = static_cast<std::size_t>(at_);
        if (here() == '"') {
            const std::size_t close = text_.find('"', first + 1);
            if (close == std::string_view::npos) {
                throw failure("a string does not end");
            }
            at_ = static_cast<std::ptrdiff_t>(close + 1);
            return text_.substr(first + 1, close - first - 1);
        }
        const std::size_t last = std::min(text_.find_first_of(" \t\r\n();\"", first), text_.size());
        at_ = static_cast<std::ptrdiff_t>(last);
        return text_.substr(first, last - first);
    }
    /// Takes a symbol or a list.
    CilNode node(unsigned depth = 0) {
        CilNode result;
        const char first = peek();
        if (first == 0) {
            throw failure("a list does not end");
        }
        if (first == ')') {
            throw failure("an expression is missing");
        }
        if (first != '(') {
            result.atom = atom();
            return result;
        }
        take();
        if (depth > list_depth_limit) {
            throw failure("lists are nested too deeply");
        }
        while (more()) {
            result.items.push_back(node(depth + 1));
        }
        return result;
    }
    /// Whether the list has more items; if not, takes its closing parenthesis.
    bool more() {
        const char c = peek();
        if (c == 0) {
            throw failure("a list does not end");
        }
        if (c == ')') {
            take();
        }
        return c != ')';
    }
    /// Takes everything to the end of the open list.
    void skip_list() {
        for (std::size_t open = 1; open > 0;) {
            const char c = peek();
            if (c == 0) {
                throw failure("a list does not end");
            }
            if (c == '(' || c == ')') {
                open = c == '(' ? open + 1 : open - 1;
                take();
            } else {
                atom();
            }
        }
    }

private:
    [[nodiscard]] std::ptrdiff_t end() const { return std::ssize(text_); }
    [[nodiscard]] char here() const { return text_[static_cast<std::size_t>(at_)]; }

    std::string_view text_;
    std::string_view where_;
    std::ptrdiff_t at_ = 0;
};

/// An open block.
struct Frame {
    /// the condition of a booleanif or tunableif
    CilNode expression;
    /// it is a `true` or `false` block, at whose end its condition is removed
    bool is_branch = false;
};

/// Takes everything between the keyword of a block and its statements.
Frame open_block(Reader& reader, std::string_view keyword, const std::vector<Frame>& frames,
                 std::vector<CilCondition>& conditions) {
    Frame frame;
    if (keyword == "true" || keyword == "false") {
        if (frames.empty() || frames.back().expression.items.empty()) {
            throw reader.failure("branch outside of a condition");
        }
        conditions.push_back({frames.back().expression, keyword == "true"});
        frame.is_branch = true;
    } else if (keyword == "booleanif" || keyword == "tunableif") {
        // As a list, so that it is not empty even for a single symbol.
        frame.expression.items.push_back(reader.node());
    } else {
        while (reader.peek() != '(' && reader.peek() != ')' && reader.peek() != 0) {
            reader.atom();
        }
    }
    return frame;
}

std::vector<CilNode> operands(const CilNode& expression) {
    return {expression.items.begin() + 1, expression.items.end()};
}

/// The operator of an expression "(and a b)"; empty for a name or a list of names.
std::string_view operator_of(const CilNode& node) {
    constexpr std::string_view operators[] = {"and", "or", "xor", "not", "eq", "neq", "all"};
    return !node.items.empty() && is_one_of(node.items.front().atom, operators)
               ? std::string_view(node.items.front().atom)
               : std::string_view();
}

/// Applies an operator to the values of its operands.
template <typename Value>
bool apply(std::string_view op, const std::vector<CilNode>& items, const Value& value) {
    if (op == "and") {
        return std::ranges::all_of(items, value);
    }
    if (op == "not") {
        return std::ranges::none_of(items, value);
    }
    if (op == "xor" || op == "neq" || op == "eq") {
        const bool odd = std::ranges::count_if(items, value) % 2 != 0;
        return odd == (op != "eq");
    }
    return op == "all" || std::ranges::any_of(items, value);
}

std::string text_of(const CilNode& expression, bool nested) {
    const std::string_view op = operator_of(expression);
    if (op.empty()) {
        return expression.items.empty() ? expression.atom
                                        : text_of(expression.items.front(), nested);
    }
    const std::vector<CilNode> items = operands(expression);
    if (op == "not") {
        return items.empty() ? std::string() : "!" + text_of(items.front(), true);
    }
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"and", "&&"}, {"or", "||"}, {"xor", "^"}, {"eq", "=="}, {"neq", "!="}};
    const auto word = std::find_if(std::begin(words), std::end(words),
                                   [&](const auto& known) { return known.first == op; });
    std::string text;
    for (const CilNode& item : items) {
        text +=
            text.empty() ? "" : fmt::format(" {} ", word == std::end(words) ? op : word->second);
        text += text_of(item, true);
    }
    return nested ? fmt::format("({})", text) : text;
}

}  // namespace

void read_cil(std::string_view text, std::string_view where,
              const std::function<void(const CilNode&, const std::vector<CilCondition>&)>& visit) {
    Reader reader(text, where);
    std::vector<Frame> frames;
    std::vector<CilCondition> conditions;
    while (const char c = reader.peek()) {
        if (c == ')') {
            if (frames.empty()) {
                throw reader.failure("unmatched closing parenthesis");
            }
            reader.take();
            if (frames.back().is_branch) {
                conditions.pop_back();
            }
            frames.pop_back();
            continue;
        }
        if (c != '(') {
            throw reader.failure("a statement does not begin with a parenthesis");
        }
        reader.take();
        const char first = reader.peek();
        const std::string_view keyword =
            first == '(' || first == ')' || first == 0 ? std::string_view() : reader.atom();
        if (is_block(keyword)) {
            if (frames.size() == block_depth_limit) {
                throw reader.failure("blocks are nested too deeply");
            }
            frames.push_back(open_block(reader, keyword, frames, conditions));
        } else if (is_visited(keyword)) {
            CilNode statement;
            statement.items.push_back({std::string(keyword), {}});
            while (reader.more()) {
                statement.items.push_back(reader.node());
            }
            visit(statement, conditions);
        } else {
            reader.skip_list();
        }
    }
    if (!frames.empty()) {
        throw reader.failure("a block does not end");
    }
}

bool evaluate(const CilNode& expression, const std::set<std::string>& on) {
    const std::string_view op = operator_of(expression);
    if (op.empty()) {
        return expression.items.empty() ? on.contains(expression.atom)
                                        : evaluate(expression.items.front(), on);
    }
    return apply(op, operands(expression),
                 [&](const CilNode& operand) { return evaluate(operand, on); });
}

std::string conditions_text(const std::vector<CilCondition>& conditions) {
    std::string text;
    for (const CilCondition& condition : conditions) {
        const bool alone = conditions.size() == 1 && condition.when;
        text += text.empty() ? "" : " && ";
        text += condition.when ? "" : "!";
        text += text_of(condition.expression, !alone);
    }
    return text;
}

bool contains_any(const CilNode& set, const std::set<std::string>& names) {
    const auto contains = [&](const CilNode& item) { return contains_any(item, names); };
    const std::string_view op = operator_of(set);
    if (!op.empty()) {
        return apply(op, operands(set), contains);
    }
    return set.items.empty() ? names.contains(set.atom) : std::ranges::any_of(set.items, contains);
}

}  // namespace edgegpu::selinux
