#pragma once

#include <string>
#include <vector>

#include "gpu_health/program/options.hpp"
#include "gpu_health/settings.hpp"
#include "gpu_health/tables/tables.hpp"

namespace edgegpu::gpu_health {

/// What was noticed beside the GPUs: files that cannot be read or written. Lines for the journal.
using Notes = std::vector<std::string>;

/// The settings of the image, and over them those of this machine. A file that is not what it
/// should be is noted and counts for nothing: that is no fault of a GPU.
[[nodiscard]] Settings load_settings(const Options& options, Notes& notes);

/// The tables of the program, and instead of them those of this machine; likewise.
[[nodiscard]] Tables load_tables(const Options& options, Notes& notes);

}  // namespace edgegpu::gpu_health
