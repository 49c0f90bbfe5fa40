#pragma once

#include <cstddef>
#include <string_view>

namespace edgegpu {

/// About how many bytes a part of a delta gets larger by this: as deflated at level 1.
[[nodiscard]] std::size_t deflated_size(std::string_view bytes);

/// Whether it hardly shrinks, by samples.
[[nodiscard]] bool is_compressed(std::string_view content);

/// Whether a sixteenth of the samples of `made` have something that is also in `old`: else
/// comparing them takes long, and gains little.
[[nodiscard]] bool is_alike(std::string_view old, std::string_view made);

}  // namespace edgegpu
