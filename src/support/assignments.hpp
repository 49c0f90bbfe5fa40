#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace edgegpu {

/// The assignments of a text with lines "KEY=VALUE", as os-release(5), /etc/selinux/config,
/// semanage.conf(5) and firewalld.conf(5) have them: blanks around key and value do not count,
/// quotes are those of a shell, lines that begin with # are comments, and the last line of a key is
/// the one that counts. A value with an odd quote is taken as it is.
[[nodiscard]] std::map<std::string, std::string, std::less<>> read_assignments(
    std::string_view text);

/// The value of one key there; empty without it.
[[nodiscard]] std::string assigned_value(std::string_view text, std::string_view key);

}  // namespace edgegpu
