#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/source_location.hpp"

/// What a blueprint says of users and groups.
namespace edgegpu {

/// A user of `[[customizations.user]]`; keys as in image builder.
struct UserRequest {
    std::string name;
    std::string description;
    /// A crypt(3) hash; plain text is refused by `parse_blueprint` (its hash would not be
    /// reproducible).
    std::optional<std::string> password;
    std::string key;
    std::string home;
    std::string shell;
    std::vector<std::string> groups;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    /// Days since 1970-01-01 after which the account is of no use, as in shadow(5).
    std::optional<std::uint32_t> expire_date;
    /// The password must be changed at the first log-in.
    bool force_password_reset = false;
    SourceLocation location;
};

/// A group of `[[customizations.group]]`.
struct GroupRequest {
    std::string name;
    std::optional<std::uint32_t> gid;
    SourceLocation location;
};

/// `[accounts]`: numbers that system users and groups of packages get, whatever the order in
/// which packages are installed.
struct AccountsRequest {
    std::map<std::string, std::uint32_t> uids;
    std::map<std::string, std::uint32_t> gids;
    SourceLocation location;
};

}  // namespace edgegpu
