#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/image_blueprint.hpp"
#include "image_file/image.hpp"

namespace edgegpu {

/// A file of a virtual machine that starts the image.
struct MachineFile {
    /// "domain" or "vmx"
    std::string kind;
    std::filesystem::path path;
    std::string text;
};

/// What `--domain` and `--vmx` ask for. Warns of GPUs of which the sizes of BARs are not known.
/// Throws ErrorKind::usage for an image that such a machine cannot start as it is, for options that
/// say nothing without these two, and for files that exist, unless the image replaces them.
[[nodiscard]] std::vector<MachineFile> machine_files(const ImageCommand& command,
                                                     const ImageRequest& request,
                                                     const ImageChoices& choices, Console& console);

/// Each file appears under its name when it is complete.
void write_machine_files(const std::vector<MachineFile>& files, bool replace);

}  // namespace edgegpu
