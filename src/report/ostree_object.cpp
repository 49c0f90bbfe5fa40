#include "report/ostree_object.hpp"

#include "support/text.hpp"

namespace edgegpu {

namespace {

using BytesHandle = Handle<GBytes, g_bytes_unref>;

constexpr std::size_t checksum_size = 32;
/// Versions, names of kernels and drivers, kernel arguments.
constexpr std::size_t longest_text = 4096;

std::string checked_text(const char* text, const char* key, std::string_view commit) {
    std::string result(text);
    if (result.size() > longest_text) {
        throw error("commit {}: a text in '{}' of its metadata has {} bytes", commit, key,
                    result.size())
            .hinted("where does this commit come from?");
    }
    return result;
}

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

VariantHandle metadata_value(GVariant* metadata, const char* key, const char* type,
                             std::string_view commit) {
    VariantHandle value(g_variant_lookup_value(metadata, key, nullptr));
    if (value && g_variant_is_of_type(value.get(), G_VARIANT_TYPE(type)) == FALSE) {
        throw error("commit {}: '{}' of its metadata has the type {}, not {}", commit, key,
                    g_variant_get_type_string(value.get()), type)
            .hinted("it was not written by edgegpu: where does this commit come from?");
    }
    return value;
}

std::string metadata_text(GVariant* metadata, const char* key, std::string_view commit) {
    const VariantHandle value = metadata_value(metadata, key, "s", commit);
    return value ? checked_text(g_variant_get_string(value.get(), nullptr), key, commit)
                 : std::string();
}

std::optional<std::vector<std::string>> metadata_texts(GVariant* metadata, const char* key,
                                                       std::string_view commit) {
    const VariantHandle value = metadata_value(metadata, key, "as", commit);
    if (!value) {
        return std::nullopt;
    }
    std::vector<std::string> texts;
    for (gsize i = 0; i < g_variant_n_children(value.get()); ++i) {
        const char* text = nullptr;
        g_variant_get_child(value.get(), i, "&s", &text);
        texts.push_back(checked_text(text, key, commit));
    }
    return texts;
}

}  // namespace edgegpu
