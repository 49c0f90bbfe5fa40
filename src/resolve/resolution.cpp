#include "resolve/resolution.hpp"

namespace edgegpu {

std::string ResolvedPackage::content_id() const {
    return checksum.algorithm == ChecksumAlgorithm::sha256 ? checksum.hex : checksum.text();
}

}  // namespace edgegpu
