#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// What sshd of the image would do with one user, as `sshd -T` prints it: keyword in lower case →
/// value, once for each line.
using SshdSettings = std::multimap<std::string, std::string, std::less<>>;

/// Asks sshd of the image, by user. Empty, with a warning, if it cannot be asked.
[[nodiscard]] std::map<std::string, SshdSettings> ask_sshd(const Context& ctx,
                                                           const std::vector<std::string>& users,
                                                           const Tree& tree);

/// The same of its output: "user NAME" before the settings of each.
[[nodiscard]] std::map<std::string, SshdSettings> read_sshd_settings(std::string_view output);

/// Why sshd does not let this user in with a key of the image, whose file is `key_file` ("%u" is
/// the user's name): keys are off, it looks for none there, or it is told to refuse the user, who
/// is a member of `groups`. Empty if it does, as far as its lists can tell without the address of a
/// client.
[[nodiscard]] std::string sshd_refusal(const SshdSettings& settings, const std::string& user,
                                       const std::vector<std::string>& groups,
                                       std::string_view key_file);

}  // namespace edgegpu
