#include <nlohmann/json.hpp>

#include <algorithm>

#include "gpu_health/report/report.hpp"
#include "gpu_health/report/step_text.hpp"

namespace edgegpu::gpu_health {

namespace {

using Json = nlohmann::ordered_json;

/// Adds a member unless it says nothing.
void add(Json& object, const char* name, const std::string& text) {
    if (!text.empty()) {
        object[name] = text;
    }
}

template <typename Value>
void add(Json& object, const char* name, const std::optional<Value>& value) {
    if (value) {
        object[name] = *value;
    }
}

Json steps_of(const Facts& facts, const Judgement& judgement) {
    Json steps = Json::array();
    for (const Step step : all_steps) {
        const auto run = facts.runs.find(std::string(name_of(step)));
        const std::string text = step_text(judgement, step);
        if (run == facts.runs.end() && text.empty()) {
            continue;
        }
        Json one{{"step", name_of(step)}};
        if (run != facts.runs.end()) {
            one["milliseconds"] = run->second.milliseconds;
            one["hung"] = run->second.hung;
            add(one, "error", run->second.error);
        }
        add(one, "text", text);
        steps.push_back(std::move(one));
    }
    return steps;
}

Json findings_of(const Judgement& judgement) {
    Json findings = Json::array();
    for (const Finding& finding : judgement.findings) {
        Json one{{"step", name_of(finding.step)},
                 {"verdict", name_of(finding.verdict)},
                 {"fault", finding.fault}};
        add(one, "device", finding.device);
        one["text"] = finding.text;
        add(one, "action", finding.action);
        one["note"] = finding.note;
        one["deciding"] = &finding == judgement.decided();
        findings.push_back(std::move(one));
    }
    return findings;
}

void add_nvml(Json& card, const NvmlGpu& gpu) {
    add(card, "name", gpu.name);
    add(card, "uuid", gpu.uuid);
    add(card, "memory", gpu.memory);
    add(card, "persistence", gpu.persistence);
    add(card, "mig", gpu.mig);
    if (!gpu.mig_devices.empty()) {
        card["mig_devices"] = gpu.mig_devices;
    }
    add(card, "recovery_action", gpu.recovery_action);
    add(card, "uncorrected_volatile", gpu.uncorrected_volatile);
    add(card, "uncorrected_aggregate", gpu.uncorrected_aggregate);
    add(card, "remapped_uncorrectable", gpu.remapped_uncorrectable);
    add(card, "remap_pending", gpu.remap_pending);
    add(card, "remap_failed", gpu.remap_failed);
    add(card, "temperature", gpu.temperature);
    add(card, "licence", gpu.licence);
}

/// NVML writes addresses with eight digits of the domain or four, sysfs with four; letters differ.
bool is_same_address(std::string_view one, std::string_view other) {
    const auto tail = [](std::string_view address) {
        return address.substr(address.size() - std::min<std::size_t>(address.size(), 12));
    };
    one = tail(one);
    other = tail(other);
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](char a, char b) {
        const auto lower = [](char c) {
            return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
        };
        return lower(a) == lower(b);
    });
}

Json cards_of(const Facts& facts) {
    Json cards = Json::array();
    for (const PciFunction& function : facts.functions) {
        Json card{{"address", function.address}, {"id", function.id}};
        add(card, "driver", function.driver);
        for (const NvmlGpu& gpu : facts.nvml.gpus) {
            if (is_same_address(gpu.address, function.address)) {
                add_nvml(card, gpu);
                break;
            }
        }
        cards.push_back(std::move(card));
    }
    return cards;
}

}  // namespace

std::string report_json(const Facts& facts, const Settings& settings, const Tables& tables,
                        const Judgement& judgement) {
    Json report{{"format", "edgegpu-gpu-health/1"},
                {"edgegpu", EDGEGPU_VERSION},
                {"verdict", name_of(judgement.verdict)},
                {"red", judgement.red},
                {"reason", judgement.reason}};
    if (const Finding* const decided = judgement.decided()) {
        report["fault"] = decided->fault;
    }
    add(report, "commit", facts.commit);
    add(report, "boot_id", facts.boot_id);
    add(report, "kernel", facts.kernel);
    report["virtual_machine"] = facts.virtual_machine;
    add(report, "image_driver", facts.stack ? facts.stack->driver : std::string());
    add(report, "loaded_driver", facts.driver.version);
    report["gpus"] = {
        {"wanted", settings.devices.empty() ? static_cast<std::size_t>(settings.minimum)
                                            : settings.devices.size()},
        {"found", facts.functions.size()},
        {"working", judgement.working}};
    report["tables"] = tables.date;
    report["cards"] = cards_of(facts);
    report["steps"] = steps_of(facts, judgement);
    report["findings"] = findings_of(judgement);
    // What kernels and other programs write need not be UTF-8.
    return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace edgegpu::gpu_health
