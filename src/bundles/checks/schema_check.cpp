#include "bundles/checks/schema_check.hpp"

#include <string>

#include <fmt/format.h>

#include "schema/kubernetes_schemas.hpp"

namespace edgegpu {

void check_schemas(const std::vector<BundleObject>& objects, KubernetesVersion version,
                   Findings& findings) {
    KubernetesSchemas schemas(version);
    const std::string hint = fmt::format(
        "Kubernetes {} refuses it, and MicroShift then holds up this bundle "
        "and all after it for ten minutes: change the manifest, or patch it in the "
        "kustomization",
        version.text());
    for (const BundleObject& each : objects) {
        for (const SchemaProblem& problem : schemas.check(each.object->content).problems) {
            findings.add(each, problem.pointer, problem.message, hint);
        }
    }
}

}  // namespace edgegpu
