#include "blueprint/toml/mistakes.hpp"
#include "bundles/go_module.hpp"
#include "bundles/kustomization.hpp"
#include "bundles/objects.hpp"
#include "bundles/pods.hpp"
#include "fuzz/targets.hpp"

namespace edgegpu::fuzz {

void read_go_program(std::string_view data) {
    static_cast<void>(go_module_of(data));
}

void read_kube_objects(std::string_view data) {
    read_or_refuse([&] {
        const std::vector<KubeObject> objects = read_objects("bundle \"fuzz\"", data);
        static_cast<void>(images_of(objects));
        static_cast<void>(extended_resources_of(objects));
    });
}

void read_kustomization(std::string_view data) {
    const BundleFiles bundle{"fuzz",
                             "fuzz",
                             {"b.toml", 1, 1},
                             {{"kustomization.yaml", std::string(data)},
                              {"a.yaml", "kind: X\n"},
                              {"base/Kustomization", std::string(data)},
                              {"base/b.yaml", "kind: Y\n"}}};
    read_or_refuse([&] {
        Mistakes mistakes;
        check_kustomizations(bundle, mistakes);
        mistakes.throw_any("b.toml");
    });
}

}  // namespace edgegpu::fuzz
