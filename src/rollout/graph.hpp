#pragma once

#include <string>
#include <string_view>

#include "rollout/plan.hpp"

namespace edgegpu {

/// The largest graph.json that is read.
inline constexpr std::uint64_t largest_graph = 8ULL << 20U;

/// The file /graph.json of a plan: the graph as Cincinnati and Zincati have it, with edgegpu's own
/// keys for what devices do not ask for. Edges that are barred for some GPUs are conditional ones,
/// since other clients cannot tell.
[[nodiscard]] std::string graph_text(const RolloutPlan& plan);

/// Adds to a plan, as its /plan has it, what graph.json has besides; `shown` is its name. Throws
/// Error for what is no such file.
void add_graph(RolloutPlan& plan, std::string_view text, const std::string& shown);

}  // namespace edgegpu
