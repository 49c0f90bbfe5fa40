#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "repository/commit_view.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A file object of a repository: a regular file or a symlink.
struct FileObject {
    CommitPath described;
    /// all extended attributes as the object has them, `a(ayay)`
    VariantHandle attributes;
    /// what a regular file contains, from its beginning; null for symlinks
    Handle<GInputStream, g_object_unref> content;
};

/// Reads the header of a file object and opens its content, like ostree_repo_load_file, but takes
/// nothing in it for granted: that function trusts the headers of an archive repository, whose
/// strings GLib then reads beyond their end, and aborts if the type in the metadata of a bare-user
/// repository is neither file nor symlink. Returns nothing, with `failure` set, if the object is
/// missing (G_IO_ERROR_NOT_FOUND), truncated (G_IO_ERROR_PARTIAL_INPUT) or malformed.
[[nodiscard]] std::optional<FileObject> load_file_object(OstreeRepo* repo,
                                                         const std::string& checksum,
                                                         GlibFailure& failure);

/// The same for the file of an object of an archive repository, open at any position.
[[nodiscard]] std::optional<FileObject> read_archived_object(Fd file, GlibFailure& failure);

/// The beginning of what a file object's checksum is of, before its content: see object_header in
/// commit/object.hpp, which has the attributes of an image's entry instead of these bytes.
[[nodiscard]] std::string hashed_header(const FileObject& object);

/// The checksum of a file object, whose content is read to its end. Empty, with `failure` set, if
/// that is not possible (G_IO_ERROR_PARTIAL_INPUT: it is truncated), or the content has another
/// size than the object says.
[[nodiscard]] std::string checksum_of(const FileObject& object, GlibFailure& failure);

/// The names (without the NUL that libostree ends them with) and values in an `a(ayay)`; none in a
/// null one.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> extended_attributes(
    GVariant* attributes);

/// Reads the label and other attributes from an `a(ayay)` into `path`.
void read_attributes(GVariant* attributes, CommitPath& path);

}  // namespace edgegpu
