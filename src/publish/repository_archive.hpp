#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "repository/tree_objects.hpp"
#include "support/files/tar_writer.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The directory at the top of the archive, which is a repository.
inline constexpr const char* archived_repository = "repo";

/// The files of an ostree repository in archive mode, for a tar archive that has nothing else. The
/// same files give the same bytes: sorted by path, of root, readable by everybody, of 1970.
class RepositoryArchive {
public:
    /// `source`, which must outlive it, has the objects.
    explicit RepositoryArchive(const RepositoryView& source);

    /// Adds a file with this content; `name` is that in the repository.
    void put(const std::string& name, std::string content);
    /// Adds an empty directory.
    void put_directory(const std::string& name);
    /// Adds objects of the commit as the source stores them, each compared with its checksum. Those
    /// that are there already are passed over. Throws Error, with the path in the commit.
    void put_objects(const Context& ctx, const CommitView& commit,
                     const std::vector<TreeObject>& objects);

    /// Size of the tar archive in bytes, or a little more.
    [[nodiscard]] std::uint64_t bytes() const;
    /// Number of objects.
    [[nodiscard]] std::size_t objects() const noexcept { return objects_; }
    /// Writes all of it. Throws Error, and what the sink of `tar` throws.
    void write(const Context& ctx, TarWriter& tar) const;

private:
    struct Member {
        bool directory = false;
        std::string content;
        /// instead of a content: name of an object's file below `objects/` of the source
        std::string object;
        std::uint64_t size = 0;
    };
    void add(const std::string& name, Member member);
    [[nodiscard]] Fd open_stored(const std::string& object) const;
    void write_file(const Context& ctx, TarWriter& tar, const std::string& path,
                    const Member& member) const;

    const RepositoryView& source_;
    /// by name in the repository; directories come before what is in them
    std::map<std::string, Member> members_;
    std::size_t objects_ = 0;
};

}  // namespace edgegpu
