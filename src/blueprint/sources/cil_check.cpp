#include "blueprint/sources/cil_check.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <regex>
#include <vector>

#include <sepol/cil/cil.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The name of the text in libsepol's messages.
constexpr const char* text_name = "module";
/// A message for each level of nesting can follow the first.
constexpr std::size_t most_said = 4096;

struct CloseDatabase {
    void operator()(cil_db_t* database) const noexcept { cil_db_destroy(&database); }
};
using Database = std::unique_ptr<cil_db_t, CloseDatabase>;
using File = Handle<FILE, std::fclose>;

/// libsepol's parser and its message handler are global.
std::mutex libsepol;
std::string* said = nullptr;

void hear(int /*level*/, const char* message) noexcept {
    try {
        if (said != nullptr && said->size() < most_said) {
            said->append(message);
        }
    } catch (...) {
        // Without memory for a message there is none.
        return;
    }
}

/// What libsepol says against the text, a problem per line; empty: nothing.
std::string problems_of(std::string_view text) {
    const std::lock_guard lock(libsepol);
    std::string problems;
    said = &problems;
    cil_set_log_level(CIL_ERR);
    cil_set_log_handler(hear);
    cil_db_t* raw = nullptr;
    cil_db_init(&raw);
    const Database database(raw);
    // As libsemanage sets it: policies of modules declare types more than once.
    cil_set_multiple_decls(database.get(), 1);
    bool good = cil_add_file(database.get(), text_name, text.data(), text.size()) == SEPOL_OK;
    if (good) {
        const File nowhere(std::fopen("/dev/null", "we"));
        if (!nowhere) {
            said = nullptr;
            throw errno_error("/dev/null", errno);
        }
        // Nothing else checks statements without resolving the names in them.
        good = cil_write_build_ast(nowhere.get(), database.get()) == SEPOL_OK;
    }
    said = nullptr;
    return good ? "" : problems.empty() ? "libsepol cannot read it\n" : problems;
}

/// The line of the innermost parenthesis that is still open at the end.
unsigned last_open_line(std::string_view text) {
    std::vector<unsigned> open;
    unsigned line = 1;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == ';' || c == '"') {
            // A string ends in its line, or libsepol would have refused it.
            const std::size_t end = text.find(c == ';' ? '\n' : '"', at + 1);
            at = std::min(end, text.size()) - (c == ';' ? 1 : 0);
        } else if (c == '\n') {
            ++line;
        } else if (c == '(') {
            open.push_back(line);
        } else if (c == ')' && !open.empty()) {
            open.pop_back();
        }
    }
    return open.empty() ? line : open.back();
}

/// Whether only the image's libsepol can tell: it may be newer than this one.
bool is_for_the_image(const std::string& problems) {
    return problems.find("Unknown ") != std::string::npos ||
           problems.find(" is not allowed in booleanif") != std::string::npos;
}

/// The statements of the modules that people write, for "did you mean".
const std::vector<std::string>& common_statements() {
    static const std::vector<std::string> names{"allow",
                                                "allowx",
                                                "auditallow",
                                                "block",
                                                "blockinherit",
                                                "boolean",
                                                "booleanif",
                                                "call",
                                                "class",
                                                "classmap",
                                                "classpermission",
                                                "context",
                                                "dontaudit",
                                                "filecon",
                                                "genfscon",
                                                "macro",
                                                "neverallow",
                                                "optional",
                                                "portcon",
                                                "role",
                                                "roleattribute",
                                                "roleattributeset",
                                                "roletransition",
                                                "roletype",
                                                "type",
                                                "typealias",
                                                "typealiasactual",
                                                "typeattribute",
                                                "typeattributeset",
                                                "typebounds",
                                                "typechange",
                                                "typepermissive",
                                                "typetransition",
                                                "tunable",
                                                "tunableif",
                                                "userrole"};
    return names;
}

/// The line of the first statement with the keyword.
std::size_t line_of_statement(std::string_view text, std::string_view keyword) {
    std::size_t at = text.find(keyword);
    while (at != std::string_view::npos && !trim_end(text.substr(0, at)).ends_with('(')) {
        at = text.find(keyword, at + 1);
    }
    const std::string_view before = text.substr(0, at);
    return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

/// Refuses a keyword that this libsepol does not know if it looks like a mistyped one.
void check_keyword(std::string_view text, const std::string& problems, const std::string& shown) {
    static const std::regex unknown("Unknown keyword (\\S+)");
    std::smatch match;
    if (!std::regex_search(problems, match, unknown)) {
        return;
    }
    const std::string keyword = match[1].str();
    const std::string hint = near_names_hint(keyword, common_statements());
    if (!hint.empty()) {
        throw error(ErrorKind::usage, "{}:{}: CIL has no statement '{}'", shown,
                    line_of_statement(text, keyword), keyword)
            .hinted(hint);
    }
}

/// The error for problems that a version of libsepol cannot explain.
Error refusal_of_text(std::string_view text, const std::string& problems,
                      const std::string& shown) {
    static const std::regex lexical("(.+) at line (\\d+) of module\n");
    static const std::regex statement("(.+) at module:(\\d+)(?: from [^\n]*)?\n");
    if (problems.starts_with("Open parenthesis without")) {
        return error(ErrorKind::usage, "{}:{}: a '(' is never closed", shown, last_open_line(text));
    }
    if (problems.starts_with("Invalid token '\"'")) {
        std::smatch match;
        std::regex_search(problems, match, lexical);
        return error(ErrorKind::usage, "{}:{}: a quote is not closed in its line", shown,
                     match[2].str());
    }
    std::smatch match;
    if (!std::regex_search(problems, match, lexical) &&
        !std::regex_search(problems, match, statement)) {
        return error(ErrorKind::usage, "{}: {}", shown, trim_end(problems));
    }
    std::string what = match[1].str();
    what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
    Error refused = error(ErrorKind::usage, "{}:{}: {}", shown, match[2].str(), what);
    for (const std::string_view line : lines_of(problems)) {
        // What else libsepol says of that place; it ends with what failed altogether.
        if (!line.empty() && !line.starts_with(match[1].str()) && !line.starts_with("Failed to")) {
            refused.traced("libsepol: " + std::string(line));
        }
    }
    return refused;
}

}  // namespace

void check_cil(std::string_view text, const std::string& shown) {
    if (text.find('\0') != std::string_view::npos) {
        throw error(ErrorKind::usage, "{}: not a text file, as CIL is", shown);
    }
    const std::string problems = problems_of(text);
    if (problems.empty()) {
        return;
    }
    if (is_for_the_image(problems)) {
        check_keyword(text, problems, shown);
        return;
    }
    throw refusal_of_text(text, problems, shown);
}

}  // namespace edgegpu
