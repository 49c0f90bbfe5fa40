#pragma once

#include <string>
#include <string_view>

#include "gpu_health/children/child.hpp"
#include "gpu_health/facts.hpp"

/// Reads what gpu-probe writes (gpu_health/probe/lines.hpp). It may be cut anywhere, and whatever a
/// library wrote into it: nothing here throws, and what cannot be read ends the reading.
namespace edgegpu::gpu_health {

/// What `gpu-probe nvml` said. One that ended without saying so is `crashed`; `function` is then,
/// and for `hung`, the one that was called last. Codes of functions that a GPU or driver may lack
/// are left out unless they mean that the GPU does not work.
[[nodiscard]] Nvml read_nvml(const ChildResult& child);

/// What `gpu-probe workload` said, run directly or by podman or crictl, whose own failure it
/// may be instead: `function` is then that program, and `code` 0.
[[nodiscard]] Workload read_workload(const ChildResult& child, std::string_view how);

/// At most 300 bytes of ASCII on one line, for facts that end in journals and reports.
[[nodiscard]] std::string short_text(std::string_view text);

}  // namespace edgegpu::gpu_health
