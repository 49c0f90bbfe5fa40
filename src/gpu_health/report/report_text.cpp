#include <fmt/format.h>

#include "gpu_health/report/report.hpp"
#include "gpu_health/report/step_text.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::string_view program = "/usr/libexec/edgegpu/gpu-health";

/// What a step has to say, and "" for one that did not run.
std::string line_of(Step step, const Facts& facts, const Judgement& judgement) {
    const auto run = facts.runs.find(std::string(name_of(step)));
    std::string text = step_text(judgement, step);
    if (!text.empty() || run == facts.runs.end()) {
        return text;
    }
    if (run->second.hung) {
        return "did not end within its deadline";
    }
    return run->second.error.empty() ? "nothing to tell" : run->second.error;
}

std::string time_of(Step step, const Facts& facts) {
    const auto run = facts.runs.find(std::string(name_of(step)));
    return run == facts.runs.end() ? std::string()
                                   : fmt::format(" ({:.0f} ms)", run->second.milliseconds);
}

std::string where_of(const Finding& finding) {
    return finding.device.empty() ? std::string() : " " + printable_line(finding.device);
}

/// Who is to blame, in words: "healthy", "a fault of the image".
std::string_view words_of_verdict(Verdict verdict) {
    return nth_name(verdict, {"healthy", "a fault of the image", "a fault of the hardware",
                              "something that a person has to do at this machine",
                              "a fault whose cause is not clear"});
}

std::string explain_finding(const Finding& finding, bool decides) {
    std::string text =
        fmt::format("    {}{} [{}]{}: {}\n", finding.note ? "note: " : "", name_of(finding.verdict),
                    printable_line(finding.fault), where_of(finding), printable_line(finding.text));
    if (!finding.action.empty()) {
        text += fmt::format("      what to do: {}\n", printable_line(finding.action));
    }
    if (decides) {
        text += "      this decided\n";
    }
    return text;
}

}  // namespace

std::string journal_text(const Facts& facts, const Judgement& judgement) {
    std::string text;
    for (const Step step : all_steps) {
        const std::string line = line_of(step, facts, judgement);
        if (!line.empty()) {
            text += fmt::format("{}: {}{}\n", name_of(step), printable_line(line),
                                time_of(step, facts));
        }
    }
    for (const Finding& finding : judgement.findings) {
        if (finding.note) {
            text += fmt::format("note [{}]{}: {}\n", printable_line(finding.fault),
                                where_of(finding), printable_line(finding.text));
        }
    }
    const Finding* const decided = judgement.decided();
    text += fmt::format(
        "verdict: {}, {}{}: {}\n", name_of(judgement.verdict), judgement.red ? "red" : "green",
        decided == nullptr
            ? ""
            : fmt::format(" [{}]{}", printable_line(decided->fault), where_of(*decided)),
        printable_line(judgement.reason));
    if (decided != nullptr && !decided->action.empty()) {
        text += fmt::format("what to do: {}\n", printable_line(decided->action));
    }
    return text;
}

std::string explanation(const Facts& facts, const Judgement& judgement) {
    std::string text = "GPU health of this machine\n";
    if (!facts.commit.empty()) {
        text += fmt::format("  commit {}\n", printable_line(facts.commit));
    }
    text += "\n";
    for (const Step step : all_steps) {
        const std::string line = line_of(step, facts, judgement);
        if (!line.empty()) {
            text += fmt::format("  {:<11} {}{}\n", name_of(step), printable_line(line),
                                time_of(step, facts));
        }
        for (const Finding& finding : judgement.findings) {
            if (finding.step == step) {
                text += explain_finding(finding, &finding == judgement.decided());
            }
        }
    }
    text += fmt::format("\nVerdict: {} ({}).\n", name_of(judgement.verdict),
                        words_of_verdict(judgement.verdict));
    text += fmt::format(
        "{} {}.\n",
        judgement.red ? "Red, the boot fails and the image goes back:" : "Green, the image stays:",
        printable_line(judgement.reason));
    return text;
}

std::string motd_text(const Judgement& judgement) {
    if (judgement.verdict == Verdict::healthy) {
        return {};
    }
    std::string text = fmt::format("GPU: {}.\n", words_of_verdict(judgement.verdict));
    if (const Finding* const decided = judgement.decided()) {
        text += fmt::format("  [{}]{}: {}\n", printable_line(decided->fault), where_of(*decided),
                            printable_line(decided->text));
        if (!decided->action.empty()) {
            text += fmt::format("  What to do: {}\n", printable_line(decided->action));
        }
    }
    return text + fmt::format("  {} --explain tells more.\n", program);
}

}  // namespace edgegpu::gpu_health
