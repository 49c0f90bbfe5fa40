#pragma once

#include <string>
#include <string_view>

#include "selinux/policy/policy_data.hpp"

namespace edgegpu::selinux {

/// A policy as bytes, for another process of the same program on the same machine.
[[nodiscard]] std::string pack_policy(const PolicyData& policy);

/// The policy in what pack_policy returned. Throws Error if it is cut off.
[[nodiscard]] PolicyData unpack_policy(std::string_view bytes);

}  // namespace edgegpu::selinux
