#include "gpu_health/program/look.hpp"

#include <exception>

#include "gpu_health/children/child.hpp"

namespace edgegpu::gpu_health {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds machine_deadline{5};

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// Why nothing is known of a step, by how its child ended; empty: it ended well.
std::string error_of(const ChildResult& result) {
    switch (result.end) {
        case ChildEnd::ended:
            if (result.status == 0) {
                return {};
            }
            return result.errors.empty() ? "it ended with status " + std::to_string(result.status)
                                         : first_line(result.errors);
        case ChildEnd::crashed:
            return "gpu-health failed: signal " + std::to_string(result.status) + " ended the step";
        case ChildEnd::hung:
            return "it did not end in time";
        case ChildEnd::missing:
        case ChildEnd::not_run:
            break;
    }
    return "gpu-health failed: the step could not be started" +
           (result.errors.empty() ? std::string() : ": " + first_line(result.errors));
}

/// Why the steps that call NVIDIA's libraries are left out; empty: they are not. NVML loads the
/// module if it can, and makes nodes: a look changes nothing.
std::string reason_to_leave_out(const Settings& settings, const Facts& facts) {
    if (settings.passthrough) {
        return "the GPUs are for guests";
    }
    if (!facts.driver.loaded) {
        return "the driver is not loaded";
    }
    return {};
}

void ask_nvml_of(const Probe& probe, const Settings& settings, Facts& facts) {
    facts.nvml.text = reason_to_leave_out(settings, facts);
    if (!facts.nvml.text.empty()) {
        return;
    }
    const auto start = Clock::now();
    StepRun run;
    try {
        facts.nvml = ask_nvml(probe, settings);
        run.hung = facts.nvml.end == ChildEnd::hung;
    } catch (const std::exception& problem) {
        run.error = problem.what();
    }
    run.milliseconds = milliseconds_since(start);
    facts.runs[std::string(name_of(Step::nvml))] = run;
}

void run_workloads(const Probe& probe, const Settings& settings, Facts& facts) {
    std::string reason = reason_to_leave_out(settings, facts);
    if (reason.empty() && facts.nvml.end == ChildEnd::hung) {
        reason = "NVML did not answer";
    }
    if (settings.workload.empty() || !reason.empty()) {
        for (const std::string& how : settings.workload) {
            Workload& workload = facts.workloads.emplace_back();
            workload.how = how;
            workload.text = reason;
        }
        return;
    }
    const auto start = Clock::now();
    StepRun run;
    for (const std::string& how : settings.workload) {
        try {
            facts.workloads.push_back(run_workload(how, probe, settings, facts));
            run.hung = run.hung || facts.workloads.back().end == ChildEnd::hung;
        } catch (const std::exception& problem) {
            run.error = problem.what();
        }
    }
    run.milliseconds = milliseconds_since(start);
    facts.runs[std::string(name_of(Step::workload))] = run;
}

}  // namespace

StepRun look_in_child(const std::function<void(Facts&)>& change, std::chrono::seconds deadline,
                      Facts& facts) {
    const auto child = [&] {
        Facts changed = facts;
        change(changed);
        return facts_json(changed);
    };
    const ChildResult result = run_function(child, deadline);
    StepRun run;
    run.milliseconds = result.milliseconds;
    run.hung = result.end == ChildEnd::hung;
    run.error = error_of(result);
    if (run.error.empty()) {
        try {
            facts = read_facts(result.output);
        } catch (const std::exception& problem) {
            run.error = std::string("gpu-health failed: ") + problem.what();
        }
    }
    return run;
}

Look look_at_machine(const Places& places, const Settings& settings, const Probe& probe,
                     Notes& notes) {
    Look look;
    const StepRun machine = look_in_child(
        [&places](Facts& facts) { observe_machine(places, facts); }, machine_deadline, look.facts);
    if (!machine.error.empty()) {
        notes.push_back("the booted commit is not known: " + machine.error);
        look.machine_known = false;
    }
    for (const Step step : all_steps) {
        if (step == Step::nvml) {
            ask_nvml_of(probe, settings, look.facts);
        } else if (step == Step::workload) {
            run_workloads(probe, settings, look.facts);
        } else if (step == Step::condition) {
            // It is what sysfs and NVML have said already: nothing more is looked at.
            look.facts.runs[std::string(name_of(step))] = StepRun();
        } else {
            const StepRun run =
                look_in_child([&, step](Facts& facts) { observe(step, places, settings, facts); },
                              std::chrono::seconds(settings.deadline(step)), look.facts);
            look.facts.runs[std::string(name_of(step))] = run;
        }
    }
    return look;
}

std::chrono::seconds longest_look(const Settings& settings) {
    // A child that is left behind takes half a second more.
    std::chrono::seconds sum = machine_deadline + std::chrono::seconds(all_steps.size());
    for (const Step step : all_steps) {
        const std::size_t times = step == Step::condition  ? 0
                                  : step == Step::workload ? settings.workload.size()
                                                           : 1;
        sum += std::chrono::seconds(settings.deadline(step)) * times;
    }
    return sum;
}

}  // namespace edgegpu::gpu_health
