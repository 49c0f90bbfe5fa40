#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "log/console.hpp"
#include "pipeline/pipeline.hpp"

namespace edgegpu {

/// What `build --json` prints: docs/schemas/build.json.
[[nodiscard]] std::string build_document(const BuildResult& result, const Blueprint& blueprint,
                                         const BuildOptions& options, const Console& console);

/// What people read of a build that has succeeded: its commit, what it consists of, and the
/// commands that come next.
[[nodiscard]] std::string build_summary(const BuildResult& result, const Blueprint& blueprint,
                                        const BuildOptions& options, const Console& console);

}  // namespace edgegpu
