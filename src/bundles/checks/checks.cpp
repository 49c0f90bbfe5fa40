#include "bundles/checks/checks.hpp"

#include "blueprint/toml/mistakes.hpp"
#include "bundles/checks/bindings_check.hpp"
#include "bundles/checks/custom_resources_check.hpp"
#include "bundles/checks/findings.hpp"
#include "bundles/checks/gpu_check.hpp"
#include "bundles/checks/image_check.hpp"
#include "bundles/checks/known_objects.hpp"
#include "bundles/checks/names_check.hpp"
#include "bundles/checks/namespaces_check.hpp"
#include "bundles/checks/pod_references_check.hpp"
#include "bundles/checks/pod_structure_check.hpp"
#include "bundles/checks/privileges_check.hpp"
#include "bundles/checks/pull_policy.hpp"
#include "bundles/checks/schema_check.hpp"
#include "bundles/checks/services_check.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

namespace {

/// What objects demand of themselves and of each other.
void check_structure(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                     Findings& findings) {
    check_names_and_labels(known, pods, findings);
    check_duplicates(known, findings);
    check_namespaces(known, findings);
    check_custom_resources(known, findings);
    check_pod_structure(known, pods, findings);
    check_pod_references(known, pods, findings);
    check_storage_classes(known, findings);
    check_services(known, pods, findings);
    check_service_references(known, findings);
    check_bindings(known, findings);
}

}  // namespace

void check_bundles(const std::vector<RenderedBundle>& bundles, const ImageFacts& facts) {
    if (bundles.empty()) {
        return;
    }
    Mistakes mistakes;
    Findings findings(mistakes);
    const std::vector<BundleObject> objects = objects_of(bundles);
    check_schemas(objects, facts.kubernetes, findings);
    check_pull_policies(objects, facts.embedded, findings);
    const KnownObjects known(objects, facts);
    const std::vector<PodTemplate> pods = pods_of(objects);
    check_structure(known, pods, findings);
    check_privileges(known, pods, findings);
    check_images(objects, facts, findings);
    check_gpus(objects, facts, findings);
    mistakes.throw_any(bundles.front().files.location.file);
}

}  // namespace edgegpu
