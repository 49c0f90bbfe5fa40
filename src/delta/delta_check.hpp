#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Whether the superblock in the directory of a delta is in libostree's format for signed deltas,
/// which clients do not pull.
[[nodiscard]] bool is_signed_format(const Fd& directory);

/// What is wrong with the delta in a directory, in words that follow its name: "part 3 is missing",
/// "part 0 has another checksum". Empty for a good one, and for the format of signed deltas.
/// `from` is empty for a delta from nothing; checksums.
[[nodiscard]] std::vector<std::string> delta_faults(const Fd& directory, const std::string& from,
                                                    const std::string& to);

/// The deltas that the metadata of a summary or an index of deltas (a{sv}) name: "FROM-TO" or "TO"
/// → SHA-256 of the superblock, hexadecimal; empty for one that is none.
[[nodiscard]] std::map<std::string, std::string> named_deltas(GVariant* metadata);

/// SHA-256 of the superblock in a directory, hexadecimal; empty if there is none.
[[nodiscard]] std::string superblock_digest(const Fd& directory);

}  // namespace edgegpu
