#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// The commit's metadata, `a{sv}`, keys in a fixed order, numbers big-endian as rpm-ostree's
/// clients expect: `version`, `ostree.*` (bootable, linux, ref-binding, architecture),
/// `rpmostree.*` as clients read them, and edgegpu's own (`edgegpu.inputs-digest`, `edgegpu.kargs`,
/// `edgegpu.nvidia-driver`). Packages and kernel arguments are those of `tree`.
///
/// `rpmostree.advisories`, `a(suuasa{sv})`, is there where a package fixes one; its format is that
/// of rpm-ostree (rpmostree-rpm-util.h), what is in it was known when the packages were resolved.
///
/// `rpmostree.rpmmd-repos` names the repositories with the times of their metadata, as rpm-ostree
/// has it (`rpm-ostree status -v` shows them); one that has none gets the image's. They are part of
/// the lockfile, so that a locked build gives the same commit after createrepo_c ran again.
[[nodiscard]] VariantHandle commit_metadata(const Context& ctx, const Blueprint& blueprint,
                                            const Resolution& resolution, const Tree& tree,
                                            const std::string& inputs_digest);

/// What is kept beside the commit and is no part of its checksum: `edgegpu.rpmmd-repos`,
/// `aa{sv}` (id, timestamp, repomd-sha256).
[[nodiscard]] VariantHandle detached_metadata(const Resolution& resolution);

/// A serialised commit object, `(a{sv}aya(say)sstayay)`. `parent` may be empty; `time` is Unix
/// time.
[[nodiscard]] std::string commit_object(GVariant* metadata, const std::string& parent,
                                        const std::string& subject, std::int64_t time,
                                        const std::string& tree_checksum,
                                        const std::string& meta_checksum);

}  // namespace edgegpu
