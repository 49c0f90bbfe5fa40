#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bundles/checks/findings.hpp"

namespace edgegpu {

/// What programs in the bundles' pods may do at the API server, by the roles that the bundles bind
/// to service accounts. What one of them may create need not be in a bundle.
class Grants {
public:
    /// `namespaces` has the namespace of each object. All of it must outlive this.
    Grants(const std::vector<BundleObject>& objects,
           const std::map<const KubeObject*, std::string>& namespaces);

    /// Whether a program of namespace `name_space`, or one that has a role there, may do one of
    /// `verbs` with an object `name` of a resource ("secrets") there. With an empty `name_space`:
    /// whether any program may, in all namespaces.
    [[nodiscard]] bool allow(const std::vector<std::string_view>& verbs, std::string_view group,
                             std::string_view resource, const std::string& name_space,
                             std::string_view name) const;

private:
    /// Rules by the namespace in which they hold, "" for those of cluster role bindings; a null
    /// rule allows everything.
    std::map<std::string, std::vector<const YamlNode*>> rules_;
};

}  // namespace edgegpu
