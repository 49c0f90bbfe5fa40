#include <fmt/format.h>

#include "resolve/resolution.hpp"

namespace edgegpu {

std::string Nevra::evr() const {
    return epoch == 0 ? fmt::format("{}-{}", version, release)
                      : fmt::format("{}:{}-{}", epoch, version, release);
}

std::string Nevra::text() const {
    return fmt::format("{}-{}.{}", name, evr(), arch);
}

std::string ResolvedPackage::content_id() const {
    return checksum.algorithm == ChecksumAlgorithm::sha256 ? checksum.hex : checksum.text();
}

}  // namespace edgegpu
