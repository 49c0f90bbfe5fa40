#pragma once

#include <filesystem>
#include <vector>

#include "resolve/search/universe.hpp"

namespace edgegpu {

/// If one of the policy `modules` uses macros, solves for the root in which they are compiled:
/// selinux-policy-devel of exactly the image's selinux-policy, checkpolicy, m4, make, and programs
/// that its Makefile calls. Without a solution the outcome becomes a failure that names the
/// module's file and line. The universe must still be filtered for the outcome.
void add_policy_root(const Universe& universe, const std::vector<std::filesystem::path>& modules,
                     Outcome& outcome);

}  // namespace edgegpu
