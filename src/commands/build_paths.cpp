#include "commands/build_paths.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The path without links, as far as it exists.
std::string real_path(const std::filesystem::path& path) {
    std::error_code failed;
    const std::filesystem::path real =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
    return failed ? path.lexically_normal().string() : real.string();
}

/// Throws unless the lockfile can be written where it is to be: that is known before all else.
void require_writable(const std::filesystem::path& lockfile) {
    make_directories(lockfile.parent_path());
    if (::access(lockfile.parent_path().c_str(), W_OK) != 0) {
        throw error(ErrorKind::usage, "the lockfile {} cannot be written: {}", lockfile.string(),
                    std::generic_category().message(errno))
            .hinted("--lock FILE or --lock-dir DIR puts it elsewhere");
    }
}

}  // namespace

std::filesystem::path usual_lockfile(const std::filesystem::path& blueprint,
                                     const GivenParameters& parameters, const std::string& ref,
                                     const std::filesystem::path& directory) {
    std::string name = blueprint.stem().string();
    if (!parameters.empty()) {
        name += '+' + ref;
        std::ranges::replace(name, '/', '+');
    }
    const std::filesystem::path place = directory.empty() ? blueprint.parent_path() : directory;
    return std::filesystem::absolute(place / (name + ".lock")).lexically_normal();
}

void require_outside_of_image(const Blueprint& blueprint, std::string_view what,
                              const std::filesystem::path& written) {
    const std::string path = real_path(written);
    const auto refuse_in = [&](std::string_view kind, const std::filesystem::path& source) {
        const std::string top = real_path(source);
        if (is_below(path, top)) {
            throw error(ErrorKind::usage, "the {} {} is in the {} {}, and so in the next image",
                        what, written.string(), kind, source.string())
                .hinted(fmt::format("name another place for the {}, or give the {} a directory of "
                                    "its own",
                                    what, kind));
        }
    };
    for (const OverlayRequest& overlay : blueprint.overlays) {
        refuse_in("overlay", overlay.source);
    }
    for (const BundleRequest& bundle : blueprint.microshift.bundles) {
        refuse_in("bundle", bundle.source);
    }
}

void require_another_ref(const Blueprint& blueprint, const std::filesystem::path& repo) {
    const bool same = blueprint.parent && !blueprint.parent->image &&
                      blueprint.parent->ref == blueprint.ostree.ref &&
                      real_path(blueprint.parent->repository) == real_path(repo);
    if (same) {
        throw error(ErrorKind::usage,
                    "{}: ref {} of {} is what is built: each build would be a layer on the one "
                    "before it",
                    blueprint.parent->location.text(), blueprint.ostree.ref, repo.string())
            .hinted("[ostree] ref names another ref than that of the parent");
    }
}

void require_lockfile_apart(const Blueprint& blueprint, const std::filesystem::path& lockfile) {
    if (real_path(lockfile) == real_path(blueprint.path)) {
        throw error(ErrorKind::usage, "the lockfile {} would replace the blueprint",
                    lockfile.string())
            .hinted("--lock names another file");
    }
    require_outside_of_image(blueprint, "lockfile", lockfile);
}

std::filesystem::path lockfile_of(const BuildCommand& command, const Blueprint& blueprint,
                                  Console& console) {
    namespace fs = std::filesystem;
    const GivenParameters& parameters = command.inputs.parameters;
    const bool is_named = !command.lockfile.empty();
    fs::path lockfile = is_named ? fs::absolute(command.lockfile).lexically_normal()
                                 : usual_lockfile(command.blueprints.front(), parameters,
                                                  blueprint.ostree.ref, command.lock_dir);
    require_lockfile_apart(blueprint, lockfile);
    if (!command.locked) {
        require_writable(lockfile);
    }
    if (is_named || !command.lock_dir.empty()) {
        return lockfile;
    }
    // Where it was written before it was written beside the blueprint: who still takes it from
    // there has packages of another day.
    const fs::path former =
        usual_lockfile(command.blueprints.front(), parameters, blueprint.ostree.ref,
                       fs::absolute(command.repo).lexically_normal().parent_path());
    std::error_code ignored;
    if (former == lockfile || !fs::exists(former, ignored)) {
        return lockfile;
    }
    if (command.locked && !fs::exists(lockfile, ignored)) {
        throw error(ErrorKind::usage,
                    "{} does not exist, but {} does: a lockfile lies beside its blueprint",
                    lockfile.string(), former.string())
            .hinted(fmt::format("move it there, or --lock {}", shell_word(former.string())));
    }
    console.warn(
        fmt::format("the lockfile is {}; {}, beside the repository, is not used any more: remove "
                    "it, or name it with --lock",
                    lockfile.string(), former.string()));
    return lockfile;
}

}  // namespace edgegpu
