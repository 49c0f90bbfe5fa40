#pragma once

#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// Whether `text` contains bytes below 0x20 or 0x7f, which values in line-based files of the image
/// must not contain.
[[nodiscard]] bool has_control_characters(std::string_view text) noexcept;

/// Whether `text` is not empty, consists of ASCII letters, digits and characters of `others`, and
/// begins with neither '-' nor '.'.
[[nodiscard]] bool is_plain_name(std::string_view text, std::string_view others) noexcept;

/// Throws unless `name` is valid for a Linux user or group: at most 32 characters of
/// [A-Za-z0-9_.-], beginning with a letter or '_'. `what` is "user" or "group".
void require_account_name(const SourceLocation& location, std::string_view what,
                          std::string_view name);

/// Throws unless `path` is absolute and normalised: no "..", ".", empty component, control
/// character or trailing slash. `what` is the key.
void require_absolute_path(const SourceLocation& location, std::string_view what,
                           std::string_view path);

/// Throws unless `name` is a systemd unit name ("sshd", "sshd.service", "getty@tty1").
void require_unit_name(const SourceLocation& location, std::string_view name);

/// Throws unless `name` is a kernel module name.
void require_kernel_module_name(const SourceLocation& location, std::string_view name);

/// Throws unless `ref` is valid for libostree (ostree_validate_rev): components of [A-Za-z0-9_.-]
/// separated by '/', none beginning with '.' or '-'; and for one named by its path
/// (hint_for_ref_path). `what` is the key.
void require_ref(const SourceLocation& location, std::string_view what, std::string_view ref);

/// Throws unless `name` is a host name of at most 64 characters (hostname(7)).
void require_hostname(const SourceLocation& location, std::string_view name);

/// Throws unless `name` can be that of a zoneinfo file, e.g. "Europe/Berlin".
void require_timezone(const SourceLocation& location, std::string_view name);

/// Why an image cannot contain this absolute path ("/dev is created at boot"), or empty if it can.
/// An ostree commit has no content in /boot, /dev, /proc, /run, /sys, /tmp, /ostree and /sysroot,
/// has /etc as /usr/etc, and links in place of /bin, /lib, …
[[nodiscard]] std::string unfit_path_reason(std::string_view path);

}  // namespace edgegpu
