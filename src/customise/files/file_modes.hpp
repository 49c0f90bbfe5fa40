#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blueprint/files.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "support/path_glob.hpp"

namespace edgegpu {

/// What is known of a file's mode and owner.
struct FileMode {
    /// Permission bits and owner that the blueprint sets for this file.
    std::optional<unsigned> said;
    bool owner_said = false;
    /// Permission bits in an archive.
    std::optional<unsigned> archived;
    /// What the file is without any of these: executable, or not.
    bool executable = false;
};

/// The modes and owners of the files of overlays and `[[customizations.files]]`: what the blueprint
/// sets, else what an archive has, else what the file's reader insists on
/// (blueprint/sources/path_modes.hpp), else 0755 or 0644. Notes what was not as it came, and warns
/// of what is set and would not be accepted.
class FileModes {
public:
    FileModes(const Context& ctx, const std::vector<SecretAllowance>& secrets);

    /// Sets mode and owner of `entry`, a file that will be at `path`; its owner is what it gets
    /// without a rule, and its content is there.
    void apply(const std::string& path, const FileMode& known, Entry& entry);
    /// Prints the notes.
    void finish() const;

private:
    const Context& ctx_;
    std::vector<PathGlob> secrets_;
    /// mode and reason → paths
    std::map<std::pair<unsigned, std::string>, std::vector<std::string>> noted_;
};

}  // namespace edgegpu
