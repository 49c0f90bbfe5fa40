#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/path_glob.hpp"

namespace edgegpu {

/// By what a blueprint's files, units and scripts let somebody log in, apart from its users. What
/// they are called says nothing: a file of sshd may as well shut somebody out.
class LoginWays {
public:
    /// With `keys_count` false sshd is off, so that nothing of it counts; with `users` false nobody
    /// gets a home directory that is made of /etc/skel.
    LoginWays(bool keys_count, bool users) : keys_count_(keys_count), users_(users) {}

    /// A file of the image; `content` is only called for one that may count.
    void see_file(std::string_view path, const std::function<std::string()>& content);
    /// A unit, its drop-in, or a script that runs at the first boot.
    void see_program(std::string_view text);
    void found() { found_ = true; }
    [[nodiscard]] bool any() const;

private:
    void see_file_of_sshd(std::string_view path, const std::function<std::string()>& content);
    void see_sshd_config(std::string_view text);

    bool keys_count_;
    bool users_;
    bool found_ = false;
    /// Patterns of AuthorizedKeysFile outside of home directories, and files with public keys.
    std::vector<PathGlob> key_files_;
    std::vector<std::string> files_with_keys_;
};

/// Whether a program gives somebody what to log in with: it sets passwords (passwd, chpasswd,
/// newusers, useradd and usermod with --password), names authorized_keys, or joins a directory
/// (ipa-client-install, realm join, adcli join). An account that useradd alone makes is locked.
/// Comments do not count.
[[nodiscard]] bool gives_credential(std::string_view program);

}  // namespace edgegpu
