#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// The commit's metadata, `a{sv}`, with keys in a fixed order and numbers in big-endian, as
/// rpm-ostree's clients expect: `version`, `ostree.*` (bootable, linux, ref-binding, architecture),
/// `rpmostree.*` for clients, and edgegpu's own (`edgegpu.inputs-digest`, `edgegpu.kargs`,
/// `edgegpu.layered-on`, the checksum of the commit of `[parent]`, `edgegpu.layered-on-image`, the
/// digest of the image that this was made of, `edgegpu.nvidia-driver`, and `edgegpu.gpu-stack`, the
/// text of /usr/lib/edgegpu/gpu-stack.json). Packages and kernel arguments are those of `tree`.
///
/// `rpmostree.advisories`, `a(suuasa{sv})` (rpm-ostree, rpmostree-rpm-util.h), has the advisories
/// that the packages fix, as of their resolution; the key is missing if there are none.
///
/// `rpmostree.rpmmd-repos` has the repositories with the times of their metadata (`rpm-ostree
/// status -v` shows them), or the time of the image for metadata without one. The times are part of
/// the lockfile, so that a locked build gives the same commit after createrepo_c was run again.
[[nodiscard]] VariantHandle commit_metadata(const Context& ctx, const Blueprint& blueprint,
                                            const Resolution& resolution, const Tree& tree,
                                            const std::string& inputs_digest);

/// The commit's detached metadata, which are not part of its checksum: `edgegpu.rpmmd-repos`,
/// `aa{sv}` (id, timestamp, repomd-sha256).
[[nodiscard]] VariantHandle detached_metadata(const Resolution& resolution);

/// A serialised commit object, `(a{sv}aya(say)sstayay)`. Checksums are hexadecimal; `parent` may be
/// empty; `time` is Unix time.
[[nodiscard]] std::string commit_object(GVariant* metadata, const std::string& parent,
                                        const std::string& subject, std::int64_t time,
                                        const std::string& tree_checksum,
                                        const std::string& meta_checksum);

}  // namespace edgegpu
