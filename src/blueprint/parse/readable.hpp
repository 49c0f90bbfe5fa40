#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/source_location.hpp"

namespace edgegpu {

/// What messages call a policy module, whose hint is about the shipped ones.
inline constexpr std::string_view policy_module_text = "policy module";

[[nodiscard]] bool exists_as_directory(const std::filesystem::path& path);

/// Throws unless the file is readable. Files in /etc/pki and /etc/rhsm only exist on subscribed
/// build machines and are not checked, so that a blueprint that names them can be checked anywhere.
void require_readable(const SourceLocation& location, std::string_view what,
                      const std::string& path);

}  // namespace edgegpu
