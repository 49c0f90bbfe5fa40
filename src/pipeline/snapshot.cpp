#include "pipeline/snapshot.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "cache/stored_file.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Opens a path of the blueprint with O_PATH; symbolic links in it are followed.
Fd open_place(const SourceLocation& location, std::string_view what, const fs::path& path) {
    Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) {
        const int code = errno;
        throw code == ENOENT ? error_at(location, "{} not found: {}", what, path.string())
                             : error_at(location, "{} {}: {}", what, path.string(),
                                        std::generic_category().message(code));
    }
    return place;
}

StoredFile take_file(const Context& ctx, const SourceLocation& location, std::string_view what,
                     const fs::path& path) {
    const Fd place = open_place(location, what, path);
    const struct stat status = status_of(place.get(), path.string());
    if (!S_ISREG(status.st_mode)) {
        throw error_at(location, "{} {} is not a regular file", what, path.string());
    }
    const Fd file = open_regular(place.get(), path.string());
    return store_file(ctx, file.get(), path.string());
}

/// Copies one directory into the cache.
class Taking {
public:
    Taking(const Context& ctx, const SourceLocation& location, std::string_view what,
           const fs::path& path)
        : ctx_(ctx), location_(location), what_(what), path_(path) {}

    [[nodiscard]] StoredSource take(int place) {
        walk_source(
            path_of_descriptor(place), true, [&](const SourceObject& object) { add(object); },
            [&](std::string_view name, std::string_view reason) { return refused(name, reason); });
        return std::move(result_);
    }

private:
    [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
        return name.empty()
                   ? error_at(location_, "{} {}: {}", what_, path_.string(), reason)
                   : error_at(location_, "{} {}: \"{}\" {}", what_, path_.string(), name, reason);
    }

    void add(const SourceObject& object) {
        ctx_.check_cancelled();
        if (result_.members.size() >= limits_.members || object.size > limits_.bytes - bytes_) {
            throw refused(object.name, fmt::format("is beyond the {} objects and {} GiB that an "
                                                   "overlay may have",
                                                   limits_.members, limits_.bytes >> 30U));
        }
        bytes_ += object.size;
        StoredMember member;
        member.name = object.name;
        if (S_ISLNK(object.mode)) {
            member.type = MemberType::symlink;
            member.target = object.target;
        } else if (S_ISREG(object.mode)) {
            member.type = MemberType::file;
            member.executable = (object.mode & S_IXUSR) != 0;
            member.privileged = (object.mode & (S_ISUID | S_ISGID)) != 0 || object.has_capabilities;
            member.content = store_file(ctx_, object.file, (path_ / object.name).string());
        }
        result_.members.push_back(std::move(member));
    }

    const Context& ctx_;
    const SourceLocation& location_;
    std::string_view what_;
    const fs::path& path_;
    const OverlayLimits limits_;
    std::uint64_t bytes_ = 0;
    StoredSource result_;
};

/// Copies a directory, or an archive if `may_be_archive`.
std::shared_ptr<const StoredSource> take_source(const Context& ctx, const SourceLocation& location,
                                                std::string_view what, const fs::path& path,
                                                bool may_be_archive) {
    const Fd place = open_place(location, what, path);
    const struct stat status = status_of(place.get(), path.string());
    if (S_ISDIR(status.st_mode)) {
        return std::make_shared<const StoredSource>(
            Taking(ctx, location, what, path).take(place.get()));
    }
    if (!may_be_archive || !S_ISREG(status.st_mode)) {
        throw error_at(location, "{} not found: {}", what, path.string());
    }
    const Fd file = open_regular(place.get(), path.string());
    StoredSource source;
    source.archive = store_file(ctx, file.get(), path.string());
    return std::make_shared<const StoredSource>(std::move(source));
}

/// Copies of files whose names matter: hard links to the copies in `content/`, under the user's own
/// paths.
class NamedFiles {
public:
    explicit NamedFiles(const Context& ctx) : ctx_(ctx), top_(ctx.work() / named_inputs) {
        remove_tree(top_);
    }

    [[nodiscard]] fs::path take(const SourceLocation& location, std::string_view what,
                                const fs::path& path) const {
        const StoredFile stored = take_file(ctx_, location, what, path);
        fs::path copy = top_ / fs::absolute(path).lexically_normal().relative_path();
        make_directories(copy.parent_path());
        if (::link(stored.path.c_str(), copy.c_str()) != 0 && errno != EEXIST) {
            throw errno_error(copy.string(), errno);
        }
        return copy;
    }

    /// A policy module with the `.fc` and `.if` files beside it.
    [[nodiscard]] fs::path take_module(const SourceLocation& location, const fs::path& path) const {
        std::vector<fs::path> copies;
        for (const fs::path& file : files_of_module(path)) {
            copies.push_back(take(location, "policy module", file));
        }
        return copies.front();
    }

private:
    const Context& ctx_;
    fs::path top_;
};

}  // namespace

Blueprint take_snapshot(const Context& ctx, const Blueprint& blueprint) {
    Blueprint taken = blueprint;
    for (OverlayRequest& overlay : taken.overlays) {
        overlay.stored = take_source(ctx, overlay.location, "overlay", overlay.source, true);
    }
    for (BundleRequest& bundle : taken.microshift.bundles) {
        bundle.stored = take_source(ctx, bundle.location, "bundle", bundle.source, false);
    }
    for (FileRequest& file : taken.files) {
        if (!file.source.empty()) {
            file.stored = take_file(ctx, file.location, "file", file.source);
        }
    }
    const NamedFiles named(ctx);
    SelinuxRequest& selinux = taken.selinux;
    for (fs::path& module : selinux.modules) {
        module = named.take_module(selinux.location, module);
    }
    if (selinux.gpu_containers) {
        selinux.map_module =
            named.take_module(selinux.location, shipped_map_module(blueprint.path));
    }
    if (!taken.ostree.gpg_public_key.empty()) {
        taken.ostree.gpg_public_key =
            named.take(taken.ostree.location, "gpg_public_key", taken.ostree.gpg_public_key);
    }
    if (!taken.ostree.ed25519_public_key.empty()) {
        taken.ostree.ed25519_public_key = named.take(taken.ostree.location, "ed25519_public_key",
                                                     taken.ostree.ed25519_public_key);
    }
    return taken;
}

}  // namespace edgegpu
