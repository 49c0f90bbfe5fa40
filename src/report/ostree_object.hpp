#pragma once

#include <string>

#include "support/glib.hpp"

namespace edgegpu {

/// The same object as a variant that checks what it is made of: libostree marks what it reads as
/// trusted, and then a string without its NUL is read beyond its end.
[[nodiscard]] VariantHandle untrusted(GVariant* object);

/// The checksum in child `index` of a tuple, in hexadecimal; empty where it is none.
[[nodiscard]] std::string checksum_in(GVariant* tuple, gsize index);

}  // namespace edgegpu
