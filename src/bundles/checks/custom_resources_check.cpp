#include "bundles/checks/custom_resources_check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/microshift_api.hpp"
#include "bundles/json_value.hpp"
#include "schema/kind_problem.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// A CustomResourceDefinition of a bundle.
struct DefinedKind {
    BundleObject where;
    std::string kind;
    std::string scope;
    std::vector<std::string> served;
};

std::vector<DefinedKind> definitions_of_group(const KnownObjects& known, std::string_view group) {
    std::vector<DefinedKind> definitions;
    for (const BundleObject& each : known.all_of(referred::definition, "")) {
        const json& content = each.object->content;
        if (text_in(content, {"spec", "group"}) != group) {
            continue;
        }
        DefinedKind definition{each,
                               text_in(content, {"spec", "names", "kind"}),
                               text_in(content, {"spec", "scope"}),
                               {}};
        for (const json& version : items_at(content, {"spec", "versions"})) {
            if (is_true_at(version, {"served"})) {
                definition.served.push_back(text_in(version, {"name"}));
            }
        }
        definitions.push_back(std::move(definition));
    }
    return definitions;
}

/// Whether the blueprint says that a definition is provided: "PLURAL.GROUP", where the plural is
/// not known of a kind without its definition.
bool is_provided_definition(const KnownObjects& known, std::string_view group,
                            std::string_view kind) {
    std::string stem = lower_case(kind);
    stem.resize(stem.size() - std::min<std::size_t>(stem.size(), 1));
    const auto& provided = known.facts().provided;
    return std::ranges::any_of(provided, [&](const ProvidedObject& each) {
        const std::size_t dot = each.name.find('.');
        return each.kind == referred::definition.kind &&
               (each.name == "*" ||
                (dot != std::string::npos && each.name.substr(dot + 1) == group &&
                 each.name.starts_with(stem)));
    });
}

/// What MicroShift knows of a group.
struct OfMicroshift {
    bool has = false;
    /// Packages that would bring it.
    std::vector<std::string_view> packages;
};

OfMicroshift microshift_has(const ImageFacts& facts, std::string_view group,
                            std::string_view kind) {
    OfMicroshift result;
    for (const MicroshiftGroup& each : microshift_groups()) {
        const bool any = each.kinds.empty();
        if (each.group != group ||
            (!any && std::ranges::find(each.kinds, kind) == each.kinds.end())) {
            continue;
        }
        const bool packaged = !each.package.empty();
        if (packaged) {
            result.packages.push_back(each.package);
        }
        result.has = result.has || !packaged || !facts.resolved ||
                     facts.packages.contains(std::string(each.package));
    }
    return result;
}

void report_undefined(const BundleObject& where, std::string_view group,
                      const OfMicroshift& of_microshift,
                      const std::vector<DefinedKind>& definitions, Findings& findings) {
    std::vector<std::string> kinds(definitions.size());
    std::ranges::transform(definitions, kinds.begin(),
                           [](const DefinedKind& each) { return each.kind; });
    std::string hint = near_names_hint(where.object->kind, kinds);
    if (!of_microshift.packages.empty()) {
        hint = fmt::format("the package {} brings it: add it to [[packages]]",
                           fmt::join(of_microshift.packages, " or "));
    } else if (hint.empty()) {
        hint = fmt::format(
            "add the CustomResourceDefinition to this bundle; if something other than the bundles "
            "brings it, write [microshift] provided = [\"CustomResourceDefinition PLURAL.{}\"]",
            group);
    }
    findings.add(where, "/kind",
                 fmt::format("neither MicroShift nor a bundle defines {} of {}; MicroShift cannot "
                             "apply it, and holds up this bundle and all after it for ten minutes",
                             where.object->kind, group),
                 hint);
}

void check_against(const KnownObjects& known, const BundleObject& where,
                   const DefinedKind& definition, Findings& findings) {
    const KubeObject& object = *where.object;
    const std::string version = object.api_version.substr(object.api_version.find('/') + 1);
    const auto& served = definition.served;
    if (!served.empty() && std::ranges::find(served, version) == served.end()) {
        findings.add(where, "/apiVersion",
                     fmt::format("{} does not serve the version {} of {}",
                                 definition.where.object->title(), version, object.kind),
                     fmt::format("it serves {}", fmt::join(served, ", ")));
    }
    if (known.is_applied_after(*definition.where.bundle, *where.bundle)) {
        findings.add(where, "/kind",
                     fmt::format("its definition is in bundle \"{}\", which MicroShift applies "
                                 "after this one; it retries this one for ten minutes, and then "
                                 "gives it up until its next start",
                                 definition.where.bundle->name),
                     fmt::format("move the definition to bundle \"{}\", or change the order of the "
                                 "bundles",
                                 where.bundle->name));
    }
}

void check_definition_name(const BundleObject& where, Findings& findings) {
    const KubeObject& object = *where.object;
    const std::string plural = text_in(object.content, {"spec", "names", "plural"});
    const std::string group = text_in(object.content, {"spec", "group"});
    if (!plural.empty() && !group.empty() && object.name != plural + '.' + group) {
        findings.add(where, "/metadata/name",
                     fmt::format("the API server refuses a definition of {} in {} with this name",
                                 plural, group),
                     fmt::format("name it {}.{}; does the kustomization add a prefix or suffix?",
                                 plural, group));
    }
}

}  // namespace

void check_custom_resources(const KnownObjects& known, Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        const KubeObject& object = *each.object;
        if (object.kind == "CustomResourceDefinition") {
            check_definition_name(each, findings);
        }
        if (!known.is_custom(object)) {
            continue;
        }
        const std::string_view group = group_of(object.api_version);
        const std::vector<DefinedKind> definitions = definitions_of_group(known, group);
        const auto found = std::ranges::find(definitions, object.kind, &DefinedKind::kind);
        if (found != definitions.end()) {
            check_against(known, each, *found, findings);
            continue;
        }
        const OfMicroshift of_microshift = microshift_has(known.facts(), group, object.kind);
        const bool made_there = known.installs_others() ||
                                known.access().anybody_may({"create"}, referred::definition.group,
                                                           referred::definition.resource, "", "");
        const bool served_there =
            std::ranges::any_of(known.objects(), [&](const BundleObject& other) {
                return other.object->kind == "APIService" &&
                       text_in(other.object->content, {"spec", "group"}) == group;
            });
        if (!of_microshift.has && !made_there && !served_there && !known.facts().partial &&
            !is_provided_definition(known, group, object.kind)) {
            report_undefined(each, group, of_microshift, definitions, findings);
        }
    }
}

}  // namespace edgegpu
