#include "blueprint/sources/policy_source.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/cil_check.hpp"
#include "blueprint/sources/policy_package.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t source_limit = 16U << 20U;
constexpr std::string_view blanks = " \t\r\f\v";
constexpr std::array<std::string_view, 7> file_types{"--", "-b", "-c", "-d", "-l", "-p", "-s"};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Words that may precede a parenthesis in the plain policy language: conditions on booleans.
bool is_operator(std::string_view word) {
    constexpr std::array<std::string_view, 8> operators{"if",  "and", "or", "xor",
                                                        "not", "eq",  "ne", "neq"};
    return std::ranges::find(operators, word) != operators.end();
}

/// The first macro in a line without comment, or an empty view.
std::string_view macro_of(std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '`') {
            return line.substr(at, 1);
        }
        if (line[at] == '"') {
            // A quoted string: the file name of a type transition.
            at = std::min(line.find('"', at + 1), line.size() - 1) + 1;
            continue;
        }
        if (!is_word(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && is_word(line[end])) {
            ++end;
        }
        const std::string_view word = line.substr(at, end - at);
        const std::size_t next = line.find_first_not_of(blanks, end);
        const bool called = next != std::string_view::npos && line[next] == '(';
        if ((called && !is_operator(word)) || word.ends_with("_perms") ||
            word.ends_with("_class_set")) {
            return word;
        }
        at = end;
    }
    return {};
}

[[noreturn]] void refuse_line(const std::string& shown, unsigned line, const std::string& what,
                              std::string hint = {}) {
    Error problem = error(ErrorKind::usage, "{}:{}: {}", shown, line, what);
    throw hint.empty() ? problem : problem.hinted(std::move(hint));
}

/// PCRE's error for a pattern, compiled as libselinux does; nothing if it is valid.
std::optional<std::string> pattern_problem(const std::string& pattern) {
    const std::string anchored = "^(?:" + pattern + ")$";
    int code = 0;
    PCRE2_SIZE offset = 0;
    const Handle<pcre2_code, pcre2_code_free> compiled(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(anchored.data()), anchored.size(), PCRE2_DOTALL,
                      &code, &offset, nullptr));
    if (compiled) {
        return std::nullopt;
    }
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(code, message.data(), message.size());
    return std::string(reinterpret_cast<const char*>(message.data()));
}

/// Sets context and level of a line from "u:r:t[:level]", "<<none>>" or "gen_context(…)".
void read_context(std::string_view text, const std::string& shown, FileContextLine& line) {
    static const std::regex generated(
        R"(gen_context\(\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*)?)?\))");
    static const std::regex plain(
        R"(([A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+)(?::(\S+))?)");
    if (text == "<<none>>") {
        line.context = text;
        return;
    }
    const std::string given(text);
    std::string inner = given;
    std::smatch match;
    if (std::regex_match(given, match, generated)) {
        inner = match[1].str();
        line.level = match[2].str();
        if (match[3].matched) {
            line.level += ":" + match[3].str();
        }
    } else if (given.starts_with("gen_context")) {
        refuse_line(shown, line.line, fmt::format("malformed '{}'", given),
                    "gen_context(USER:ROLE:TYPE,s0)");
    }
    if (inner == "<<none>>") {
        line.context = inner;
        return;
    }
    if (!std::regex_match(inner, match, plain) || (!line.level.empty() && match[2].matched)) {
        refuse_line(shown, line.line, fmt::format("'{}' is not a context", inner),
                    "write gen_context(system_u:object_r:TYPE,s0), or <<none>>");
    }
    line.context = match[1].str();
    if (match[2].matched) {
        line.level = match[2].str();
    }
}

bool begins_a_pattern(std::string_view line) {
    return line.starts_with('/') || line.starts_with("HOME_DIR") || line.starts_with("HOME_ROOT");
}

/// Whether a line consists of macros or their quotes: "ifdef(`distro_redhat',`", "')", "`".
bool is_macro_line(std::string_view line) {
    return !macro_of(line).empty() || line.starts_with('\'') || line.starts_with(')');
}

std::string_view next_token(std::string_view& rest) {
    const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest = trim(rest.substr(end), blanks);
    return token;
}

/// Throws unless the first statement is "module NAME …" or a macro, which policy_module(…) is: the
/// compiler would quote the line that it does not understand, whatever the file is.
void require_policy_language(std::string_view source, const std::string& shown) {
    unsigned number = 0;
    for (const std::string_view line : lines_of(source)) {
        ++number;
        std::string_view rest = trim(line.substr(0, line.find('#')), blanks);
        if (rest.empty()) {
            continue;
        }
        if (next_token(rest) != "module" && macro_of(line).empty()) {
            refuse_line(shown, number, "not a policy module",
                        "it begins with policy_module(NAME, 1.0) or module NAME 1.0;");
        }
        return;
    }
    throw error(ErrorKind::usage, "{}: the policy module is empty", shown);
}

FileContextLine read_line(std::string_view text, unsigned number, const std::string& shown) {
    FileContextLine line;
    line.line = number;
    line.pattern = next_token(text);
    if (const auto problem = pattern_problem(line.pattern)) {
        refuse_line(shown, number,
                    fmt::format("'{}' is not a regular expression: {}", line.pattern, *problem));
    }
    if (text.starts_with('-')) {
        line.type = next_token(text);
        if (std::ranges::find(file_types, line.type) == file_types.end()) {
            refuse_line(shown, number, fmt::format("'{}' is not a type of file", line.type),
                        fmt::format("one of {}; without one it means any type",
                                    fmt::join(file_types, ", ")));
        }
    }
    if (text.empty()) {
        refuse_line(shown, number, fmt::format("'{}' has no context", line.pattern),
                    "PATH [TYPE] gen_context(system_u:object_r:TYPE,s0)");
    }
    read_context(text, shown, line);
    return line;
}

}  // namespace

