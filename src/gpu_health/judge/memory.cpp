#include "gpu_health/judge/memory.hpp"

#include <algorithm>
#include <array>

#include "gpu_health/judge/examination.hpp"

namespace edgegpu::gpu_health {

namespace {

/// Commits that are remembered: more than any device keeps deployments.
constexpr std::size_t most_commits = 20;

/// The newest record of another commit, or nothing.
const Memory::Record* newest_other(const Memory& memory, const std::string& commit) {
    const Memory::Record* newest = nullptr;
    for (const auto& [other, record] : memory.commits) {
        if (other != commit && (newest == nullptr || record.serial > newest->serial)) {
            newest = &record;
        }
    }
    return newest;
}

/// A process of ours that crashed: whether the library or the program is to blame is not known.
bool may_be_our_fault(const Finding& finding) {
    constexpr std::array faults{"nvml-crashed", "workload-crashed"};
    return std::ranges::find(faults, finding.fault) != faults.end();
}

bool is_missing_gpu(const Finding& finding) {
    return finding.fault == "gpu-missing" || finding.fault == "gpu-silent";
}

/// Why going back is wanted, before the memory is asked; empty: it is not.
std::string reason_to_go_back(const Finding& deciding, bool spare, const Settings& settings) {
    if (spare || may_be_our_fault(deciding)) {
        return {};
    }
    if (deciding.verdict == Verdict::image) {
        return "the fault is the image's";
    }
    if (is_missing_gpu(deciding) && settings.fail_on_missing_gpu) {
        return "a GPU is missing, and on_missing_gpu says that the boot fails then";
    }
    if (deciding.verdict == Verdict::unclear && settings.fail_on_unclear) {
        return "it is unclear whose fault it is, and on_unclear says that the boot fails then";
    }
    return {};
}

/// Why it is not red, where nothing wants it to be.
std::string reason_to_stay(const Finding& deciding, bool spare) {
    if (may_be_our_fault(deciding)) {
        return "a process of gpu-health crashed, which is no reason to go back";
    }
    switch (deciding.verdict) {
        case Verdict::hardware:
            return "the hardware is to blame: another image would not help";
        case Verdict::machine:
            return "a person has to change something on this machine: another image would not help";
        default:
            return spare ? "the GPUs that are asked for work" : "it is unclear whose fault it is";
    }
}

}  // namespace

Outcome outcome_of(const Finding& deciding, bool spare, const std::string& commit,
                   const Settings& settings, const Memory& memory) {
    Outcome outcome{deciding.verdict, false, {}};
    const Memory::Record* before = newest_other(memory, commit);
    const bool same_before = before != nullptr && before->fault == deciding.fault;
    if (same_before && deciding.verdict == Verdict::unclear) {
        outcome.verdict = Verdict::hardware;
        outcome.reason = "the commit before failed in the same way: the hardware is to blame";
        return outcome;
    }
    const std::string why = reason_to_go_back(deciding, spare, settings);
    if (why.empty()) {
        outcome.reason = reason_to_stay(deciding, spare);
        return outcome;
    }
    const auto own = memory.commits.find(commit);
    if (own != memory.commits.end() && own->second.healthy) {
        outcome.reason = why + "; yet this commit was healthy on this machine before, so that " +
                         "going back would not help";
    } else if (same_before) {
        outcome.reason = why + "; yet the commit before failed in the same way, so that going " +
                         "back would not help";
    } else if (before != nullptr && before->red) {
        outcome.reason = why + "; yet the commit before had to go back as well, so that going " +
                         "back to it would not help";
    } else {
        outcome.red = true;
        outcome.reason = why;
    }
    return outcome;
}

Memory remember(Memory memory, const Facts& facts, const Judgement& judgement) {
    if (facts.commit.empty()) {
        return memory;
    }
    std::uint64_t serial = 0;
    for (const auto& [commit, record] : memory.commits) {
        serial = std::max(serial, record.serial);
    }
    Memory::Record& record = memory.commits[facts.commit];
    record.serial = serial + 1;
    record.fault.clear();
    record.red = judgement.red;
    if (judgement.deciding >= 0 &&
        static_cast<std::size_t>(judgement.deciding) < judgement.findings.size()) {
        record.fault = judgement.findings[static_cast<std::size_t>(judgement.deciding)].fault;
    }
    // A step that failed proves nothing: only GPUs that were seen to work do.
    const bool all_known = std::ranges::all_of(
        facts.runs, [](const auto& run) { return run.second.error.empty() && !run.second.hung; });
    if (judgement.verdict == Verdict::healthy && judgement.working > 0 && all_known) {
        record.healthy = true;
    }
    while (memory.commits.size() > most_commits) {
        memory.commits.erase(
            std::ranges::min_element(memory.commits, [](const auto& one, const auto& other) {
                return one.second.serial < other.second.serial;
            }));
    }
    return memory;
}

}  // namespace edgegpu::gpu_health
