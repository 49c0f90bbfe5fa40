#include "customise/files/files.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "customise/files/overlays.hpp"
#include "image/account_files.hpp"
#include "image/content.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Throws for a path that a commit cannot contain; `path` has its links resolved inside the tree.
void check_carried(const std::string& where, std::string_view path) {
    static constexpr std::array<std::string_view, 7> mounted{"/proc", "/sys", "/dev",    "/run",
                                                             "/boot", "/tmp", "/sysroot"};
    for (const std::string_view top : mounted) {
        if (is_below(path, top)) {
            throw error(ErrorKind::usage, "{}: {} cannot be part of an image: {} is made at boot",
                        where, path, top)
                .hinted(
                    "put files below /usr or /etc, or have systemd-tmpfiles create them "
                    "(/usr/lib/tmpfiles.d)");
        }
    }
}

std::string normal_path(const std::string& where, const std::string& path) {
    const fs::path given(path);
    const bool climbs =
        std::any_of(given.begin(), given.end(), [](const fs::path& part) { return part == ".."; });
    std::string normal = given.lexically_normal().string();
    if (normal.size() > 1 && normal.back() == '/') {
        normal.pop_back();
    }
    if (!given.is_absolute() || climbs || normal == "/" || path.find('\0') != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not an absolute path without '..'", where, path);
    }
    return normal;
}

void put_requested(const Context& ctx, Tree& tree, FileModes& modes, const FileRequest& request) {
    const std::string where = request.location.text();
    const std::string path = normal_path(where, request.path);
    const std::string real = resolve_in_tree(tree, path, request.directory);
    check_carried(where, real);
    const std::string parent = fs::path(real).parent_path().string();
    if (!request.ensure_parents && find_entry(tree, parent) == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no directory '{}' for {}", where, parent,
                    path)
            .hinted(
                "add it with [[customizations.directories]], or set 'ensure_parents = true' "
                "there");
    }
    Owner owner =
        find_owner(tree, where, request.user.value_or("root"), request.group.value_or("root"));
    const auto existing = tree.entries.find(real);
    const bool exists = existing != tree.entries.end();
    Entry entry;
    if (request.directory) {
        if (exists && existing->second.type != EntryType::directory) {
            throw error(ErrorKind::usage, "{}: {} exists in the image and is not a directory",
                        where, path);
        }
        entry.type = EntryType::directory;
        entry.mode = request.mode.value_or(exists ? existing->second.mode : 0755);
        // A directory that is there is its package's, but for what is said.
        owner.uid = exists && !request.user ? existing->second.uid : owner.uid;
        owner.gid = exists && !request.group ? existing->second.gid : owner.gid;
    } else {
        if (exists && (existing->second.type == EntryType::directory || !is_below(real, "/etc"))) {
            throw error(ErrorKind::usage, "{}: {} is already in the image", where, path)
                .hinted(
                    "use [[overlays]] with 'replace = true' to replace files outside of "
                    "/etc");
        }
        require_stored(request.source.empty() || request.stored, request.source);
        entry = request.stored ? make_stored_entry(*request.stored, 0644)
                               : make_file_entry(ctx, request.data, 0644);
    }
    entry.uid = owner.uid;
    entry.gid = owner.gid;
    if (!request.directory) {
        modes.apply(path, {request.mode, owner.uid != 0, {}, false}, entry);
    }
    put_entry(tree, real, entry);
}

Error manifest_exists(const SourceLocation& location, const std::string& path) {
    return error_at(location, "{} is already in the image, where the bundles are to be", path)
        .hinted(
            "make a bundle of the manifests that the parent, an overlay, a file or a package has "
            "there, or put the bundles elsewhere: [microshift] manifests = "
            "\"/etc/microshift/manifests.d\"");
}

}  // namespace

void add_files(const Context& ctx, const std::vector<FileRequest>& files, FileModes& modes,
               Tree& tree) {
    for (const bool directories : {true, false}) {
        for (const FileRequest& request : files) {
            if (request.directory == directories) {
                put_requested(ctx, tree, modes, request);
            }
        }
    }
}

void add_manifests(const Context& ctx, const SourceLocation& location,
                   const std::map<std::string, std::string>& manifests, Tree& tree) {
    // A directory with two of these is refused by MicroShift as a whole.
    static constexpr std::array<std::string_view, 3> kustomizations{
        "kustomization.yaml", "kustomization.yml", "Kustomization"};
    for (const auto& [path, content] : manifests) {
        const fs::path file(path);
        const bool kustomization = std::find(kustomizations.begin(), kustomizations.end(),
                                             file.filename().string()) != kustomizations.end();
        std::vector<std::string> taken{path};
        for (const std::string_view name : kustomizations) {
            if (kustomization) {
                taken.push_back((file.parent_path() / name).string());
            }
        }
        for (const std::string& other : taken) {
            if (find_entry(tree, other) != nullptr && !manifests.contains(other)) {
                throw manifest_exists(location, other);
            }
        }
        if (find_entry(tree, path) != nullptr) {
            throw manifest_exists(location, path);
        }
        put_entry(tree, path, make_file_entry(ctx, content, 0644));
    }
}

}  // namespace edgegpu
