#include "openpgp/gnupg.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sandbox/tool.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Words of gpg's status lines (doc/DETAILS of GnuPG) that say how a signature is.
const std::map<std::string_view, GnupgAnswer> answers{
    {"GOODSIG", GnupgAnswer::fits},      {"EXPKEYSIG", GnupgAnswer::fits},
    {"EXPSIG", GnupgAnswer::expired},    {"BADSIG", GnupgAnswer::bad},
    {"REVKEYSIG", GnupgAnswer::revoked}, {"ERRSIG", GnupgAnswer::refused},
};

/// The answer in gpg's status lines; nothing unless they are about one signature, and say that its
/// mathematics is right if the answer needs that.
std::optional<GnupgAnswer> read_status(std::string_view status) {
    constexpr std::string_view start = "[GNUPG:] ";
    std::optional<GnupgAnswer> answer;
    bool valid = false;
    for (std::string_view line : lines_of(status)) {
        if (!line.starts_with(start)) {
            continue;
        }
        line.remove_prefix(start.size());
        const std::string_view word = line.substr(0, line.find(' '));
        valid = valid || word == "VALIDSIG";
        if (const auto found = answers.find(word); found != answers.end()) {
            if (answer) {
                return std::nullopt;
            }
            answer = found->second;
        }
    }
    const bool needs_valid = answer != GnupgAnswer::bad && answer != GnupgAnswer::refused;
    return needs_valid && !valid ? std::nullopt : answer;
}

}  // namespace

GnupgAnswer ask_gnupg(const Context& ctx, std::string_view content, std::string_view signature,
                      const std::string& certificates, std::string& detail) {
    ToolCommand command;
    // The home is empty: there is no configuration of trust, key servers and agents.
    command.argv = {"gpg",
                    "--homedir=.",
                    "--batch",
                    "--no-options",
                    "--no-autostart",
                    "--disable-dirmngr",
                    "--no-auto-key-retrieve",
                    "--no-auto-key-import",
                    "--no-auto-check-trustdb",
                    "--trust-model=always",
                    "--allow-non-selfsigned-uid",
                    "--no-random-seed-file",
                    "--no-default-keyring",
                    "--keyring=./keys.gpg",
                    "--status-file=status",
                    "--verify",
                    "--",
                    "signature",
                    "content"};
    command.inputs = {{"content", std::string(content)},
                      {"signature", std::string(signature)},
                      {"keys.gpg", certificates}};
    command.outputs = {"status"};
    const ToolResult result = run_tool(ctx, command);
    const auto status = result.files.find("status");
    const std::optional<GnupgAnswer> answer =
        status == result.files.end() ? std::nullopt : read_status(status->second);
    if (!answer || *answer == GnupgAnswer::refused) {
        detail =
            printable_line(fmt::format("gpg: {}", fmt::join(last_lines(result.output, 3), "; ")));
    }
    return answer.value_or(GnupgAnswer::refused);
}

}  // namespace edgegpu
