#include <algorithm>
#include <tuple>

#include "gpu_health/judge/examination.hpp"
#include "gpu_health/judge/memory.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// It counts, and says more than that something else is wrong.
bool is_cause(const Found& found) {
    return !found.finding.note && !found.consequence;
}

/// Steps that did not end, or could not be done: what they would have found is not known. A fault
/// of this program is no reason for a verdict; a step that hangs may hang in the driver.
void judge_runs(Examination& examination) {
    for (const Step step : all_steps) {
        const auto run = examination.facts.runs.find(std::string(name_of(step)));
        if (run == examination.facts.runs.end()) {
            continue;
        }
        const std::string name(name_of(step));
        if (run->second.hung && step != Step::nvml && step != Step::workload) {
            const bool in_driver = step != Step::module && step != Step::cdi &&
                                   step != Step::firmware && step != Step::library;
            Found& found =
                report(examination, step, Verdict::unclear, name + "-hung", {},
                       "the step did not end within " +
                           std::to_string(examination.settings.deadline(step)) + " seconds",
                       "Compare with the commit before");
            found.finding.note = !in_driver;
        } else if (!run->second.error.empty()) {
            report_note(examination, step, name + "-unknown", {},
                        "nothing is known of this step: " + run->second.error,
                        "Report it if it stays: a fault of gpu-health");
        }
    }
}

void run_steps(Examination& examination) {
    judge_presence(examination);
    judge_kernel_log(examination);
    if (live_gpus_of(examination.facts).empty()) {
        // Without a GPU no driver is loaded: nothing can be said about the image.
        return;
    }
    judge_binding(examination);
    if (examination.settings.passthrough) {
        return;
    }
    judge_module(examination);
    judge_version(examination);
    judge_firmware(examination);
    judge_nodes(examination);
    judge_library(examination);
    judge_nvml(examination);
    judge_condition(examination);
    judge_cdi(examination);
    judge_workload(examination);
}

/// The GPU works all the same: the driver tried again, or the message is about something else.
bool was_overcome(const Facts& facts, const Finding& finding) {
    const bool may_be = finding.fault == "bar-space" || finding.step == Step::kernel_log ||
                        finding.step == Step::firmware;
    if (!may_be || finding.verdict == Verdict::hardware) {
        return false;
    }
    return finding.device.empty() ? all_answer_nvml(facts) : answers_nvml(facts, finding.device);
}

/// Findings about the machine as a whole that a single GPU may be the reason of.
bool may_be_symptom(const Finding& finding) {
    return finding.device.empty() && (finding.step == Step::kernel_log ||
                                      finding.step == Step::nodes || finding.step == Step::nvml ||
                                      finding.step == Step::cdi || finding.step == Step::workload);
}

bool is_about_signature(const Finding& finding) {
    return finding.fault == "key-not-enrolled" || finding.fault == "module-unsigned" ||
           finding.fault == "signature-refused";
}

/// What one finding says about another, once all are known.
void settle(Examination& examination) {
    const Facts& facts = examination.facts;
    const bool module_is_cause = std::ranges::any_of(examination.found, [](const Found& found) {
        return found.finding.step == Step::module && is_cause(found);
    });
    const std::vector<const PciFunction*> gpus = gpus_of(facts);
    const bool any_answers_nvml =
        !is_known(facts, Step::nvml) || facts.nvml.end != ChildEnd::ended ||
        std::ranges::any_of(
            gpus, [&](const PciFunction* gpu) { return answers_nvml(facts, gpu->address); });
    for (Found& found : examination.found) {
        Finding& finding = found.finding;
        const bool in_log = finding.step == Step::kernel_log;
        if (is_excluded(facts, finding.device) || was_overcome(facts, finding)) {
            finding.note = true;
        }
        if (in_log && finding.verdict == Verdict::image && examination.settings.passthrough) {
            finding.note = true;
        }
        if (in_log && is_about_signature(finding)) {
            // The kernel does not say which module: this one, or the step before knows better.
            finding.note = finding.note || facts.driver.loaded;
            found.consequence = module_is_cause;
        }
        if (finding.step == Step::binding && finding.verdict == Verdict::image && module_is_cause) {
            found.consequence = true;
        }
        // Where the driver is not loaded nothing of what needs it can work.
        const bool not_loaded = !facts.driver.loaded && is_known(facts, Step::version);
        // CUDA has no GPU that NVML does not have.
        const bool for_nothing = finding.step == Step::workload && !any_answers_nvml;
        if (may_be_symptom(finding) && ((not_loaded && !in_log) || for_nothing)) {
            found.consequence = true;
        }
        if (finding.fault == "no-gpu-found" && !live_gpus_of(facts).empty()) {
            finding.verdict = Verdict::image;
        }
    }
    std::ranges::stable_sort(examination.found, [](const Found& one, const Found& other) {
        return one.finding.step < other.finding.step;
    });
}

/// Every GPU that does not work has a reason of its own that was found before, or the machine has.
bool is_explained(const Examination& examination, const Finding& symptom) {
    const auto has_cause = [&](const std::string& device) {
        return std::ranges::any_of(examination.found, [&](const Found& found) {
            const Finding& one = found.finding;
            return is_cause(found) && one.step < symptom.step && one.fault != "gpu-missing" &&
                   normal_address(one.device) == device;
        });
    };
    if (has_cause({})) {
        return true;
    }
    bool any = false;
    for (const PciFunction* gpu : gpus_of(examination.facts)) {
        const std::string address = normal_address(gpu->address);
        const bool has = has_cause(address);
        any = any || has;
        if (!has && !answers_nvml(examination.facts, address)) {
            return false;
        }
    }
    return any;
}

