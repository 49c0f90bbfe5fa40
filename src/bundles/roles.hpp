#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundles/objects.hpp"

namespace edgegpu {

/// A rule of a role. "*" in a list is everything.
struct RoleRule {
    /// "apps"; "" for the core
    std::vector<std::string> groups;
    /// "nodes", "nodes/status", "*/status"
    std::vector<std::string> resources;
    std::vector<std::string> verbs;
    /// of objects; none: all objects
    std::vector<std::string> names;

    /// Whether it is about one of `wanted_verbs` with a resource of a group, whatever its objects.
    [[nodiscard]] bool covers(std::string_view group, std::string_view resource,
                              const std::vector<std::string_view>& wanted_verbs) const;
};

/// A Role or ClusterRole.
struct AccessRole {
    std::string kind;
    /// of a Role
    std::string name_space;
    std::string name;
    /// Other roles make up its rules.
    bool aggregated = false;
    std::vector<RoleRule> rules;
};

/// To whom a binding gives its role.
struct RoleSubject {
    std::string kind;
    std::string name;
    /// As it is written; may be empty.
    std::string name_space;
};

/// A RoleBinding or ClusterRoleBinding.
struct AccessBinding {
    /// of a ClusterRoleBinding
    bool everywhere = false;
    /// of a RoleBinding
    std::string name_space;
    std::string role_kind;
    std::string role_name;
    std::vector<RoleSubject> subjects;
};

/// The roles and bindings among objects.
struct AccessObjects {
    std::vector<AccessRole> roles;
    std::vector<AccessBinding> bindings;

    /// Adds an object if it is one of these; any other is left alone.
    void add(const KubeObject& object);
    /// The role that a binding names; null if it is not among the objects.
    [[nodiscard]] const AccessRole* role_of(const AccessBinding& binding) const;
};

}  // namespace edgegpu
