#pragma once

#include <string_view>

#include "image/tree.hpp"

namespace edgegpu {

/// A file that makes the journal persistent, for hints.
inline constexpr std::string_view persistent_journal_path =
    "/etc/systemd/journald.conf.d/50-persistent.conf";

/// Whether the journal of an image's devices survives a restart, as journald.conf(5) says: by the
/// last `Storage=` of its files, or, where it is "auto", if /var/log/journal is there.
[[nodiscard]] bool has_persistent_journal(const Tree& tree);

}  // namespace edgegpu
