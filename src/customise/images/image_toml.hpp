#pragma once

#include <string>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace edgegpu {

/// The TOML document of a file of the image; `name` is its path there, for messages. Throws
/// ErrorKind::usage if it is none, or nested deeper than any configuration is.
[[nodiscard]] toml::table parse_image_toml(const std::string& text, const std::string& name);

}  // namespace edgegpu
