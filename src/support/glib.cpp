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

std::vector<VariantHandle> children_of(GVariant* container) {
    std::vector<VariantHandle> children(container == nullptr ? 0 : g_variant_n_children(container));
    for (std::size_t i = 0; i < children.size(); ++i) {
        children[i].reset(g_variant_get_child_value(container, i));
    }
    return children;
}

std::vector<std::pair<std::string, VariantHandle>> entries_of(GVariant* dictionary) {
    std::vector<std::pair<std::string, VariantHandle>> entries;
    for (const VariantHandle& pair : children_of(dictionary)) {
        const char* key = nullptr;
        GVariant* value = nullptr;
        g_variant_get(pair.get(), "{&sv}", &key, &value);
        entries.emplace_back(key, value);
    }
    return entries;
}

}  // namespace edgegpu
