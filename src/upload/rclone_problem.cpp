#include "upload/rclone_problem.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"
#include "upload/remote_name.hpp"

namespace edgegpu {

namespace {

using Kind = RcloneProblem::Kind;

/// "2026/11/28 10:19:33 " at the beginning of what rclone logs as text.
constexpr std::string_view date_form = "dddd/dd/dd dd:dd:dd ";

std::string_view without_date(std::string_view line) {
    const bool dated =
        line.size() > date_form.size() &&
        std::ranges::equal(line.substr(0, date_form.size()), date_form, [](char c, char form) {
            return form == 'd' ? c >= '0' && c <= '9' : c == form;
        });
    return dated ? line.substr(date_form.size()) : line;
}

/// On one line, without what a server adds for its own support.
std::string one_line(std::string_view text) {
    text = text.substr(0, text.find("request id"));
    std::string line;
    for (const std::string_view word : words_of(text)) {
        line += line.empty() ? "" : " ";
        line += word;
    }
    return std::string(trim_end(line, " ,;"));
}

/// Of an error in JSON: "objects/ab/c.filez: NoSuchBucket: …"; empty if the line is none.
std::string error_of_record(std::string_view line) {
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object()) {
        return {};
    }
    const auto text = [&](const char* key) {
        const auto found = record.find(key);
        return found != record.end() && found->is_string() ? found->get<std::string>()
                                                           : std::string();
    };
    std::string message = text("msg");
    if (const std::string level = text("level");
        (level != "error" && level != "fatal" && level != "critical") ||
        message.starts_with("Attempt ")) {
        return {};
    }
    constexpr std::string_view copying = "Failed to copy: ";
    if (message.starts_with(copying)) {
        message.erase(0, copying.size());
    }
    const std::string object = text("object");
    return object.empty() ? message : object + ": " + message;
}

/// "Failed to copy with 2 errors: last error was: REASON" and the like, with what follows it.
std::string error_of_text(std::string_view text) {
    constexpr std::string_view last = "last error was: ";
    const std::size_t at = text.find(last);
    text = at == std::string_view::npos ? text : text.substr(at + last.size());
    constexpr std::string_view in_json = "error in ListJSON: ";
    return std::string(text.starts_with(in_json) ? text.substr(in_json.size()) : text);
}

Kind kind_of_reason(std::string_view reason) {
    const std::string text = lower_case(reason);
    const auto says = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(
            words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
    };
    if (says({"didn't find section in config", "config file", "didn't find backend called",
              "unknown type", "invalid value", "invalid argument", "unknown flag",
              "parse connection string", "bad name"})) {
        return Kind::configuration;
    }
    // Numbers of bytes are none of HTTP.
    if (says({"corrupted on transfer"})) {
        return Kind::passing;
    }
    // A status of HTTP, and not the end of another number.
    const auto has_status = [&](std::initializer_list<std::string_view> statuses) {
        return std::ranges::any_of(statuses, [&](std::string_view status) {
            const std::size_t at = text.find(status);
            return at != std::string::npos && (at == 0 || text[at - 1] < '0' || text[at - 1] > '9');
        });
    };
    if (says({"x509", "certificate", "ca bundle"})) {
        return Kind::certificate;
    }
    if (says({"no space left", "insufficient storage", "quota exceeded", "over quota", "disk full",
              "storagefull", "remaining disk space"}) ||
        has_status({"507 "})) {
        return Kind::space;
    }
    if (says({"nosuchbucket", "bucket does not exist", "directory not found"})) {
        return Kind::place;
    }
    if (says({"accessdenied", "access denied", "forbidden", "unauthorized", "permission denied",
              "signaturedoesnotmatch", "invalidaccesskeyid", "unable to authenticate",
              "no supported methods remain", "handshake failed", "credential", "ssh-agent",
              "read-only"}) ||
        has_status({"401 ", "403 ", "405 "})) {
        return Kind::access;
    }
    return Kind::passing;
}

}  // namespace

RcloneProblem problem_in(std::string_view output) {
    std::string record;
    std::string text;
    bool dated = false;
    for (const std::string_view line : lines_of(output)) {
        if (trim(line).empty()) {
            continue;
        }
        if (line.starts_with('{')) {
            if (std::string found = error_of_record(line); !found.empty()) {
                record = std::move(found);
            }
            continue;
        }
        // A message with several lines has one date.
        const std::string_view rest = without_date(line);
        const bool begins = rest.size() < line.size();
        text = begins || !dated ? std::string(rest) : text + ' ' + std::string(rest);
        dated = begins || dated;
    }
    const std::string reason = one_line(record.empty() ? error_of_text(text) : record);
    return {kind_of_reason(reason), reason.empty() ? "rclone said nothing" : reason};
}

std::string hint_for(const RcloneProblem& problem, const std::string& remote) {
    const std::string name = shown_remote(remote);
    switch (problem.kind) {
        case Kind::configuration:
            return "'rclone listremotes' lists the remotes of rclone's configuration, and 'rclone "
                   "config' makes one; RCLONE_CONFIG names another file";
        case Kind::access:
            return fmt::format(
                "may these credentials list, read and write there? 'rclone lsf {}' tries it; "
                "they are in rclone's configuration, or in the environment",
                shell_word(name));
        case Kind::place:
            return "is the name of the bucket or directory right? A bucket is not created: 'rclone "
                   "mkdir' does that";
        case Kind::space:
            return "make room on the server, and upload again: what has arrived is kept";
        case Kind::certificate:
            return "rclone trusts the authorities of this machine; RCLONE_CA_CERT names a file "
                   "with another one, but AWS_CA_BUNDLE rclone may not be able to use: unset it";
        case Kind::passing:
            break;
    }
    return "is the server running, and reachable from here? What has arrived is kept: upload again";
}

}  // namespace edgegpu
