#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "repository/object_check.hpp"
#include "repository/tree_objects.hpp"

namespace edgegpu {

/// An object that is not as it has to be.
struct ObjectFault {
    /// with the first path that was found; none for a commit
    TreeObject object;
    /// checksum of the commit that was walked
    std::string commit;
    ObjectState state = ObjectState::missing;
    /// more about it, or empty
    std::string detail;
    /// it was damaged, and is no more
    bool repaired = false;
};

/// Everything within reach of commits of a repository, each object once, whatever is damaged: what
/// is below a missing directory cannot be known. The repository is untrusted: no recursion, and
/// each directory is read once, however many paths it has.
class ObjectWalk {
public:
    /// Puts a good object in the place of a damaged or missing one; false if that is not possible.
    /// Called from several threads.
    using Repair = std::function<bool(const TreeObject&)>;

    /// Commits and directories are compared with their checksums. With `contents`, files and the
    /// metadata of directories are, too; else they are not looked at. `repair` may be empty.
    ObjectWalk(const Context& ctx, const RepositoryView& repository, bool contents,
               Repair repair = {});

    /// Walks a commit, as far as it has not been reached yet, on ctx.jobs threads. False if it
    /// cannot be read, or was pulled only in part.
    bool add(const std::string& commit);

    /// Whether the object was reached, be it there or not.
    [[nodiscard]] bool reaches(OstreeObjectType type, const std::string& checksum) const;
    /// In the order of the commits, and of their paths.
    [[nodiscard]] const std::vector<ObjectFault>& faults() const noexcept { return faults_; }
    /// Number of objects that were compared with their checksums.
    [[nodiscard]] std::size_t checked() const noexcept { return checked_; }

private:
    bool reach(OstreeObjectType type, const std::string& checksum);
    [[nodiscard]] VariantHandle read(const TreeObject& object);
    void check_file(const TreeObject& object);
    void walk_tree(GVariant* commit);
    void read_level(const std::vector<TreeObject>& level, std::vector<TreeObject>& next,
                    std::vector<TreeObject>& leaves);
    void check_leaves(const std::vector<TreeObject>& leaves);
    void add_fault(const TreeObject& object, ObjectState state, std::string detail, bool repaired);

    const Context& ctx_;
    const RepositoryView& repository_;
    bool contents_;
    Repair repair_;
    /// type and checksum
    std::unordered_set<std::string> reached_;
    std::string commit_;
    std::mutex mutex_;
    std::vector<ObjectFault> faults_;
    std::atomic<std::size_t> checked_{0};
    /// of the progress that is shown
    std::size_t known_ = 0;
};

}  // namespace edgegpu
