#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "cache/stored_file.hpp"
#include "support/source_location.hpp"

/// Files of the build machine that a blueprint uses, and its SELinux policy.
namespace edgegpu {

/// A file or directory of `[[customizations.files]]` / `directories`.
struct FileRequest {
    std::string path;
    /// Names or ids in the image; unset: root, and what a directory has that is there.
    std::optional<std::string> user;
    std::optional<std::string> group;
    /// Permission bits; unset: `usual_mode` for files, 0755 for directories, and what one has that
    /// is there.
    std::optional<unsigned> mode;
    std::string data;
    /// Absolute path on the build machine (`uri = "file://…"`) of the content; then `data` is
    /// empty.
    std::filesystem::path source;
    /// Copy of `source` (`take_snapshot`).
    std::optional<StoredFile> stored;
    bool directory = false;
    bool ensure_parents = false;
    SourceLocation location;
};

/// `[[overlays.rules]]`: attributes for the objects of an overlay whose path in the image matches.
struct OverlayRule {
    /// fnmatch(3) pattern for absolute paths in the image; '*' does not match '/', "**" does.
    std::string path;
    /// Names or ids in the image; unset: those of the overlay.
    std::optional<std::string> user;
    std::optional<std::string> group;
    /// Permission bits; unset: 0755 for directories, those of an archive's member, or `usual_mode`.
    std::optional<unsigned> mode;
    /// SELinux type ("bin_t") or full context; a local file context preserves it on the device.
    /// Empty: as the policy specifies.
    std::string label;
    SourceLocation location;
};

/// `[[overlays]]`: a directory or an archive whose content is added to the tree.
struct OverlayRequest {
    /// A directory or a tar archive (plain, gzip, xz, zstd, bzip2), absolute, resolved against the
    /// blueprint's directory.
    std::filesystem::path source;
    /// Copy of `source`; null before `take_snapshot`.
    std::shared_ptr<const StoredSource> stored;
    /// Directory in the image to which its content is added.
    std::string target = "/";
    /// Number of leading path components to remove, as tar's --strip-components.
    unsigned strip_components = 0;
    /// Owner of all objects, names or ids in the image.
    std::string user = "root";
    std::string group = "root";
    /// Whether it may replace files of packages.
    bool replace = false;
    /// For each attribute, the last matching rule wins.
    std::vector<OverlayRule> rules;
    SourceLocation location;
};

/// `[[allow_secrets]]`: a file of the image that may have a secret, which everybody then has who
/// gets the image.
struct SecretAllowance {
    /// Pattern of paths in the image, as that of an OverlayRule.
    std::string path;
    /// Secret of one machine that this allows, and nothing else, in the file of exactly that path:
    /// one of machine_secret (support/written_secrets.hpp). Empty: all other secrets.
    std::string kind;
    /// Why everybody may have it.
    std::string reason;
    SourceLocation location;
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
    /// Locations of `modules`, in the same order.
    std::vector<SourceLocation> module_locations;
    std::map<std::string, bool> booleans;
    /// Rules that the final policy must or must not contain.
    std::vector<PolicyRuleRequest> require;
    std::vector<PolicyRuleRequest> forbid;
    /// Allow ordinary containers (container_t) to use the GPU; the boolean or module for that is
    /// chosen by what the image's policy contains.
    bool gpu_containers = false;
    /// Copy of the module that gpu_containers may need; empty before `take_snapshot`.
    std::filesystem::path map_module;
    SourceLocation location;
};

}  // namespace edgegpu
