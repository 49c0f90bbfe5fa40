#pragma once

#include <string>
#include <vector>

#include "blueprint/image_settings.hpp"
#include "commands/commands.hpp"
#include "image_file/image.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What the options of `edgegpu image` and its blueprint say, of everything that both can.
struct ImageChoices {
    ImageSettings settings;
    ImageSources sources;
    /// nothing: the image is not signed
    std::optional<ImageKey> key;
    /// PCI id of each GPU of a device, as far as `[nvidia]` says; "": a GPU of an unknown model
    std::vector<std::string> cards;
    /// whether they are virtual GPUs (`[nvidia.vgpu]`)
    bool virtual_gpus = false;
    /// whether modules are signed for Secure Boot (`[nvidia.secure_boot]`)
    bool secure_boot = false;
};

/// Reads the blueprint of `command`, if it names one, and lets options take precedence over its
/// settings. Warns if blueprint or lockfile are not those of `commit`. Throws ErrorKind::usage, at
/// line and column for mistakes in the blueprint.
[[nodiscard]] ImageChoices choose_image(const ImageCommand& command, const CommitView& commit,
                                        Console& console);

/// Throws ErrorKind::usage, at line and column, for settings of images that are wrong by rules that
/// reading the blueprint does not know.
void check_image_settings(const Blueprint& blueprint);

}  // namespace edgegpu
