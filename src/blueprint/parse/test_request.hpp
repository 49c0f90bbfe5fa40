#pragma once

#include <filesystem>
#include <optional>

#include "blueprint/document/parameters.hpp"
#include "blueprint/test.hpp"

namespace edgegpu {

/// Reads `[test]` of a blueprint, and nothing else of it: whoever tests a commit need not have what
/// it was built from. Files that it names are there and can be read. Nothing if the blueprint has
/// no such table. Throws ErrorKind::usage with all mistakes, as parse_blueprint does.
[[nodiscard]] std::optional<TestRequest> load_test_request(const std::filesystem::path& blueprint,
                                                           const GivenParameters& parameters = {});

}  // namespace edgegpu
