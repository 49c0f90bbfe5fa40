#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// Applies one call of grubby by a scriptlet ("grubby", "--update-kernel=ALL", "--args=a b",
/// "--remove-args=c") to the kernel arguments gathered so far, as grubby(8) would to a boot
/// loader's entry: an argument that is there already stays where it is, a name without a value
/// removes the argument whatever its value. Other options change nothing.
void apply_grubby_call(const std::vector<std::string>& call, std::vector<std::string>& arguments);

/// Adds the arguments that are not there yet, in order.
void add_kernel_arguments(const std::vector<std::string>& more,
                          std::vector<std::string>& arguments);

}  // namespace edgegpu
