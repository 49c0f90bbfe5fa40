#include "blueprint/toml/mistakes.hpp"
#include "bundles/checks/checks.hpp"
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
        const std::string text(data);
        std::vector<KubeObject> objects = read_objects("bundle \"fuzz\"", text);
        static_cast<void>(images_of(objects));
        static_cast<void>(extended_resources_of(objects));
        // As if the bundle's only file was what kustomize made of it.
        const BundleFiles files{"fuzz", "fuzz", {"b.toml", 1, 1}, {{"a.yaml", text}}};
        ImageFacts facts;
        facts.kubernetes = kubernetes_for("4.18.1");
        facts.architecture = "x86_64";
        facts.driver = "535.261.03";
        facts.devices = {"10de:20b7"};
        facts.packages = {"microshift"};
        check_bundles({{"fuzz", files, text, std::move(objects)}}, facts);
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