int priority_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::image:
            return 0;
        case Verdict::machine:
            return 1;
        case Verdict::hardware:
            return 2;
        default:
            return 3;
    }
}

/// Of each GPU the first finding counts, as the later ones follow from it; one that is clear before
/// those that are not.
bool is_first_of_device(const std::vector<Found>& found, std::size_t at) {
    const auto rank = [&](std::size_t index) {
        return std::tuple(found[index].finding.verdict == Verdict::unclear, index);
    };
    for (std::size_t other = 0; other < found.size(); ++other) {
        if (other != at && is_cause(found[other]) &&
            found[other].finding.device == found[at].finding.device && rank(other) < rank(at)) {
            return false;
        }
    }
    return true;
}

/// The finding that decides: the most causal one, and the image's before others, as only the image
/// can be helped by going back. -1: none.
int decide(const Examination& examination) {
    const std::vector<Found>& found = examination.found;
    int best = -1;
    const auto rank = [&](int index) {
        const Found& one = found[static_cast<std::size_t>(index)];
        return std::tuple(one.consequence, priority_of(one.finding.verdict), index);
    };
    for (std::size_t at = 0; at < found.size(); ++at) {
        const Finding& finding = found[at].finding;
        const bool counts =
            found[at].consequence
                ? !finding.note
                : !finding.note && (finding.device.empty() ? !may_be_symptom(finding) ||
                                                                 !is_explained(examination, finding)
                                                           : is_first_of_device(found, at));
        const int index = static_cast<int>(at);
        if (counts && (best < 0 || rank(index) < rank(best))) {
            best = index;
        }
    }
    return best;
}

bool is_working(const Examination& examination, const PciFunction& gpu) {
    const Facts& facts = examination.facts;
    if (examination.settings.passthrough) {
        return gpu.driver == "vfio-pci";
    }
    if (facts.nvml.end == ChildEnd::ended && is_known(facts, Step::nvml)) {
        return answers_nvml(facts, gpu.address);
    }
    // NVML was not asked, or did not answer: what is left is that nothing speaks against it.
    return gpu.driver == "nvidia" && facts.nvml.end != ChildEnd::hung &&
           std::ranges::none_of(examination.found, [&](const Found& one) {
               return !one.finding.note &&
                      (one.finding.device.empty() || one.finding.device == gpu.address);
           });
}

/// The cards that the settings ask for work, whatever is wrong with another one.
bool is_enough(const Settings& settings, const std::vector<std::string>& working_ids) {
    std::vector<std::string> left = working_ids;
    for (const std::string& id : settings.devices) {
        const auto found = std::ranges::find(left, lower_case(id));
        if (found == left.end()) {
            return false;
        }
        left.erase(found);
    }
    return working_ids.size() >= settings.minimum;
}

/// Cards that `devices` does not list are not asked for: what is wrong with them is reported, and
/// decides nothing as long as the listed ones work.
void release_unlisted(Examination& examination) {
    const std::vector<std::string>& listed_ids = examination.settings.devices;
    for (Found& found : examination.found) {
        const std::vector<const PciFunction*> gpus = gpus_of(examination.facts);
        const auto gpu = std::ranges::find_if(gpus, [&](const PciFunction* one) {
            return normal_address(one->address) == normal_address(found.finding.device);
        });
        if (gpu != gpus.end() && std::ranges::none_of(listed_ids, [&](const std::string& id) {
                return lower_case(id) == lower_case((*gpu)->id);
            })) {
            found.finding.note = true;
        }
    }
}

}  // namespace

Judgement judge(const Facts& facts, const Settings& settings, const Tables& tables,
                const Memory& memory) {
    Examination examination{facts, settings, tables, {}};
    judge_runs(examination);
    run_steps(examination);
    settle(examination);

    std::vector<std::string> working_ids;
    for (const PciFunction* gpu : live_gpus_of(facts)) {
        if (is_working(examination, *gpu)) {
            working_ids.push_back(lower_case(gpu->id));
        }
    }
    const bool enough = is_enough(settings, working_ids);
    if (enough && !settings.devices.empty()) {
        release_unlisted(examination);
    }
    Judgement judgement;
    judgement.working = static_cast<unsigned>(working_ids.size());
    judgement.deciding = decide(examination);
    for (const Found& found : examination.found) {
        judgement.findings.push_back(found.finding);
    }
    if (judgement.deciding < 0) {
        judgement.reason =
            judgement.working == 1
                ? "1 GPU works"
                : std::to_string(judgement.working) +
                      (judgement.working == 0 ? " GPUs, and none is asked for" : " GPUs work");
    } else {
        Finding& deciding = judgement.findings[static_cast<std::size_t>(judgement.deciding)];
        // Another image would help a GPU that the image breaks, whether it is needed or not.
        const bool spare = enough && !deciding.device.empty() && deciding.verdict != Verdict::image;
        const Outcome outcome = outcome_of(deciding, spare, facts.commit, settings, memory);
        deciding.verdict = outcome.verdict;
        judgement.verdict = outcome.verdict;
        judgement.red = outcome.red;
        judgement.reason = outcome.reason;
    }
    for (const Step step : all_steps) {
        if (facts.runs.count(std::string(name_of(step))) > 0) {
            judgement.lines[step] = line_of(step, facts, settings, judgement.findings);
        }
    }
    return judgement;
}

}  // namespace edgegpu::gpu_health
