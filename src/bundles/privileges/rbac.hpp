#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bundles/roles.hpp"

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

/// What the roles and role bindings among objects allow.
class AccessRules {
public:
    explicit AccessRules(AccessObjects objects) : objects_(std::move(objects)) {}

    /// Whether the account may do it. `AccessRules` knows the roles of MicroShift's security
    /// context constraints (system:openshift:scc:NAME), and that Kubernetes' own user-facing roles
    /// (view, edit, admin) allow no use of these.
    [[nodiscard]] Allowed may(const ServiceAccountName& account, const ApiRequest& request) const;

    /// Whether any program of namespace `name_space`, or one that has a role there, may do one of
    /// `verbs` with an object `name` of a resource ("secrets") there, or might: by a role that
    /// other roles make up. With an empty `name_space`: whether any program may, in all namespaces.
    /// What programs create need not be in a bundle.
    [[nodiscard]] bool anybody_may(const std::vector<std::string_view>& verbs,
                                   std::string_view group, std::string_view resource,
                                   std::string_view name_space, std::string_view name) const;

private:
    AccessObjects objects_;
};

/// Whether the text names the account or a group of users that it is in:
/// "system:serviceaccount:NAMESPACE:NAME", "system:serviceaccounts", "system:authenticated".
[[nodiscard]] bool is_or_includes(const std::string& user_or_group,
                                  const ServiceAccountName& account);

}  // namespace edgegpu
