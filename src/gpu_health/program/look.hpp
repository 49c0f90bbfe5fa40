#pragma once

#include <chrono>
#include <functional>

#include "gpu_health/ask/ask.hpp"
#include "gpu_health/observe/observe.hpp"
#include "gpu_health/program/configuration.hpp"

namespace edgegpu::gpu_health {

/// What is known of a machine after a look at it.
struct Look {
    Facts facts;
    /// The booted commit could be asked for; without that, nothing speaks against a rollback that
    /// should.
    bool machine_known = true;
};

/// Changes facts by something that may hang or crash: in a child, which gives back what it knows.
/// The run says how it went; facts are as they were if it did not end well.
[[nodiscard]] StepRun look_in_child(const std::function<void(Facts&)>& change,
                                    std::chrono::seconds deadline, Facts& facts);

/// Looks at the machine step by step, each with its deadline. A step that hangs or crashes is a
/// fact like all others.
[[nodiscard]] Look look_at_machine(const Places& places, const Settings& settings,
                                   const Probe& probe, Notes& notes);

/// Longest time that look_at_machine takes.
[[nodiscard]] std::chrono::seconds longest_look(const Settings& settings);

}  // namespace edgegpu::gpu_health
