#include "bundles/checks/checks.hpp"

#include "blueprint/toml/mistakes.hpp"
#include "bundles/checks/findings.hpp"
#include "bundles/checks/gpu_check.hpp"
#include "bundles/checks/image_check.hpp"
#include "bundles/checks/schema_check.hpp"

namespace edgegpu {

void check_bundles(const std::vector<RenderedBundle>& bundles, const ImageFacts& facts) {
    if (bundles.empty()) {
        return;
    }
    Mistakes mistakes;
    Findings findings(mistakes);
    const std::vector<BundleObject> objects = objects_of(bundles);
    check_schemas(objects, facts.kubernetes, findings);
    check_images(objects, facts, findings);
    check_gpus(objects, facts, findings);
    mistakes.throw_any(bundles.front().files.location.file);
}

}  // namespace edgegpu
