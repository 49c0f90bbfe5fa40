#pragma once

#include "blueprint/test.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// The largest program of a check, in bytes.
inline constexpr std::uint64_t largest_test_check = 4U << 20U;

/// `[test]`: paths are relative to the blueprint. Notes mistakes.
[[nodiscard]] TestRequest read_test_table(const TableReader& table, const ParseScope& scope);

/// Adds a mistake for each file that is not there, cannot be read, is empty or too large.
void find_mistakes(const TestRequest& test, Mistakes& mistakes);

}  // namespace edgegpu
