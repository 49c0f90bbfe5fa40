#include "bundles/checks/namespaces_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/microshift_api.hpp"
#include "schema/kind_problem.hpp"

namespace edgegpu {

namespace {

/// Whether MicroShift has a namespace; if not, the packages that would bring it.
bool microshift_brings(const ImageFacts& facts, std::string_view name,
                       std::vector<std::string_view>& packages) {
    bool brings = false;
    for (const MicroshiftNamespace& each : microshift_namespaces()) {
        if (each.name != name) {
            continue;
        }
        if (each.package.empty() || !facts.resolved ||
            facts.packages.contains(std::string(each.package))) {
            brings = true;
        } else {
            packages.push_back(each.package);
        }
    }
    return brings;
}

void check_missing_namespace(const KnownObjects& known, const BundleObject& where,
                             const std::string& name, Findings& findings) {
    std::vector<std::string_view> packages;
    if (microshift_brings(known.facts(), name, packages) || known.installs_others() ||
        !known.lacks(referred::name_space, "", name)) {
        return;
    }
    const std::string hint =
        packages.empty()
            ? "add the Namespace to the bundle; " + known.way_out(referred::name_space, "", name)
            : fmt::format("the package {} brings it: add it to [[packages]]",
                          fmt::join(packages, " or "));
    findings.add(where, "/metadata/namespace",
                 fmt::format("no bundle has the namespace {}; MicroShift cannot apply objects in "
                             "it, and holds up this bundle and all after it for ten minutes",
                             name),
                 hint);
}

}  // namespace

void check_namespaces(const KnownObjects& known, Findings& findings) {
    std::set<std::pair<const RenderedBundle*, std::string>> seen;
    for (const BundleObject& each : known.objects()) {
        const std::string& name = known.namespace_of(*each.object);
        // One message for all objects of a bundle.
        if (name.empty() || !seen.emplace(each.bundle, name).second) {
            continue;
        }
        const BundleObject* owner = known.find(referred::name_space, "", name);
        if (owner == nullptr) {
            check_missing_namespace(known, each, name, findings);
        } else if (known.is_applied_after(*owner->bundle, *each.bundle)) {
            std::vector<std::string_view> packages;
            if (microshift_brings(known.facts(), name, packages)) {
                continue;
            }
            findings.add(each, "/metadata/namespace",
                         fmt::format("the namespace {} is in bundle \"{}\", which MicroShift "
                                     "applies after this one; it retries this one for ten "
                                     "minutes, and then gives it up until its next start",
                                     name, owner->bundle->name),
                         fmt::format("move the namespace to bundle \"{}\", or change the order of "
                                     "the bundles",
                                     each.bundle->name));
        }
    }
}

void check_duplicates(const KnownObjects& known, Findings& findings) {
    std::map<std::tuple<std::string, std::string, std::string, std::string>, BundleObject> seen;
    for (const BundleObject& each : known.objects()) {
        const KubeObject& object = *each.object;
        const auto [at, added] =
            seen.emplace(std::tuple(std::string(group_of(object.api_version)), object.kind,
                                    known.namespace_of(object), object.name),
                         each);
        if (added) {
            continue;
        }
        const bool same_bundle = at->second.bundle == each.bundle;
        findings.add(each, "",
                     same_bundle
                         ? "the bundle has it twice, once with the namespace and once without"
                         : fmt::format("bundle \"{}\" has it, too: the device keeps the object "
                                       "that MicroShift applies last",
                                       at->second.bundle->name),
                     "remove one of the two; what several bundles need can be a bundle of its own");
    }
}

}  // namespace edgegpu
