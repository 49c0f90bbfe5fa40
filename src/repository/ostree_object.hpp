#pragma once

#include <string>

#include "support/glib.hpp"

namespace edgegpu {

/// The same object as a variant whose data are checked. libostree marks variants as trusted, for
/// which GLib would read a string without a NUL beyond its end.
[[nodiscard]] VariantHandle untrusted(GVariant* object);

/// The checksum in child `index` of a tuple, in hexadecimal; empty if it is not one.
[[nodiscard]] std::string checksum_in(GVariant* tuple, gsize index);

}  // namespace edgegpu
