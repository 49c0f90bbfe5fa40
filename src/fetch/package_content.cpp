#include "fetch/package_content.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

Error changed(const std::string& shown) {
    return error(ErrorKind::fetch, "{} changed after it was verified", shown)
        .hinted("build again when nothing writes to it");
}

}  // namespace

UnpackLimit most_in_package(std::uint64_t size) {
    return most_unpacked(size, 64ULL << 20U, 500);
}

PackageContent::PackageContent(const std::filesystem::path& path, std::string shown)
    : shown_(std::move(shown)) {
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) {
        throw errno_error(shown_, errno);
    }
    file_ = open_regular(place.get(), shown_);
    state_ = state_of(file_.get(), shown_);
}

void PackageContent::renamed() {
    const FileState now = state_of(file_.get(), shown_);
    if (now.size != state_.size || now.modified != state_.modified) {
        throw changed(shown_);
    }
    state_ = now;
}

void PackageContent::require_unchanged(const std::string& sha256) const {
    if (state_of(file_.get(), shown_) != state_ && sha256_file(path()) != sha256) {
        throw changed(shown_);
    }
}

}  // namespace edgegpu
