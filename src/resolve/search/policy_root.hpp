#pragma once

#include <filesystem>
#include <vector>

#include "resolve/search/universe.hpp"

namespace edgegpu {

/// Solves for the root in which the blueprint's policy `modules` are compiled, where one of them
/// uses macros: selinux-policy-devel of exactly the image's selinux-policy, and with it
/// checkpolicy, m4, make and what their recipes call. Where that cannot be had, the outcome becomes
/// a failure that names the module's file and line. The universe still has to be filtered for the
/// outcome.
void add_policy_root(const Universe& universe, const std::vector<std::filesystem::path>& modules,
                     Outcome& outcome);

}  // namespace edgegpu
