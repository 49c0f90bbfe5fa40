#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"
#include "commands/commands.hpp"

namespace edgegpu {

// Where a build writes.

/// The absolute path of the lockfile that a build writes if it is told none: the blueprint's, with
/// ".lock" for its extension, or a file of that name in `directory` unless that is empty. If the
/// command line gives parameters, one blueprint makes images of several refs, and the ref is part
/// of the name, with '+' for '/'.
[[nodiscard]] std::filesystem::path usual_lockfile(const std::filesystem::path& blueprint,
                                                   const GivenParameters& parameters,
                                                   const std::string& ref,
                                                   const std::filesystem::path& directory = {});

/// The lockfile that the build is to write or, with --locked, to read; absolute. Warns of one that
/// is still beside the repository. Throws ErrorKind::usage if it cannot be written, is the
/// blueprint or in the image or, with --locked, is only beside the repository.
[[nodiscard]] std::filesystem::path lockfile_of(const BuildCommand& command,
                                                const Blueprint& blueprint, Console& console);

/// Throws if the parent of `[parent]` is the ref of `repo` that is built.
void require_another_ref(const Blueprint& blueprint, const std::filesystem::path& repo);

/// Throws ErrorKind::usage if a lockfile that is written at `lockfile` would replace the file of
/// the blueprint, or be in its next image.
void require_lockfile_apart(const Blueprint& blueprint, const std::filesystem::path& lockfile);

/// Throws ErrorKind::usage if `written`, the `what` that this build writes, lies in a directory
/// that goes into the image: the next build would make another image of the same blueprint.
void require_outside_of_image(const Blueprint& blueprint, std::string_view what,
                              const std::filesystem::path& written);

}  // namespace edgegpu
