#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "publish/prune_plan.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// `--keep` and `--grace` as a request. Throws ErrorKind::usage.
[[nodiscard]] PruneRequest prune_request(const std::filesystem::path& repository, unsigned keep,
                                         const std::string& grace);

/// A plan as text, one line for each commit, delta and sum, and as a part of a document.
[[nodiscard]] std::string prune_text(const PrunePlan& plan, const PruneRequest& request);
[[nodiscard]] nlohmann::ordered_json prune_json(const PrunePlan& plan, const PruneRequest& request);

}  // namespace edgegpu
