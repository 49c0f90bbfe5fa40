#pragma once

#include <string>

#include "gpu_health/judge/verdict.hpp"

namespace edgegpu::gpu_health {

/// What the judge says of a step, without the step's name before it; empty: nothing.
[[nodiscard]] inline std::string step_text(const Judgement& judgement, Step step) {
    const auto line = judgement.lines.find(step);
    if (line == judgement.lines.end()) {
        return {};
    }
    const std::string name = std::string(name_of(step)) + ": ";
    return line->second.substr(line->second.starts_with(name) ? name.size() : 0);
}

}  // namespace edgegpu::gpu_health
