#pragma once

#include <string>

#include "gpu_health/judge/verdict.hpp"

namespace edgegpu::gpu_health {

/// What follows from the deciding finding on this machine.
struct Outcome {
    Verdict verdict = Verdict::unclear;
    bool red = false;
    /// one sentence
    std::string reason;
};

/// `spare`: the finding is of a GPU that is not asked for, and those asked for work. The machine's
/// memory has the last word: what was healthy once, or fails as the commit before it did, is not
/// made better by going back.
[[nodiscard]] Outcome outcome_of(const Finding& deciding, bool spare, const std::string& commit,
                                 const Settings& settings, const Memory& memory);

}  // namespace edgegpu::gpu_health
