#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "commit/commit.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// The commit with which a ref's new one is compared: the one that it has, else the one of this ref
/// that was pulled from a remote; nothing for a new ref. Throws Error if it cannot be read.
[[nodiscard]] std::optional<CommitView> read_head(const Repo::Impl& repo);

/// Whether a build with this parent may have made `head`, or begins with it.
[[nodiscard]] bool is_made_on(const CommitInfo& head, const std::optional<Parent>& parent);

/// The time of a new commit: `image_time`, or a second after the newest of `parent` and `head`.
/// Throws Error if there is no later time.
[[nodiscard]] std::int64_t commit_time(std::int64_t image_time, const std::optional<Parent>& parent,
                                       const std::optional<CommitView>& head);

/// Whether a new commit (the bytes of its object) would give devices nothing that `head` does not
/// give them: the trees are the same, and so are the subject and all metadata except for the
/// digests of the inputs, the repositories' times and the advisories, which are not inputs.
[[nodiscard]] bool is_same_image(const CommitView& head, const std::string& object);

/// Whether a new commit (the bytes of its object) has the files and directories of `other`.
[[nodiscard]] bool has_same_files(const CommitView& other, const std::string& object);

/// Records in the repository that these inputs, too, make the image of commit `checksum`.
void record_inputs(const Repo::Impl& repo, const std::string& checksum,
                   const std::string& inputs_digest);
/// Whether `head` was made with these inputs, or they were recorded for it.
[[nodiscard]] bool has_inputs(const Repo::Impl& repo, const CommitInfo& head,
                              const std::string& inputs_digest);

}  // namespace edgegpu
