#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commit/repository.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "support/files/directory.hpp"
#include "support/handles.hpp"
#include "upload/contents.hpp"

namespace edgegpu {

/// How long one upload waits for another one, unless the user says otherwise.
inline constexpr std::chrono::minutes default_wait_for_uploads{10};

/// A published repository at one moment, which stays as it is while this exists: what may change
/// under its name is copied, and nothing that it needs is pruned. Whoever else uploads the
/// repository waits; publishing goes on.
class PublishedState {
public:
    /// Waits until nobody publishes, and nobody else uploads. Throws ErrorKind::usage for what is
    /// no repository with refs; Error for one that clients could not use: with a parent, a summary
    /// that was begun, or a ref whose commit lacks something.
    PublishedState(const Context& ctx, const std::filesystem::path& path, const LockWait& wait);

    [[nodiscard]] const RepositoryView& view() const noexcept { return view_; }
    /// For messages.
    [[nodiscard]] const std::string& shown() const noexcept { return view_.path(); }
    /// All files that have a step, those of refs included.
    [[nodiscard]] const FileSizes& files() const noexcept { return files_; }
    /// The repository's own refs, and their commits.
    [[nodiscard]] const std::map<std::string, std::string>& refs() const noexcept { return refs_; }
    /// The open directory of the repository.
    [[nodiscard]] int directory() const noexcept { return directory_.get(); }
    /// The files of all objects that the refs need.
    [[nodiscard]] const std::set<std::string>& needed() const noexcept { return needed_; }
    /// The files of all objects that a commit needs, `name` in messages. Throws Error if one is not
    /// there.
    [[nodiscard]] std::set<std::string> objects_of(const Context& ctx, const std::string& checksum,
                                                   const std::string& name) const;
    /// The directory that has the files of a step: one for those before commits and for parts of
    /// deltas, another one for the others.
    [[nodiscard]] std::filesystem::path directory_of(UploadStep step) const;
    /// The content of the config, a ref, the summary or its signature; empty if there is none.
    [[nodiscard]] std::string content(const std::string& path) const;
    [[nodiscard]] bool has_commit(const std::string& checksum) const;
    /// A directory for temporary files.
    [[nodiscard]] std::filesystem::path scratch() const { return scratch_.path(); }

    /// Reads the objects in these files and compares them with their checksums. Throws Error for
    /// the first that is damaged.
    void verify(const Context& ctx, const std::vector<std::string>& files) const;
    /// The same for whole deltas, by the paths of their superblocks: devices that ask for a damaged
    /// one fail, where they find objects without it.
    void verify_deltas(const Context& ctx, const std::set<std::string>& superblocks) const;

private:
    void require_finished() const;
    void require_summary_of_refs(const std::map<std::string, std::string>& named) const;
    void require_complete(const Context& ctx);
    void copy_changeable(const Context& ctx);

    RepositoryView view_;
    Fd directory_;
    TemporaryDirectory scratch_;
    std::map<std::string, std::string> refs_;
    FileSizes files_;
    std::set<std::string> needed_;
    std::optional<RepositoryLock> lock_;
};

}  // namespace edgegpu
