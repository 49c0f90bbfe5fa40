#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <glib-object.h>
#include <ostree.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

using VariantHandle = Handle<GVariant, g_variant_unref>;
using RepoHandle = Handle<OstreeRepo, g_object_unref>;
using FileHandle = Handle<GFile, g_object_unref>;
using TextHandle = Handle<char, g_free>;

/// Takes a GError from a C call: `call(…, failure.out())`.
class GlibFailure {
public:
    GlibFailure() = default;
    GlibFailure(const GlibFailure&) = delete;
    GlibFailure& operator=(const GlibFailure&) = delete;
    ~GlibFailure() { g_clear_error(&error_); }

    /// Where the C call puts its error; clears an earlier one.
    [[nodiscard]] GError** out() noexcept {
        g_clear_error(&error_);
        return &error_;
    }
    [[nodiscard]] const GError* get() const noexcept { return error_; }
    /// Whether the error is the GIOError `code`.
    [[nodiscard]] bool is(GIOErrorEnum code) const noexcept {
        return g_error_matches(error_, G_IO_ERROR, code) != FALSE;
    }
    /// The Error "WHAT: message"; a full disk reads "REPOSITORY: no space left on device".
    [[nodiscard]] Error to_error(std::string_view repository, std::string_view what) const;

private:
    GError* error_ = nullptr;
};

/// The Error for a full disk below `place`.
[[nodiscard]] Error disk_full(std::string_view place);

/// The Error for errno `code` of a write to `path` inside `place`: `disk_full(place)` for ENOSPC
/// and EDQUOT, else "PATH: strerror".
[[nodiscard]] Error write_error(std::string_view place, std::string_view path, int code);

/// The bytes of a variant, valid as long as it is; none of a null one.
[[nodiscard]] inline std::string_view bytes_of(GVariant* variant) {
    return variant == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(g_variant_get_data(variant)),
                                  g_variant_get_size(variant));
}

/// The value of this type whose bytes these are (copied); null if they are not its normal form.
[[nodiscard]] VariantHandle variant_from(const GVariantType* type, std::string_view bytes);

/// The children of a container; none of a null one.
[[nodiscard]] std::vector<VariantHandle> children_of(GVariant* container);

/// The keys and values of an a{sv}, in its order; none of a null one.
[[nodiscard]] std::vector<std::pair<std::string, VariantHandle>> entries_of(GVariant* dictionary);

/// Takes ownership of a floating variant.
[[nodiscard]] inline VariantHandle own(GVariant* variant) {
    return VariantHandle(g_variant_ref_sink(variant));
}

}  // namespace edgegpu
