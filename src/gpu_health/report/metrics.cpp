#include <fmt/format.h>

#include <set>

#include "gpu_health/report/report.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::array all_verdicts{Verdict::healthy, Verdict::image, Verdict::hardware,
                                  Verdict::machine, Verdict::unclear};

/// A label's value in the text format of Prometheus: UTF-8, with these three escaped.
std::string label_value(std::string_view text) {
    std::string value;
    for (const char character : printable_line(text)) {
        if (character == '\\' || character == '"') {
            value += '\\';
        }
        value += character;
    }
    return value;
}

std::string heading(std::string_view name, std::string_view help) {
    return fmt::format("# HELP edgegpu_gpu_health_{0} {1}\n# TYPE edgegpu_gpu_health_{0} gauge\n",
                       name, help);
}

std::string faults(const Judgement& judgement) {
    std::string text;
    // Two samples with the same labels are an error, and node_exporter then drops the whole file.
    std::set<std::string> samples;
    for (const Finding& finding : judgement.findings) {
        const std::string sample = fmt::format(
            "edgegpu_gpu_health_fault{{step=\"{}\",fault=\"{}\",device=\"{}\",verdict=\"{}\"}} 1\n",
            name_of(finding.step), label_value(finding.fault), label_value(finding.device),
            finding.note ? "note" : name_of(finding.verdict));
        if (samples.insert(sample).second) {
            text += sample;
        }
    }
    return text.empty()
               ? text
               : heading("fault", "A fault that was found; notes count for nothing.") + text;
}

std::string steps(const Facts& facts) {
    std::string seconds;
    std::string hung;
    for (const Step step : all_steps) {
        const auto run = facts.runs.find(std::string(name_of(step)));
        if (run == facts.runs.end()) {
            continue;
        }
        seconds += fmt::format("edgegpu_gpu_health_step_seconds{{step=\"{}\"}} {:.6f}\n",
                               name_of(step), run->second.milliseconds / 1000);
        hung += fmt::format("edgegpu_gpu_health_step_hung{{step=\"{}\"}} {}\n", name_of(step),
                            run->second.hung ? 1 : 0);
    }
    if (seconds.empty()) {
        return {};
    }
    return heading("step_seconds", "Time that a step of the check took.") + seconds +
           heading("step_hung", "Whether a step did not end within its deadline.") + hung;
}

}  // namespace

std::string metrics_text(const Facts& facts, const Judgement& judgement) {
    std::string text =
        heading("verdict", "Who is to blame for a fault of the GPUs: 1 for what is true.");
    for (const Verdict verdict : all_verdicts) {
        text += fmt::format("edgegpu_gpu_health_verdict{{verdict=\"{}\"}} {}\n", name_of(verdict),
                            verdict == judgement.verdict ? 1 : 0);
    }
    text += heading("red", "Whether the boot failed because of a GPU.");
    text += fmt::format("edgegpu_gpu_health_red {}\n", judgement.red ? 1 : 0);
    text += heading("gpus_found", "GPUs on the PCI bus.");
    text += fmt::format("edgegpu_gpu_health_gpus_found {}\n", facts.functions.size());
    text += heading("gpus_working", "GPUs that work.");
    text += fmt::format("edgegpu_gpu_health_gpus_working {}\n", judgement.working);
    text += heading("info", "The commit that runs and the driver that is loaded.");
    text += fmt::format("edgegpu_gpu_health_info{{commit=\"{}\",driver=\"{}\"}} 1\n",
                        label_value(facts.commit), label_value(facts.driver.version));
    return text + faults(judgement) + steps(facts);
}

}  // namespace edgegpu::gpu_health
