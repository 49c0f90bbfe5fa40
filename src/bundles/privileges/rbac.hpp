#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// A service account: who the programs of a pod are at the API server.
struct ServiceAccountName {
    std::string name_space;
    std::string name;
};

/// One thing that a program asks of the API server.
struct ApiRequest {
    /// "apps"; empty: the core
    std::string group;
    /// "nodes", "nodes/status"
    std::string resource;
    std::string verb;
    /// of the object; empty: any object
    std::string name;
    /// of the object; empty: of no namespace, or of all
    std::string name_space;
};

/// Whether roles allow something.
enum class Allowed : std::uint8_t {
    no,
    yes,
    unknown  ///< a role that is bound is not among the objects, or it is only for named objects
};

/// What the roles and role bindings among objects allow to service accounts.
class AccessRules {
public:
    /// `objects`: of any kind; the others are left alone. They are copied as far as they matter.
    explicit AccessRules(const std::vector<nlohmann::json>& objects);

    /// Whether the account may do it. `AccessRules` knows the roles of MicroShift's security
    /// context constraints (system:openshift:scc:NAME), and that Kubernetes' own user-facing roles
    /// (view, edit, admin) allow no use of these.
    [[nodiscard]] Allowed may(const ServiceAccountName& account, const ApiRequest& request) const;

private:
    std::vector<nlohmann::json> roles_;
    std::vector<nlohmann::json> bindings_;
};

/// Whether the text names the account or a group of users that it is in:
/// "system:serviceaccount:NAMESPACE:NAME", "system:serviceaccounts", "system:authenticated".
[[nodiscard]] bool is_or_includes(const std::string& user_or_group,
                                  const ServiceAccountName& account);

}  // namespace edgegpu
