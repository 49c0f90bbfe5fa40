#pragma once

#include <map>
#include <string>
#include <string_view>

namespace edgegpu {

/// Whether `name` can be a ref, as ostree_validate_rev has it: parts with slashes between them, of
/// letters, digits, "_", "-" and ".", the latter two not at the beginning.
[[nodiscard]] bool is_ref(std::string_view name);

/// The checksum that ref `name` below refs/heads has, or an empty string if there is no such ref.
/// `repository` is the open directory, `shown` its path for errors. A link is an alias (`ostree
/// refs --alias`) if it leads to a ref; nothing outside of the repository is read through one.
/// Throws Error for a link that leads elsewhere, and for what is no ref, whatever it is.
[[nodiscard]] std::string read_ref(int repository, const std::string& shown,
                                   const std::string& name);

/// All refs, those of remotes as "REMOTE:REF", with their checksums; the same errors. Files whose
/// names cannot be refs are passed over, as libostree does: rsync may have put them there.
[[nodiscard]] std::map<std::string, std::string> read_refs(int repository,
                                                           const std::string& shown);

/// The refs that a summary (the bytes of the file) names, with their checksums, each of which is
/// empty if it is none. No refs if it is not a summary.
[[nodiscard]] std::map<std::string, std::string> refs_in_summary(std::string_view summary);

}  // namespace edgegpu
