#pragma once

#include <filesystem>
#include <string>

#include "support/context.hpp"

namespace edgegpu {

/// The directory of files that stand for the builder's in every sandbox of one kernel: `uname`, a
/// script that answers for it; `osrelease`, `kernel-version`, `version` and `cmdline` of /proc;
/// `launcher` (launcher.cpp); and `empty`. Written once under a name that their content decides, so
/// that sandboxes may start side by side. Throws Error if `kernel` is no kernel release; it may be
/// empty.
[[nodiscard]] std::filesystem::path machine_files(const Context& ctx, const std::string& kernel);

}  // namespace edgegpu
