#pragma once

#include <string>
#include <vector>

#include "encapsulate/container_tree.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "support/files/tar_writer.hpp"

namespace edgegpu {

/// The commit whose layers are written.
struct LayerSource {
    const Context& ctx;
    const CommitView& commit;
    const ContainerTree& tree;
};

/// Writes the members of the first layer (ostree's container format, tar format version 1, as
/// ostree-rs-ext has it in lib/src/tar/export.rs): the root directory, an ostree repository of mode
/// bare-split-xattrs below sysroot/ostree/repo, in it the commit, its detached metadata (directly
/// behind it, for importers), all dirmetas and dirtrees; the directories of the tree; /var/tmp, for
/// programs in ordinary containers; then `objects` (checksums) as `write_chunk` does. Every
/// object's checksum is verified. Throws Error for one that is damaged.
void write_commit_layer(const LayerSource& source, const std::vector<std::string>& objects,
                        TarWriter& tar);

/// Writes the members of another layer: for each of `objects`, ascending, its extended attributes
/// (X.file-xattrs, once per value), a link to them (X.file-xattrs-link), the object (X.file) and
/// its paths as hard links to it, except that empty files are copies. Parents of the paths are
/// members with their attributes: engines that unpack the layer by itself would otherwise make them
/// up.
void write_chunk_layer(const LayerSource& source, const std::vector<std::string>& objects,
                       TarWriter& tar);

/// Writes a layer of an image for snapshots: the files of `objects` under all of their paths, with
/// file capabilities (TarFormat::pax), and the directories that lead to them; the first layer has
/// all directories of the tree. Every object's checksum is verified. Throws Error for one that is
/// damaged.
void write_plain_layer(const LayerSource& source, bool first,
                       const std::vector<std::string>& objects, TarWriter& tar);

}  // namespace edgegpu
