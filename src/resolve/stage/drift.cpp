#include "resolve/stage/drift.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

void throw_drift(const Drift& drift) {
    constexpr std::size_t most = 20;
    Error failure = error(ErrorKind::unsolvable, "cannot build the lockfile unchanged");
    for (std::size_t i = 0; i < drift.size() && i < most; ++i) {
        failure.traced(drift[i]);
    }
    if (drift.size() > most) {
        failure.traced(fmt::format("and {} more", drift.size() - most));
    }
    throw failure.hinted("build without --locked to resolve again and write a new lockfile");
}

void stop_at(const Drift& drift) {
    if (!drift.empty()) {
        throw_drift(drift);
    }
}

}  // namespace edgegpu
