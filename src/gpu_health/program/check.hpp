#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "gpu_health/judge/verdict.hpp"
#include "gpu_health/program/configuration.hpp"
#include "gpu_health/program/options.hpp"

namespace edgegpu::gpu_health {

/// The exit status for a verdict, of ExitStatus.
[[nodiscard]] int exit_status(const Judgement& judgement);

/// What gpu-health itself could not do is no reason to go back: it is not red if the step that
/// decided failed in itself, the booted commit is not known, or the settings; nor is an unclear
/// fault that cannot be remembered, since the next commit could not know that this one had failed
/// in the same way. It is no health either, if nothing is known of the PCI bus, or if NVIDIA's
/// libraries could not be asked about GPUs that are there.
void allow_for_own_faults(Judgement& judgement, const Facts& facts, bool machine_known,
                          bool remembered, bool settings_known);

/// Looks, judges, writes the reports and prints what the options ask for; returns the exit status.
/// `notes` are those of the settings.
[[nodiscard]] int check(const Options& options, const Settings& settings, Notes& notes);

/// gpu-health as a whole: the words behind the program's name → the exit status.
[[nodiscard]] int run_gpu_health(const std::vector<std::string>& words);

/// Longest time that gpu-health takes with these settings, whatever hangs.
[[nodiscard]] std::chrono::seconds whole_deadline(const Settings& settings);

}  // namespace edgegpu::gpu_health
