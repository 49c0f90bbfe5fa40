#pragma once

#include <filesystem>
#include <string>

#include "execution/context.hpp"

namespace edgegpu {

/// The directory of files that replace the builder's in the sandbox: `uname`, a script that reports
/// `kernel`; `osrelease`, `kernel-version`, `version` and `cmdline` of /proc; `launcher`
/// (launcher.cpp); and `empty`. It is written once for each kernel, with a name that depends on the
/// content. Throws Error if `kernel` is not a kernel release; it may be empty.
[[nodiscard]] std::filesystem::path machine_files(const Context& ctx, const std::string& kernel);

}  // namespace edgegpu
