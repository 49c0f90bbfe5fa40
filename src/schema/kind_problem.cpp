#include "schema/kind_problem.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Comparing names takes the product of their lengths.
constexpr std::size_t longest_name = 128;

std::vector<std::string> near_names(const std::string& name, const std::set<std::string>& names) {
    return name.size() > longest_name
               ? std::vector<std::string>()
               : nearest_names(name, std::vector<std::string>(names.begin(), names.end()));
}

/// "v2" before "v1", and both before "v1beta1" before "v1alpha1".
bool is_more_stable(std::string_view a, std::string_view b) {
    const auto rank = [](std::string_view api) {
        return api.find("alpha") != std::string_view::npos  ? 2
               : api.find("beta") != std::string_view::npos ? 1
                                                            : 0;
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a > b;
}

/// The apiVersions in which a version of Kubernetes has the kind, the one to be preferred first:
/// that of `group`, else the most stable.
std::vector<std::string> places_of(const SchemaTable& table, KubernetesVersion version,
                                   const std::string& kind, std::string_view group) {
    std::vector<std::string> places;
    for (const KindRow& row : table.kinds()) {
        if (row.kind == kind && row.versions.contains(version)) {
            places.emplace_back(row.api_version);
        }
    }
    std::ranges::sort(places, [&](const auto& a, const auto& b) {
        const bool own_a = group_of(a) == group;
        const bool own_b = group_of(b) == group;
        return own_a != own_b ? own_a : is_more_stable(a, b);
    });
    return places;
}

std::string advice(const std::vector<std::string>& places) {
    return places.empty() ? "; nothing replaces it" : "; use " + places.front();
}

/// Of a kind that other versions have: "… was removed in Kubernetes 1.16; use apps/v1".
std::optional<std::string> other_version(const SchemaTable& table, KubernetesVersion version,
                                         const std::string& api_version, const std::string& kind,
                                         const std::vector<std::string>& places) {
    const KindRow* before = nullptr;
    const KindRow* after = nullptr;
    for (const KindRow& row : table.kinds()) {
        if (row.api_version == api_version && row.kind == kind) {
            if (row.versions.last.minor < version.minor) {
                before = &row;
            } else if (after == nullptr) {
                after = &row;
            }
        }
    }
    if (before != nullptr) {
        return fmt::format("{} {} was removed in Kubernetes 1.{}{}", api_version, kind,
                           before->versions.last.minor + 1, advice(places));
    }
    if (after != nullptr) {
        return fmt::format("{} {} came with Kubernetes {}, and this is {}{}", api_version, kind,
                           after->versions.first.text(), version.text(),
                           places.empty() ? "" : advice(places));
    }
    return std::nullopt;
}

}  // namespace

std::string_view group_of(std::string_view api_version) {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

bool is_kubernetes_group(const SchemaTable& table, std::string_view group) {
    return group.find('.') == std::string_view::npos ||
           std::ranges::any_of(table.kinds(), [&](const KindRow& row) {
               return group_of(row.api_version) == group;
           });
}

SchemaProblem explain_unknown_kind(const SchemaTable& table, KubernetesVersion version,
                                   const std::string& api_version, const std::string& kind) {
    const ObjectPath api_path{std::string("apiVersion")};
    const ObjectPath kind_path{std::string("kind")};
    const std::vector<std::string> places = places_of(table, version, kind, group_of(api_version));
    if (const auto text = other_version(table, version, api_version, kind, places)) {
        return problem_at(api_path, *text);
    }
    if (!places.empty()) {
        return problem_at(api_path, fmt::format("{} has no {}; use {}", quoted_text(api_version),
                                                kind, places.front()));
    }
    std::set<std::string> apis;
    std::set<std::string> kinds;
    std::set<std::string> kinds_here;
    for (const KindRow& row : table.kinds()) {
        if (row.versions.contains(version)) {
            apis.emplace(row.api_version);
            kinds.emplace(row.kind);
            if (row.api_version == api_version) {
                kinds_here.emplace(row.kind);
            }
        }
    }
    if (kinds_here.empty()) {
        const std::vector<std::string> near = near_names(api_version, apis);
        return problem_at(
            api_path,
            fmt::format("Kubernetes {} has nothing to apply in {}{}", version.text(),
                        quoted_text(api_version),
                        near.empty() ? "" : fmt::format("; did you mean {}?", near.front())));
    }
    std::vector<std::string> near = near_names(kind, kinds_here);
    if (near.empty()) {
        near = near_names(kind, kinds);
    }
    return problem_at(
        kind_path,
        fmt::format("Kubernetes {} has no {} to apply in {}{}", version.text(), quoted_text(kind),
                    api_version,
                    near.empty() ? "" : fmt::format("; did you mean {}?", near.front())));
}

}  // namespace edgegpu
