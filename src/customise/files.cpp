#include "customise/files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "compose/account_files.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

bool is_below(std::string_view path, std::string_view top) {
    return path == top || (path.starts_with(top) && path[top.size()] == '/');
}

/// Refuses what a commit cannot hold. `path` is resolved inside the tree.
void check_carried(const std::string& where, std::string_view path) {
    static constexpr std::array<std::string_view, 7> mounted{"/proc", "/sys", "/dev",    "/run",
                                                             "/boot", "/tmp", "/sysroot"};
    for (const std::string_view top : mounted) {
        if (is_below(path, top)) {
            throw error(ErrorKind::usage, "{}: {} cannot be part of an image: {} is made at boot",
                        where, path, top)
                .hinted(
                    "put files below /usr or /etc, or have systemd-tmpfiles make them "
                    "(/usr/lib/tmpfiles.d)");
        }
    }
}

void check_not_local(const std::string& where, std::string_view path) {
    if (is_below(path, "/usr/local")) {
        throw error(ErrorKind::usage,
                    "{}: {}: /usr/local belongs to the device: it is a link to /var/usrlocal there",
                    where, path)
            .hinted("use /usr/bin, /usr/lib or /usr/share for what comes with the image");
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

/// A directory of the builder, listed without following links: relative path → status.
std::map<std::string, fs::file_status> list_directory(const std::string& where,
                                                      const fs::path& source) {
    std::map<std::string, fs::file_status> found;
    std::error_code code;
    fs::recursive_directory_iterator at(source, code);
    for (const fs::recursive_directory_iterator end; !code && at != end; at.increment(code)) {
        found.emplace(at->path().lexically_relative(source).string(), at->symlink_status(code));
    }
    if (code) {
        throw error(ErrorKind::usage, "{}: {}: {}", where, source.string(), code.message());
    }
    return found;
}

bool same_object(const Entry& a, const Entry& b) {
    return a.type == b.type && a.digest == b.digest && a.target == b.target;
}

/// One directory on its way into the tree.
struct DirectoryCopy {
    std::string where;
    fs::path source;
    /// "" for the image's root, or an absolute path
    std::string target;
    Owner owner;
    bool replace = false;
    bool links = true;
};

Entry read_object(const Context& ctx, const DirectoryCopy& copy, const fs::path& source,
                  const fs::file_status& status) {
    Entry entry;
    if (fs::is_directory(status)) {
        entry.type = EntryType::directory;
        entry.mode = 0755;
    } else if (fs::is_symlink(status)) {
        if (!copy.links) {
            throw error(ErrorKind::usage, "{}: {} is a symbolic link", copy.where, source.string())
                .hinted("a bundle holds plain files only");
        }
        entry.type = EntryType::symlink;
        entry.mode = 0777;
        entry.target = fs::read_symlink(source).string();
    } else if (fs::is_regular_file(status)) {
        const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
        entry = make_file_entry_from(ctx, source, runs ? 0755 : 0644);
    } else {
        throw error(ErrorKind::usage, "{}: {} is neither a file, a directory nor a link",
                    copy.where, source.string());
    }
    entry.uid = copy.owner.uid;
    entry.gid = copy.owner.gid;
    return entry;
}

/// Puts one object at `path`, or throws where something else is in its place.
void put_object(const DirectoryCopy& copy, Tree& tree, const std::string& path, Entry entry) {
    const std::string real = resolve_in_tree(tree, path, entry.type == EntryType::directory);
    check_carried(copy.where, real);
    check_not_local(copy.where, real);
    const auto existing = tree.entries.find(real);
    if (existing != tree.entries.end()) {
        const Entry& old = existing->second;
        if (entry.type == EntryType::directory && old.type == EntryType::directory) {
            return;  // the image's own mode and owner stay
        }
        if (entry.type == EntryType::directory || old.type == EntryType::directory) {
            throw error(ErrorKind::usage, "{}: {} is already in the image as a {}", copy.where,
                        path, old.type == EntryType::directory ? "directory" : "file or link");
        }
        if (!copy.replace && !same_object(old, entry)) {
            throw error(ErrorKind::usage, "{}: {} is already in the image", copy.where, path)
                .hinted("set 'replace = true' on the overlay if it shall win");
        }
        if (entry.type == EntryType::file && old.type == EntryType::file) {
            entry.mode |= old.mode & 0111U;  // a replaced program stays one
        }
    }
    put_entry(tree, real, entry);
}

void copy_directory(const Context& ctx, const DirectoryCopy& copy, Tree& tree) {
    for (const auto& [relative, status] : list_directory(copy.where, copy.source)) {
        ctx.check_cancelled();
        put_object(copy, tree, copy.target + "/" + relative,
                   read_object(ctx, copy, copy.source / relative, status));
    }
}

void put_requested(const Context& ctx, Tree& tree, const FileRequest& request) {
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
    const Owner owner = find_owner(tree, where, request.user, request.group);
    const auto existing = tree.entries.find(real);
    const bool exists = existing != tree.entries.end();
    Entry entry;
    if (request.directory) {
        if (exists && existing->second.type != EntryType::directory) {
            throw error(ErrorKind::usage, "{}: {} is in the image and not a directory", where,
                        path);
        }
        entry.type = EntryType::directory;
        entry.mode = request.mode.value_or(exists ? existing->second.mode : 0755);
    } else {
        if (exists && (existing->second.type == EntryType::directory || !is_below(real, "/etc"))) {
            throw error(ErrorKind::usage, "{}: {} is already in the image", where, path)
                .hinted(
                    "files outside /etc are replaced by an [[overlays]] with "
                    "'replace = true'");
        }
        entry = make_file_entry(ctx, request.data, request.mode.value_or(0644));
    }
    entry.uid = owner.uid;
    entry.gid = owner.gid;
    put_entry(tree, real, entry);
}

void check_kustomization(const BundleRequest& bundle) {
    static constexpr std::array<std::string_view, 3> names{"kustomization.yaml",
                                                           "kustomization.yml", "Kustomization"};
    const auto count = std::count_if(names.begin(), names.end(), [&](std::string_view name) {
        return fs::is_regular_file(fs::symlink_status(bundle.source / name));
    });
    if (count != 1) {
        throw error(ErrorKind::usage, "{}: bundle '{}' has {} kustomization files instead of one",
                    bundle.location.text(), bundle.name, count)
            .hinted(fmt::format("MicroShift reads {}/kustomization.yaml", bundle.source.string()));
    }
}

}  // namespace

void add_overlays(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    for (const OverlayRequest& overlay : blueprint.overlays) {
        const std::string where = overlay.location.text();
        if (!fs::is_directory(overlay.source)) {
            throw error(ErrorKind::usage, "{}: overlay {} is not a directory", where,
                        overlay.source.string());
        }
        DirectoryCopy copy;
        copy.where = where;
        copy.source = fs::canonical(overlay.source);
        copy.owner = find_owner(tree, where, overlay.user, overlay.group);
        copy.replace = overlay.replace;
        copy_directory(ctx, copy, tree);
    }
}

void add_files(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    for (const bool directories : {true, false}) {
        for (const FileRequest& request : blueprint.files) {
            if (request.directory == directories) {
                put_requested(ctx, tree, request);
            }
        }
    }
}

void add_bundles(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    for (std::size_t i = 0; i < blueprint.bundles.size(); ++i) {
        const BundleRequest& bundle = blueprint.bundles[i];
        check_kustomization(bundle);
        DirectoryCopy copy;
        copy.where = bundle.location.text();
        copy.source = fs::canonical(bundle.source);
        copy.target =
            i == 0 ? "/etc/microshift/manifests" : "/etc/microshift/manifests.d/" + bundle.name;
        copy.links = false;
        copy_directory(ctx, copy, tree);
    }
}

}  // namespace edgegpu
