#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// One object of an overlay, and its path in the image.
struct OverlayMember {
    /// Name in the source, for messages.
    std::string name;
    /// Absolute, normalised path in the image.
    std::string path;
    MemberType type = MemberType::directory;
    /// Files: executable by the owner.
    bool executable = false;
    /// Files, and directories of an archive: has set-id bits or capabilities, which are dropped
    /// unless a rule sets them.
    bool privileged = false;
    /// Members of an archive: its permission bits, without set-id bits; a directory's sticky bit.
    std::optional<unsigned> archived_mode;
    /// Files of a directory of the build machine: others may not read it there.
    bool hidden = false;
    /// Files, without `scratch`: the content from its beginning, as `source_head` has it; valid
    /// during the visit.
    std::function<std::string()> head;
    /// Symbolic links: the target.
    std::string target;
    /// Files of a stored directory: the content.
    StoredFile stored;
    /// Files of an archive: path of the unpacked content, valid during the visit; empty without
    /// `scratch`.
    std::filesystem::path content;
    /// Files: path in the image of the earlier member that this is a hard link to; `content` is
    /// then empty.
    std::string linked;
};

/// Limits for an overlay, against archive bombs.
struct OverlayLimits {
    std::uint64_t bytes = 16ULL << 30U;
    std::uint64_t members = 1'000'000;
};

class Mistakes;

/// Calls `visit` for every object of the overlay: of a directory in sorted order, without following
/// links; of a tar archive in the archive's order, with parent directories added that it does not
/// list. Files of archives are unpacked one at a time into the directory `scratch`; if that is
/// empty, contents are read and discarded. If the overlay has a `stored` copy, that is visited
/// instead of its source.
///
/// Throws ErrorKind::usage at the overlay's line, naming source and member, for everything that no
/// image can contain: devices, fifos and sockets; "..", absolute names, links that leave the image;
/// members whose parent is a link or file of the overlay; duplicate members; paths below /run,
/// /dev, /usr/local, …, and files below /var. Also for archives that are truncated or corrupt, for
/// overlays beyond `limits`, and at a rule's line if no object matches it. With `mistakes`, members
/// that no image can contain are added to these, all of them but for what is below one, and left
/// out.
void visit_overlay(const OverlayRequest& overlay, const std::filesystem::path& scratch,
                   const std::function<void(const OverlayMember&)>& visit,
                   const OverlayLimits& limits = {}, Mistakes* mistakes = nullptr);

}  // namespace edgegpu
