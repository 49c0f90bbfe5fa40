#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// One object of an overlay, on its way into the image.
struct OverlayMember {
    /// As its source names it, for messages.
    std::string name;
    /// Absolute, normal path in the image.
    std::string path;
    MemberType type = MemberType::directory;
    /// files: its owner may run it
    bool executable = false;
    /// files: it comes with set-id bits or capabilities, which only a rule gives
    bool privileged = false;
    /// symlinks: the target
    std::string target;
    /// files of a stored directory: the content
    StoredFile stored;
    /// files of an archive: where the content can be read during the call; empty where nobody asked
    /// for it
    std::filesystem::path content;
    /// files: path in the image of the earlier member that this is a hard link to; `content` is
    /// then empty
    std::string linked;
};

/// How much an archive may hold: what is larger is a bomb, or no overlay.
struct OverlayLimits {
    std::uint64_t bytes = 16ULL << 30U;
    std::uint64_t members = 1'000'000;
};

/// Calls `visit` for every object of the overlay: of a directory in sorted order, links never
/// followed; of an archive (tar: ustar, pax, GNU; plain, gzip, xz, zstd, bzip2) in its own order,
/// a directory that it does not list before what is in it. With `scratch`, a directory, files of
/// archives are unpacked there one at a time; without it contents are read and forgotten. Where the
/// overlay is `stored`, that is visited, and what lies at its source now does not matter.
///
/// Throws ErrorKind::usage at the overlay's line, naming source and member, for everything an
/// image cannot carry whatever is in it: devices, fifos and sockets; "..", absolute names, links
/// that climb out of the image; members whose parent is a link or file of the overlay, or that are
/// there twice; paths below /run, /dev, /usr/local, …, files below /var; archives that are cut
/// short, damaged, or beyond `limits`; and at a rule's line where no object fits it.
void visit_overlay(const OverlayRequest& overlay, const std::filesystem::path& scratch,
                   const std::function<void(const OverlayMember&)>& visit,
                   const OverlayLimits& limits = {});

/// Why no overlay can bring an object of this type at `path`, or empty where it can:
/// `unfit_path_reason`, and what belongs to the device.
[[nodiscard]] std::string unfit_member_reason(std::string_view path, MemberType type);

/// The way out for such a path, or empty.
[[nodiscard]] std::string unfit_member_hint(std::string_view path);

}  // namespace edgegpu
