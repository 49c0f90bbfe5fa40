#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/glib.hpp"

namespace edgegpu {

/// The same object as a variant whose data are checked. libostree marks variants as trusted, for
/// which GLib would read a string without a NUL beyond its end.
[[nodiscard]] VariantHandle untrusted(GVariant* object);

/// The checksum in child `index` of a tuple, in hexadecimal; empty if it is not one.
[[nodiscard]] std::string checksum_in(GVariant* tuple, gsize index);

/// The value of a key of a commit's metadata, an a{sv}, of that type; null if there is none. Throws
/// Error if it has another type: what is ignored would be missing in what is made of the commit.
/// `commit` is its name.
[[nodiscard]] VariantHandle metadata_value(GVariant* metadata, const char* key, const char* type,
                                           std::string_view commit);

/// The same for a text, which has at most 4 KiB; empty if there is none.
[[nodiscard]] std::string metadata_text(GVariant* metadata, const char* key,
                                        std::string_view commit);

/// The same for a list of texts; nothing if there is none.
[[nodiscard]] std::optional<std::vector<std::string>> metadata_texts(GVariant* metadata,
                                                                     const char* key,
                                                                     std::string_view commit);

}  // namespace edgegpu
