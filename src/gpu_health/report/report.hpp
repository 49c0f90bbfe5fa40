#pragma once

#include <string>

#include "gpu_health/judge/verdict.hpp"

namespace edgegpu::gpu_health {

/// /run/edgegpu/gpu-health.json: docs/schemas/gpu-health.json describes it.
[[nodiscard]] std::string report_json(const Facts& facts, const Settings& settings,
                                      const Tables& tables, const Judgement& judgement);

/// Lines for the journal: one for each step that ran, then the verdict.
[[nodiscard]] std::string journal_text(const Facts& facts, const Judgement& judgement);

/// For people: each step with what was found, what decided and why, what to do (`--explain`).
[[nodiscard]] std::string explanation(const Facts& facts, const Judgement& judgement);

/// /run/motd.d/edgegpu-gpu-health; empty if all is well.
[[nodiscard]] std::string motd_text(const Judgement& judgement);

/// node_exporter's textfile: metrics with HELP and TYPE.
[[nodiscard]] std::string metrics_text(const Facts& facts, const Judgement& judgement);

}  // namespace edgegpu::gpu_health
