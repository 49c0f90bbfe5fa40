#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Opens the object `checksum` of a repository, or of those that it has as parents; `found` is the
/// one that has it. `extensions` are those of an archive repository and of others ("filez" and
/// "file"). Neither follows links nor waits for a fifo. Empty, with `failure` set, if the object is
/// missing (G_IO_ERROR_NOT_FOUND) or cannot be opened; empty without, with `found` set, if it is a
/// link in a bare repository, which has files that are links.
[[nodiscard]] Fd open_object(OstreeRepo* repo, const std::string& checksum,
                             std::pair<const char*, const char*> extensions, OstreeRepo*& found,
                             GlibFailure& failure);

/// Reads a commit, dirtree or dirmeta like ostree_repo_load_variant, or the detached metadata of a
/// commit (OSTREE_OBJECT_TYPE_COMMIT_META), but takes nothing for granted: the file is regular and
/// of a size that libostree allows, and the variant is in normal form and not marked as trusted,
/// since GLib would read a string without a NUL beyond its end. Its checksum is not verified. Null,
/// with `failure` set, if the object is missing (G_IO_ERROR_NOT_FOUND) or malformed
/// (G_IO_ERROR_INVALID_DATA).
[[nodiscard]] VariantHandle load_object(OstreeRepo* repo, OstreeObjectType type,
                                        const std::string& checksum, GlibFailure& failure);

/// The checksum in child `index` of a tuple, in hexadecimal; empty if it is not one.
[[nodiscard]] std::string checksum_in(GVariant* tuple, gsize index);

/// The 32 bytes of a checksum in hexadecimal. Throws Error for anything else.
[[nodiscard]] std::string checksum_bytes(const std::string& checksum);

/// The value of a key of a commit's metadata, an a{sv}, of that type; null if there is none. Throws
/// Error if it has another type: what is ignored would be missing in what is made of the commit.
/// `commit` is its name.
[[nodiscard]] VariantHandle metadata_value(GVariant* metadata, const char* key, const char* type,
                                           std::string_view commit);

/// The same for a text, which has at most 4 KiB; empty if there is none.
[[nodiscard]] std::string metadata_text(GVariant* metadata, const char* key,
                                        std::string_view commit);

/// The same for a list of texts; nothing if there is none.
[[nodiscard]] std::optional<std::vector<std::string>> metadata_texts(GVariant* metadata,
                                                                     const char* key,
                                                                     std::string_view commit);

}  // namespace edgegpu
