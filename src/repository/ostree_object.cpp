#include "repository/ostree_object.hpp"

#include "support/text.hpp"

namespace edgegpu {

namespace {

using BytesHandle = Handle<GBytes, g_bytes_unref>;

constexpr std::size_t checksum_size = 32;

}  // namespace

VariantHandle untrusted(GVariant* object) {
    const BytesHandle bytes(g_variant_get_data_as_bytes(object));
    return own(g_variant_new_from_bytes(g_variant_get_type(object), bytes.get(), FALSE));
}

std::string checksum_in(GVariant* tuple, gsize index) {
    const VariantHandle bytes(g_variant_get_child_value(tuple, index));
    gsize size = 0;
    const auto* data =
        static_cast<const guint8*>(g_variant_get_fixed_array(bytes.get(), &size, sizeof(guint8)));
    if (size != checksum_size) {
        return {};
    }
    return hexadecimal({reinterpret_cast<const char*>(data), size});
}

}  // namespace edgegpu
