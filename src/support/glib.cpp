#include "support/glib.hpp"

#include <cerrno>

namespace edgegpu {

Error disk_full(std::string_view place) {
    return error("{}: no space left on device", place)
        .hinted("free some space, and run the command again");
}

Error write_error(std::string_view place, std::string_view path, int code) {
    if (code == ENOSPC || code == EDQUOT) {
        return disk_full(place);
    }
    return errno_error(path, code);
}

Error GlibFailure::to_error(std::string_view repository, std::string_view what) const {
    if (is(G_IO_ERROR_NO_SPACE)) {
        return disk_full(repository);
    }
    return error("{}: {}: {}", repository, what,
                 error_ != nullptr ? error_->message : "unknown error");
}

}  // namespace edgegpu
