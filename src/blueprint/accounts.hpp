#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/choices.hpp"
#include "support/source_location.hpp"

/// Users and groups of a blueprint.
namespace edgegpu {

/// Whether a password hash lets somebody in: "!" and "*" lock an account.
[[nodiscard]] inline bool is_usable_password(std::string_view hash) {
    return !hash.empty() && hash.front() != '!' && hash.front() != '*';
}

/// Whether a shell refuses whoever logs in: nologin, false.
[[nodiscard]] inline bool refuses_login(std::string_view shell) {
    return shell.ends_with("/nologin") || shell.ends_with("/false");
}

/// A user of `[[customizations.user]]`; keys as in image builder.
struct UserRequest {
    std::string name;
    std::string description;
    /// A crypt(3) hash; `parse_blueprint` rejects plain text, whose hash would not be reproducible.
    std::optional<std::string> password;
    std::string key;
    std::string home;
    std::string shell;
    std::vector<std::string> groups;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    /// Days since 1970-01-01 after which the account is disabled, as in shadow(5).
    std::optional<std::uint32_t> expire_date;
    /// The password must be changed at the first login.
    bool force_password_reset = false;
    SourceLocation location;
};

/// A group of `[[customizations.group]]`.
struct GroupRequest {
    std::string name;
    std::optional<std::uint32_t> gid;
    SourceLocation location;
};

/// `[accounts]`: fixed numbers for system users and groups of packages, independent of the order in
/// which packages are installed; and where users come from.
struct AccountsRequest {
    std::map<std::string, std::uint32_t> uids;
    std::map<std::string, std::uint32_t> gids;
    SourceLocation location;
    LoginSource login = LoginSource::image;
};

}  // namespace edgegpu
