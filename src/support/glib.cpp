#include "support/glib.hpp"

#include <cerrno>
#include <utility>

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

VariantHandle variant_from(const GVariantType* type, std::string_view bytes) {
    const Handle<GBytes, g_bytes_unref> copy(g_bytes_new(bytes.data(), bytes.size()));
    VariantHandle value = own(g_variant_new_from_bytes(type, copy.get(), FALSE));
    return g_variant_is_normal_form(value.get()) != FALSE ? std::move(value) : nullptr;
}

Error GlibFailure::to_error(std::string_view repository, std::string_view what) const {
    if (is(G_IO_ERROR_NO_SPACE)) {
        return disk_full(repository);
    }
    return error("{}: {}: {}", repository, what,
                 error_ != nullptr ? error_->message : "unknown error");
}

}  // namespace edgegpu
