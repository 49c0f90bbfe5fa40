#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "support/source_location.hpp"
#include "support/stored_file.hpp"

/// What a blueprint takes from files of the builder, and its policy.
namespace edgegpu {

/// A file or directory of `[[customizations.files]]` / `directories`.
struct FileRequest {
    std::string path;
    std::string user = "root";
    std::string group = "root";
    /// Permission bits; unset: 0644 for files, 0755 for directories.
    std::optional<unsigned> mode;
    std::string data;
    /// File of the builder (`uri = "file://…"`), absolute, whose content it gets instead of `data`.
    std::filesystem::path source;
    /// The content of `source` as the build took it (pipeline/snapshot.hpp).
    std::optional<StoredFile> stored;
    bool directory = false;
    bool ensure_parents = false;
    SourceLocation location;
};

/// `[[overlays.rules]]`: what the objects of an overlay get whose path in the image matches.
struct OverlayRule {
    /// fnmatch(3) pattern of absolute paths in the image; '*' stops at '/', "**" does not.
    std::string path;
    /// Names in the image; unset: the overlay's own.
    std::optional<std::string> user;
    std::optional<std::string> group;
    /// Permission bits; unset: 0755 for directories and programs, 0644 for other files.
    std::optional<unsigned> mode;
    /// SELinux type ("bin_t") or whole context, which a local file context keeps on the device;
    /// empty: what the policy says.
    std::string label;
    SourceLocation location;
};

/// `[[overlays]]`: a directory or an archive put over the tree.
struct OverlayRequest {
    /// A directory or a tar archive (plain, gzip, xz, zstd, bzip2), absolute, resolved against the
    /// blueprint's directory.
    std::filesystem::path source;
    /// What lay there as the build took it (pipeline/snapshot.hpp); null before.
    std::shared_ptr<const StoredSource> stored;
    /// Directory of the image that its top becomes.
    std::string target = "/";
    /// Leading parts of every path to drop, as tar's --strip-components.
    unsigned strip_components = 0;
    /// Owner of everything in it, names in the image.
    std::string user = "root";
    std::string group = "root";
    /// Files of packages may be replaced.
    bool replace = false;
    /// The last rule that fits wins, key by key.
    std::vector<OverlayRule> rules;
    SourceLocation location;
};

/// `[[microshift.bundles]]`: a kustomize bundle, absolute directory and its name.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
    /// What lay there as the build took it; null before.
    std::shared_ptr<const StoredSource> stored = nullptr;
};

/// A rule of `[selinux] require` or `forbid`: "allow S T:C { perms };".
struct PolicyRuleRequest {
    std::string text;
    SourceLocation location;
};

/// `[selinux]`.
struct SelinuxRequest {
    /// Absolute paths of `.te`, `.cil`, `.pp` or `.pp.bz2` files.
    std::vector<std::filesystem::path> modules;
    std::map<std::string, bool> booleans;
    /// Rules that the finished policy must have, and must not have.
    std::vector<PolicyRuleRequest> require;
    std::vector<PolicyRuleRequest> forbid;
    /// Ordinary containers (container_t) may use the GPU: boolean and module are chosen from what
    /// the image's policy contains.
    bool gpu_containers = false;
    /// The module that gpu_containers may need, as the build took it; empty before.
    std::filesystem::path map_module;
    SourceLocation location;
};

}  // namespace edgegpu
