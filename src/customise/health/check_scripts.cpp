#include "customise/health/check_scripts.hpp"

#include <regex>

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Nothing sensible is longer; std::regex needs stack for each character.
constexpr std::size_t longest_line = 1000;

const std::regex& program_call() {
    static const std::regex pattern(R"((^|[\s;&|($`])(/usr/bin/)?nvidia-smi\b)");
    return pattern;
}

/// What writes a file whose name is plain: a redirection, or a program that makes the last of its
/// arguments.
const std::regex& writing() {
    static const std::regex pattern(
        R"re((>>?\|?\s*|\b(?:tee|touch|mkdir|mktemp|install|cp|mv)\b[^;&|]*\s)["']?(/(?:etc|var)/[^\s"';&|)]+)["']?(?=\s*(?:$|[;&|)]|\d?[<>])))re");
    return pattern;
}

/// The line without a comment; '#' in quotes is rare enough in checks.
std::string_view without_comment(std::string_view line) {
    line = trim(line);
    if (line.starts_with('#')) {
        return {};
    }
    const std::size_t comment = line.find(" #");
    return line.substr(0, comment);
}

}  // namespace

bool is_health_check(std::string_view path) {
    return path.ends_with(".sh") &&
           (is_below(path, "/usr/lib/greenboot/check") || is_below(path, "/etc/greenboot/check"));
}

std::vector<ScriptDoubt> doubts_of_check(std::string_view script, GreenbootKind kind) {
    std::vector<ScriptDoubt> doubts;
    std::size_t number = 0;
    for (const std::string_view raw : lines_of(script)) {
        ++number;
        const std::string line(without_comment(raw.substr(0, longest_line)));
        if (line.find("nvidia-smi") != std::string::npos &&
            line.find("timeout") == std::string::npos && std::regex_search(line, program_call())) {
            doubts.push_back({number,
                              "nvidia-smi can hang for ever in the driver, and greenboot "
                              "waits for it: begin the call with \"timeout -k 5 30\""});
        }
        std::smatch found;
        const bool names_state =
            line.find("/etc/") != std::string::npos || line.find("/var/") != std::string::npos;
        if (names_state && std::regex_search(line, found, writing())) {
            const bool replaces = trim(found[1].str()) == ">";
            doubts.push_back(
                {number,
                 fmt::format("{} is of the old and the new version alike: what is written there "
                             "stays after going back{}; write below /run",
                             found[2].str(),
                             replaces && kind == GreenbootKind::rust
                                 ? ", and greenboot 0.16 runs checks with bash -C, where \">\" "
                                   "fails for a file that exists"
                                 : "")});
        }
    }
    return doubts;
}

}  // namespace edgegpu
