#pragma once

#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// True for bytes below 0x20 and 0x7f: nothing that goes into a one-line file of the image
/// may have them.
[[nodiscard]] bool has_control_characters(std::string_view text) noexcept;

/// True if `text` is not empty, has only ASCII letters, digits and the characters of
/// `others`, and begins with neither '-' nor '.'.
[[nodiscard]] bool is_plain_name(std::string_view text, std::string_view others) noexcept;

/// Throws unless `name` can be a user or group of Linux: at most 32 characters of
/// [A-Za-z0-9_.-], beginning with a letter or '_'. `what` is "user" or "group".
void require_account_name(const SourceLocation& location, std::string_view what,
                          std::string_view name);

/// Throws unless `path` is absolute and normalised: no "..", ".", empty part, control
/// character or trailing slash. `what` names the key.
void require_absolute_path(const SourceLocation& location, std::string_view what,
                           std::string_view path);

/// Throws unless `name` is a systemd unit name ("sshd", "sshd.service", "getty@tty1").
void require_unit_name(const SourceLocation& location, std::string_view name);

/// Throws unless `name` is a kernel module name.
void require_kernel_module_name(const SourceLocation& location, std::string_view name);

/// Throws unless `ref` is a ref as libostree takes it (ostree_validate_rev): parts of
/// [A-Za-z0-9_.-] separated by '/', none beginning with '.' or '-'.
void require_ref(const SourceLocation& location, std::string_view what, std::string_view ref);

/// Throws unless `name` is a host name of at most 64 characters (hostname(7)).
void require_hostname(const SourceLocation& location, std::string_view name);

/// Throws unless `name` can be the name of a file of zoneinfo, e.g. "Europe/Berlin".
void require_timezone(const SourceLocation& location, std::string_view name);

/// Why an image cannot carry this absolute path ("is made at boot"), or empty where it can.
/// An ostree commit has no content of its own in /boot, /dev, /proc, /run, /sys, /tmp, /ostree,
/// /sysroot, keeps /etc as /usr/etc, and reaches /bin, /lib, … through links.
[[nodiscard]] std::string unfit_path_reason(std::string_view path);

}  // namespace edgegpu
