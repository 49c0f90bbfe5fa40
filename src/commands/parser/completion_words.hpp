#pragma once

#include <filesystem>
#include <string>

namespace edgegpu {

/// What a shell may complete an argument to, one word a line: the refs of the repository `repo`
/// ("commits"), the names of the shipped bundles ("bundles"), or those parts of the names of GPUs
/// that are a letter and a number ("gpus": "A30", "L40S"). Throws Error for a repository that
/// cannot be read.
[[nodiscard]] std::string completion_words(const std::string& kind,
                                           const std::filesystem::path& repo);

}  // namespace edgegpu
