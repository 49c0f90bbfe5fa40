#include "support/text/nevra.hpp"

#include <fmt/format.h>

namespace edgegpu {

std::string Nevra::evr() const {
    return epoch == 0 ? fmt::format("{}-{}", version, release)
                      : fmt::format("{}:{}-{}", epoch, version, release);
}

std::string Nevra::text() const {
    return fmt::format("{}-{}.{}", name, evr(), arch);
}

}  // namespace edgegpu
