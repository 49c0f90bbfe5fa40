#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// Applies one call of grubby by a scriptlet ("grubby", "--update-kernel=ALL", "--args=a b",
/// "--remove-args=c") to `arguments`, as grubby(8) would to a boot loader entry: an existing
/// argument stays where it is, and a name without a value removes the argument with any value.
/// Other options are ignored.
void apply_grubby_call(const std::vector<std::string>& call, std::vector<std::string>& arguments);

/// Appends those of `more` that `arguments` does not have, in order.
void add_kernel_arguments(const std::vector<std::string>& more,
                          std::vector<std::string>& arguments);

/// Why no boot entry can have these arguments, as a sentence; empty if one can. An argument must be
/// one word or have its blanks in double quotes, must not mean something else to GRUB ($, and
/// outside of quotes ; & | < >), must not be one that the writer of the entry sets
/// (boot_argument_reason), and all of them together must leave room for those in the line of 2,047
/// bytes that Linux reads (COMMAND_LINE_SIZE of x86_64 and arm64): it drops the rest in silence.
[[nodiscard]] std::string kernel_arguments_problem(const std::vector<std::string>& arguments);

}  // namespace edgegpu
