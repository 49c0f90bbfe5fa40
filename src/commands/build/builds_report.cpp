#include "commands/build/builds_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr int interrupted_status = 130;
constexpr int unchanged_status = 77;
constexpr std::size_t shown_digits = 12;

bool succeeded(const BuildOutcome& outcome) {
    return outcome.status == 0;
}

/// Null if the build failed or printed something other than a document.
ordered_json document_of(const BuildOutcome& outcome) {
    ordered_json document = ordered_json::parse(outcome.document, nullptr, false);
    return document.is_object() ? document : ordered_json();
}

bool is_unchanged(const ordered_json& document) {
    return document.is_object() && document.value("unchanged", false);
}

std::string word_for(const BuildOutcome& outcome, const ordered_json& document) {
    if (outcome.status == interrupted_status) {
        return "interrupted";
    }
    if (!succeeded(outcome)) {
        return fmt::format("failed ({})", outcome.status);
    }
    return is_unchanged(document) ? "unchanged" : "built";
}

}  // namespace

std::string error_of_messages(const std::string& messages) {
    constexpr std::string_view mark = "error: ";
    if (messages.starts_with(mark)) {
        return messages;
    }
    const std::size_t at = messages.find("\nerror: ");
    return at == std::string::npos ? messages : messages.substr(at + 1);
}

std::string builds_summary(const std::vector<BuildOutcome>& outcomes, double seconds) {
    std::size_t widest_name = 0;
    std::size_t widest_ref = 0;
    std::size_t good = 0;
    for (const BuildOutcome& outcome : outcomes) {
        widest_name = std::max(widest_name, printable_line(outcome.name).size());
        widest_ref = std::max(widest_ref, outcome.ref.size());
        good += succeeded(outcome) ? 1U : 0U;
    }
    std::string text = "\n";
    for (const BuildOutcome& outcome : outcomes) {
        const ordered_json document = document_of(outcome);
        const std::string commit = document.is_object() ? document.value("commit", "") : "";
        text += fmt::format("  {:<{}}  {:<11}  {:<{}}  {:<{}}  {:>6.1f} s\n",
                            printable_line(outcome.name), widest_name, word_for(outcome, document),
                            outcome.ref, widest_ref, commit.substr(0, shown_digits), shown_digits,
                            outcome.seconds);
    }
    return text +
           fmt::format("\n{} of {} builds succeeded, {:.1f} s\n", good, outcomes.size(), seconds);
}

std::string builds_document(const std::vector<BuildOutcome>& outcomes, double seconds) {
    ordered_json builds = ordered_json::array();
    for (const BuildOutcome& outcome : outcomes) {
        ordered_json build = {{"blueprint", outcome.blueprint.string()},
                              {"ref", outcome.ref},
                              {"status", outcome.status},
                              {"seconds", outcome.seconds}};
        if (succeeded(outcome)) {
            build["result"] = document_of(outcome);
        } else {
            build["error"] = outcome.error;
        }
        builds.push_back(std::move(build));
    }
    const ordered_json document = {
        {"format", "edgegpu-builds/1"}, {"builds", builds}, {"seconds", seconds}};
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

int builds_status(const std::vector<BuildOutcome>& outcomes, bool unchanged) {
    const auto failed =
        std::ranges::find_if(outcomes, [](const BuildOutcome& one) { return !succeeded(one); });
    if (failed != outcomes.end()) {
        return failed->status;
    }
    const bool all_unchanged = std::ranges::all_of(
        outcomes, [](const BuildOutcome& one) { return is_unchanged(document_of(one)); });
    return unchanged && all_unchanged ? unchanged_status : 0;
}

}  // namespace edgegpu
