#include "commands/failure.hpp"

#include <cstdio>
#include <string_view>

#include <nlohmann/json.hpp>

#include "blueprint/toml/mistakes.hpp"
#include "support/ranges.hpp"
#include "support/secrets.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

std::string_view kind_name(ErrorKind kind) {
    return nth_name(kind, {"failure", "usage", "unsolvable", "fetch", "interrupted"});
}

/// Removes what the log knows to be secret from every text of a document.
void hide_known(const Log& log, ordered_json& value) {
    if (value.is_string()) {
        value = log.without_secrets(value.get<std::string>());
    } else if (value.is_structured()) {
        for (ordered_json& member : value) {
            hide_known(log, member);
        }
    }
}

/// docs/schemas/error.json
ordered_json error_document(const RunningCommand& running, const Error& failure) {
    const Error first = single_errors(failure).front();
    ordered_json document = {{"format", "edgegpu-error/1"},
                             {"command", running.name},
                             {"exit_status", failure.exit_status()},
                             {"kind", kind_name(failure.kind())},
                             {"stage", failure.stage()},
                             {"message", first.message()},
                             {"context", first.traces()},
                             {"hint", first.hint()},
                             {"errors", mistakes_document(failure)}};
    hide_known(running.log, document);
    return document;
}

void record(const Log& log, const Error& failure) {
    for (const Error& single : single_errors(failure)) {
        log.write_shown(LogLevel::error, single.message(),
                        {{"context", single.traces()},
                         {"hint", single.hint()},
                         {"failed_stage", failure.stage()},
                         {"exit_status", failure.exit_status()}});
    }
}

int report(const RunningCommand& running, const Error& failure, bool document) noexcept {
    try {
        record(running.log, failure);
        // What the log knows to be secret is hidden here, too.
        const std::string shown =
            running.log.without_secrets(render_error(failure, use_color(running.color)));
        std::fputs(shown.c_str(), stderr);
        if (document) {
            const std::string text =
                error_document(running, failure)
                    .dump(2, ' ', false, ordered_json::error_handler_t::replace);
            std::fputs((printable_result(text) + '\n').c_str(), stdout);
            std::fflush(stdout);
        }
    } catch (...) {
        std::fputs("error: out of memory\n", stderr);
    }
    return failure.exit_status();
}

}  // namespace

int report_failure(const RunningCommand& running, const Error& failure) noexcept {
    return report(running, failure, running.json);
}

int report_failure_without_document(const RunningCommand& running, const Error& failure) noexcept {
    return report(running, failure, false);
}

nlohmann::ordered_json mistakes_document(const Error& failure) {
    ordered_json list = ordered_json::array();
    for (const Error& single : single_errors(failure)) {
        const Mistake mistake = mistake_of(single);
        ordered_json traces = mapped(single.traces(), hide_secrets);
        list.push_back({{"file", mistake.location.file},
                        {"line", mistake.location.line},
                        {"column", mistake.location.column},
                        {"message", hide_secrets(mistake.message)},
                        {"traces", std::move(traces)},
                        {"hint", hide_secrets(mistake.hint)}});
    }
    return list;
}

}  // namespace edgegpu
