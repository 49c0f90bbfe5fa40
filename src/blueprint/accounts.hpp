#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/source_location.hpp"

/// Users and groups of a blueprint.
namespace edgegpu {

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
/// which packages are installed.
struct AccountsRequest {
    std::map<std::string, std::uint32_t> uids;
    std::map<std::string, std::uint32_t> gids;
    SourceLocation location;
};

}  // namespace edgegpu
