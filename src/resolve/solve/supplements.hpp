#pragma once

#include <string>
#include <vector>

#include "resolve/metadata/solv.hpp"

namespace edgegpu {

/// Completes what libsolv does with SUSE's Supplements when it reads metadata:
/// "modalias(PKG:BUS:…)" becomes PKG and namespace:modalias(BUS:…), "modalias(BUS:…)" the namespace
/// alone. Old releases (0.7.23) leave those within rich dependencies as they are.
void rewrite_supplements(Repo* repo);

/// The patterns of namespace:modalias(…) in a package's Supplements, as they are written.
[[nodiscard]] std::vector<std::string> alias_patterns(Pool* pool, Id package);

}  // namespace edgegpu
