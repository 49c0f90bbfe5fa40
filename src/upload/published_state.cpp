#include "upload/published_state.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>

#include "cache/file_lock.hpp"
#include "delta/delta_check.hpp"
#include "execution/parallel.hpp"
#include "repository/object_check.hpp"
#include "repository/refs.hpp"
#include "repository/tree_objects.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Commits could stay where they are, but are compared together with what is copied.
bool is_copied(UploadStep step) noexcept {
    return step >= UploadStep::commits && step != UploadStep::delta_parts;
}

OstreeObjectType type_of(std::string_view extension) {
    return extension == "commit"    ? OSTREE_OBJECT_TYPE_COMMIT
           : extension == "dirtree" ? OSTREE_OBJECT_TYPE_DIR_TREE
           : extension == "dirmeta" ? OSTREE_OBJECT_TYPE_DIR_META
                                    : OSTREE_OBJECT_TYPE_FILE;
}

}  // namespace

PublishedState::PublishedState(const Context& ctx, const fs::path& path, const LockWait& wait)
    : view_(path),
      directory_(::fcntl(ostree_repo_get_dfd(view_.handle()), F_DUPFD_CLOEXEC, 0)),
      scratch_(large_temporary_directory() / "edgegpu-upload") {
    if (!directory_) {
        throw errno_error(shown(), errno);
    }
    if (ostree_repo_get_mode(view_.handle()) != OSTREE_REPO_MODE_ARCHIVE) {
        throw error(ErrorKind::usage, "{}: only archive repositories can be uploaded", shown())
            .hinted("publish the refs into one: edgegpu publish REF --to DIR");
    }
    view_.require_own_objects();
    // An open file of its own: the lock is that of the file.
    directory_ = open_at(directory_.get(), ".", O_RDONLY | O_DIRECTORY, 0);
    wait_for_lock(ctx, directory_.get(), shown(), "is uploading it",
                  wait.value_or(default_wait_for_uploads));
    const RepositoryLock exclusive(ctx, view_.handle(), shown(), OSTREE_REPO_LOCK_EXCLUSIVE, wait);
    require_finished();
    files_ = files_of_repository(directory_.get(), shown());
    for (auto& [ref, checksum] : read_refs(directory_.get(), shown())) {
        if (ref.find(':') == std::string::npos) {
            refs_.emplace(ref, std::move(checksum));
        }
    }
    if (refs_.empty()) {
        throw error(ErrorKind::usage, "{}: the repository has no refs", shown())
            .hinted("publish some first: edgegpu publish REF --to DIR");
    }
    copy_changeable(ctx);
    lock_.emplace(ctx, view_.handle(), shown(), OSTREE_REPO_LOCK_SHARED);
    require_complete(ctx);
}