std::optional<PolicyMacro> find_policy_macro(std::string_view source) {
    unsigned number = 0;
    for (const std::string_view line : lines_of(source)) {
        ++number;
        const std::string_view macro = macro_of(line.substr(0, line.find('#')));
        if (!macro.empty()) {
            return PolicyMacro{number, std::string(macro)};
        }
    }
    return std::nullopt;
}

std::optional<PolicyMacro> find_context_macro(std::string_view contexts) {
    unsigned number = 0;
    for (const std::string_view line : lines_of(contexts)) {
        ++number;
        const std::string_view text = trim(line, blanks);
        if (!text.starts_with('#') && !begins_a_pattern(text) && is_macro_line(text)) {
            const std::string_view macro = macro_of(text);
            return PolicyMacro{number, std::string(macro.empty() ? text.substr(0, 1) : macro)};
        }
    }
    return std::nullopt;
}

std::string policy_module_name(const fs::path& file) {
    std::string name = file.filename();
    const auto drop = [&](std::string_view suffix) {
        const bool has = name.ends_with(suffix);
        if (has) {
            name.resize(name.size() - suffix.size());
        }
        return has;
    };
    drop(".bz2");
    static_cast<void>(drop(".pp") || drop(".cil") || drop(".te"));
    return name;
}

fs::path beside_module(const fs::path& module, std::string_view extension) {
    return fs::path(module).replace_extension(extension);
}

std::vector<fs::path> files_of_module(const fs::path& module) {
    std::vector<fs::path> files{module};
    if (module.extension() == ".te") {
        for (const char* extension : {".fc", ".if"}) {
            std::error_code code;
            if (fs::path beside = beside_module(module, extension); fs::exists(beside, code)) {
                files.push_back(std::move(beside));
            }
        }
    }
    return files;
}

std::optional<InterfaceNeed> needs_interfaces(const fs::path& module) {
    if (module.extension() != ".te") {
        return std::nullopt;
    }
    if (auto macro = find_policy_macro(read_file(module, source_limit))) {
        return InterfaceNeed{module, *std::move(macro)};
    }
    const fs::path contexts = beside_module(module, ".fc");
    if (fs::exists(contexts)) {
        if (auto macro = find_context_macro(read_file(contexts, source_limit))) {
            return InterfaceNeed{contexts, *std::move(macro)};
        }
    }
    return std::nullopt;
}

std::optional<InterfaceNeed> needs_interfaces(const std::vector<fs::path>& modules) {
    for (const fs::path& module : modules) {
        if (auto need = needs_interfaces(module)) {
            return need;
        }
    }
    return std::nullopt;
}

std::string FileContextLine::text(bool mls) const {
    const std::string suffix = mls && !level.empty() ? ":" + level : "";
    return fmt::format("{}\t{}\t{}{}", pattern, type, context, suffix);
}

std::vector<FileContextLine> read_file_contexts(std::string_view text, const std::string& shown) {
    std::vector<FileContextLine> lines;
    unsigned number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        const std::string_view content = trim(line, blanks);
        if (content.empty() || content.starts_with('#')) {
            continue;
        }
        if (begins_a_pattern(content)) {
            lines.push_back(read_line(content, number, shown));
        } else if (!is_macro_line(content)) {
            // Not quoted: the file may be something else altogether.
            refuse_line(shown, number, "not a path",
                        "a line of file contexts begins with '/', HOME_DIR or HOME_ROOT");
        }
    }
    return lines;
}

std::string display_path(const fs::path& shown) {
    const fs::path path = path_of_user(shown);
    std::error_code code;
    const fs::path relative = fs::proximate(path, code);
    return code || relative.empty() || *relative.begin() == ".." ? path.string()
                                                                 : relative.string();
}

void check_policy_module(const fs::path& module) {
    if (module.extension() == ".te") {
        require_policy_language(read_file(module, source_limit), display_path(module));
        const fs::path contexts = beside_module(module, ".fc");
        if (fs::exists(contexts)) {
            (void)read_file_contexts(read_file(contexts, source_limit), display_path(contexts));
        }
    } else if (module.extension() == ".cil") {
        check_cil(read_file(module, source_limit), display_path(module));
    } else {
        (void)read_policy_package(read_file(module, package_limit), display_path(module));
    }
}

void check_macro_brackets(std::string_view source, const std::string& shown) {
    // Lines of what is open.
    std::vector<unsigned> quotes;
    std::vector<unsigned> parentheses;
    unsigned number = 0;
    for (const std::string_view whole : lines_of(source)) {
        ++number;
        const std::string_view line = whole.substr(0, whole.find('#'));
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '"') {
                at = std::min(line.find('"', at + 1), line.size());
            } else if (line[at] == '`') {
                quotes.push_back(number);
            } else if (line[at] == '(') {
                parentheses.push_back(number);
            } else if (line[at] == '\'' && !quotes.empty()) {
                quotes.pop_back();
            } else if (line[at] == ')') {
                if (parentheses.empty()) {
                    refuse_line(shown, number, "a ')' without '('");
                }
                parentheses.pop_back();
            }
        }
    }
    if (!quotes.empty()) {
        refuse_line(shown, quotes.back(), "a quote ` that no ' closes");
    }
    if (!parentheses.empty()) {
        refuse_line(shown, parentheses.back(), "a '(' without ')'");
    }
}

fs::path shipped_map_module(const fs::path& blueprint) {
    return find_shipped({}, "selinux", {std::string(map_module), {blueprint.string(), 0, 0}},
                        ".te");
}

}  // namespace edgegpu
