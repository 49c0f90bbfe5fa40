#include "resolve/resolution.hpp"

namespace edgegpu {

std::string ResolvedPackage::content_id() const {
    return checksum.algorithm == ChecksumAlgorithm::sha256 ? checksum.hex : checksum.text();
}

std::vector<Nevra> packages_of_image(const Resolution& resolution) {
    std::vector<Nevra> all = resolution.parent ? resolution.parent->packages : std::vector<Nevra>();
    for (const ResolvedPackage& package : resolution.packages) {
        all.push_back(package.nevra);
    }
    return all;
}

std::vector<ResolvedImage> images_of_image(const Resolution& resolution) {
    std::vector<ResolvedImage> all = resolution.images;
    if (resolution.parent) {
        const std::vector<ResolvedImage>& more = resolution.parent->images;
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace edgegpu