void PublishedState::require_finished() const {
    Fd locks = open_at(directory_.get(), locks_directory, O_RDONLY | O_DIRECTORY,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    const auto names = locks ? names_in(std::move(locks)) : std::nullopt;
    if (names && std::ranges::any_of(
                     *names, [](const std::string& name) { return name.ends_with(".summary"); })) {
        throw error("{}: its summary is not that of its refs: what published there did not end",
                    shown())
            .hinted(
                "publish or prune again, which ends that, or wait for the command that is writing "
                "to it");
    }
}

std::set<std::string> PublishedState::objects_of(const Context& ctx, const std::string& checksum,
                                                 const std::string& name) const {
    std::set<std::string> files;
    const auto add = [&](const std::string& file, const std::string& path) {
        if (!files_.contains(file)) {
            throw error("{}: ref {} lacks {} ({})", shown(), name, path, file)
                .hinted(
                    "edgegpu fsck finds all such objects, and with --repair-from mends them from "
                    "another repository");
        }
        files.insert(file);
    };
    add(object_file(checksum, "commit"), "its commit");
    const TreeObjects objects = list_objects(ctx, view_.commit_at(checksum, name));
    for (const TreeObject& object : objects.files) {
        add(object_file(object.checksum, "filez"), object.path);
    }
    for (const TreeObject& object : objects.directories) {
        add(object_file(object.checksum, ostree_object_type_to_string(object.type)), object.path);
    }
    return files;
}

void PublishedState::require_summary_of_refs(
    const std::map<std::string, std::string>& named) const {
    const auto refuse = [&](const std::string& what) {
        return error("{}: its summary {}, and clients go by it", shown(), what)
            .hinted("publish any ref again, or `ostree summary --update`");
    };
    for (const auto& [ref, checksum] : refs_) {
        const auto found = named.find(ref);
        if (found == named.end() || found->second != checksum) {
            throw refuse("does not have the commit of ref " + ref);
        }
    }
    for (const auto& [ref, checksum] : named) {
        if (!refs_.contains(ref)) {
            throw refuse("names ref " + ref + ", which is not there");
        }
    }
}

void PublishedState::require_complete(const Context& ctx) {
    if (const std::string summary = content("summary"); !summary.empty()) {
        require_summary_of_refs(refs_in_summary(summary));
    }
    for (const auto& [ref, checksum] : refs_) {
        needed_.merge(objects_of(ctx, checksum, ref));
    }
}

/// Their times are those of the upload, by which it is known later how long clients have had them.
void PublishedState::copy_changeable(const Context& ctx) {
    const fs::path place = directory_of(UploadStep::summary);
    for (auto& [path, size] : files_) {
        if (!is_copied(step_of(path).value())) {
            continue;
        }
        ctx.check_cancelled();
        const Fd source = open_at(directory_.get(), path, O_RDONLY | O_NONBLOCK,
                                  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (!source) {
            throw errno_error(shown() + '/' + path, errno);
        }
        make_directories((place / path).parent_path());
        const Fd copy = open_file(place / path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        copy_content(source.get(), copy.get(), (place / path).string());
        size = state_of(copy.get(), path).size;
    }
    for (const auto& [ref, checksum] : refs_) {
        const std::string path = std::string(heads_prefix) + ref;
        make_directories((place / path).parent_path());
        write_file(place / path, checksum + '\n');
        files_.emplace(path, checksum.size() + 1);
    }
}

fs::path PublishedState::directory_of(UploadStep step) const {
    return is_copied(step) ? scratch_ / "files" : fs::absolute(view_.path());
}

std::string PublishedState::content(const std::string& path) const {
    return files_.contains(path) ? read_file(directory_of(UploadStep::summary) / path)
                                 : std::string();
}

bool PublishedState::has_commit(const std::string& checksum) const {
    return files_.contains(object_file(checksum, "commit"));
}

void PublishedState::verify(const Context& ctx, const std::vector<std::string>& files) const {
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        const CheckedObject found = check_object(
            view_.handle(),
            {type_of(extension_of_object(files[i])), checksum_of_object(files[i]), ""});
        if (found.state != ObjectState::good) {
            throw error("{}/{}: the object is damaged: {}", shown(), files[i],
                        found.detail.empty() ? name_of(found.state) : found.detail)
                .hinted("edgegpu fsck --repair-from mends it from a repository that has it");
        }
    });
}

void PublishedState::verify_deltas(const Context& ctx,
                                   const std::set<std::string>& superblocks) const {
    const std::vector<std::string> paths(superblocks.begin(), superblocks.end());
    parallel_for(ctx, paths.size(), [&](std::size_t i) {
        const std::string place = paths[i].substr(0, paths[i].rfind('/'));
        const DeltaCommits commits = commits_of_delta(paths[i]);
        const std::vector<std::string> faults =
            delta_faults(open_at(directory_.get(), place, O_RDONLY | O_DIRECTORY,
                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS),
                         commits.from, commits.to);
        if (!faults.empty()) {
            throw error("{}/{}: the delta is damaged: {}", shown(), place, faults.front())
                .hinted(
                    "edgegpu publish --delta-from removes what is damaged, and makes it anew; if "
                    "something publishes at this moment, upload again");
        }
    });
}

}  // namespace edgegpu
