#include "openpgp/gnupg.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sandbox/tool.hpp"
#include "support/error.hpp"
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

constexpr std::string_view status_start = "[GNUPG:] ";

/// The answer in gpg's status lines; nothing unless they are about one signature, and say that its
/// mathematics is right if the answer needs that.
std::optional<GnupgAnswer> read_status(std::string_view status) {
    std::optional<GnupgAnswer> answer;
    bool valid = false;
    for (std::string_view line : lines_of(status)) {
        if (!line.starts_with(status_start)) {
            continue;
        }
        line.remove_prefix(status_start.size());
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
    const std::string said =
        printable_line(fmt::format("gpg: {}", fmt::join(last_lines(result.output, 3), "; ")));
    // It says something of whatever it reads: else it has not run, and the signature may be good.
    if (status == result.files.end() || status->second.find(status_start) == std::string::npos) {
        throw error("no signature can be verified here: {}", said)
            .hinted("gpg has to run: `gpg --version` shows whether it does");
    }
    const std::optional<GnupgAnswer> answer = read_status(status->second);
    if (!answer || *answer == GnupgAnswer::refused) {
        detail = said;
    }
    return answer.value_or(GnupgAnswer::refused);
}

}  // namespace edgegpu
