#include "doctor/doctor.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// docs/schemas/doctor.json
std::string json_document(const std::vector<Finding>& findings, Readiness worst) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
        nlohmann::ordered_json entry = {{"subject", finding.subject},
                                        {"verdict", text_of(finding.readiness)},
                                        {"found", finding.found}};
        add_text(entry, "cure", finding.cure);
        list.push_back(std::move(entry));
    }
    const nlohmann::ordered_json document = {
        {"format", "edgegpu-doctor/1"}, {"verdict", text_of(worst)}, {"findings", list}};
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string summary(Readiness worst) {
    return std::string(nth_name(
        worst, {"This machine can build, and everything that blueprints may ask for.\n",
                "This machine can build; what is limited matters only to those who use it.\n",
                "This machine cannot build.\n"}));
}

std::string text_table(const std::vector<Finding>& findings, Readiness worst) {
    std::string text;
    for (const Finding& finding : findings) {
        std::string_view verdict = text_of(finding.readiness);
        std::string_view subject = finding.subject;
        for (const std::string_view line : lines_of(finding.found)) {
            text += fmt::format("{:<9}{:<39}{}\n", verdict, subject, line);
            verdict = subject = "";
        }
        if (!finding.cure.empty()) {
            text += fmt::format("{:<48}hint: {}\n", "", finding.cure);
        }
    }
    return text + summary(worst);
}

}  // namespace

int run_doctor(const GlobalOptions& global, const std::filesystem::path& cache_dir) {
    Console console(console_output(global));
    const Context ctx = context_with_cache(global, console, cache_dir);
    const std::vector<Finding> findings = examine_machine(ctx);
    Readiness worst = Readiness::good;
    for (const Finding& finding : findings) {
        worst = std::max(worst, finding.readiness);
    }
    print_result(global.json ? json_document(findings, worst) : text_table(findings, worst));
    return worst == Readiness::broken ? 1 : 0;
}

}  // namespace edgegpu
