#include "bundles/install/place.hpp"

#include <utility>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "schema/kind_problem.hpp"
#include "support/error.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace {

constexpr const char* own_places_hint =
    "give one of the bundles another namespace, or have MicroShift apply each by itself, the last "
    "of them winning: [microshift] manifests = \"/etc/microshift/manifests.d\"";

/// kustomize's identity of an object, which does not count the version of its API group.
std::string identity_of(const KubeObject& object) {
    return fmt::format("{}\n{}\n{}\n{}", group_of(object.api_version), object.kind,
                       object.name_space, object.name);
}

std::string root_kustomization(const std::vector<RenderedBundle>& bundles) {
    YamlNode names = yaml_list();
    for (const RenderedBundle& bundle : bundles) {
        names.items.push_back(yaml_string(bundle.name));
    }
    return write_yaml(yaml_map({{"apiVersion", yaml_plain("kustomize.config.k8s.io/v1beta1")},
                                {"kind", yaml_plain("Kustomization")},
                                {"resources", std::move(names)}}));
}

/// Paths relative to the directory of the bundles → content.
std::map<std::string, std::string> files_together(const std::vector<RenderedBundle>& bundles,
                                                  bool root) {
    std::map<std::string, std::string> files;
    for (const RenderedBundle& bundle : bundles) {
        for (const auto& [file, content] : bundle.files.files) {
            files[fmt::format("{}/{}", bundle.name, file)] = content;
        }
    }
    if (root) {
        files["kustomization.yaml"] = root_kustomization(bundles);
    }
    return files;
}

/// Throws for objects that two bundles have.
void check_owners(const std::vector<RenderedBundle>& bundles) {
    std::map<std::string, const RenderedBundle*> owners;
    Mistakes mistakes;
    for (const RenderedBundle& bundle : bundles) {
        for (const KubeObject& object : bundle.objects) {
            const auto [owner, is_new] = owners.emplace(identity_of(object), &bundle);
            if (!is_new && owner->second != &bundle) {
                mistakes.add(error(ErrorKind::usage,
                                   "{}: {} is also in bundle \"{}\": they cannot be applied "
                                   "together",
                                   bundle.files.title(), object.title(), owner->second->name)
                                 .hinted(own_places_hint));
            }
        }
    }
    mistakes.throw_any(bundles.front().files.location.file);
}

}  // namespace

ManifestFiles place_bundles(const std::vector<RenderedBundle>& bundles, ManifestsPlace place) {
    ManifestFiles placed;
    if (bundles.empty()) {
        return placed;
    }
    for (auto& [file, content] : files_together(bundles, place == ManifestsPlace::root)) {
        placed[fmt::format("{}/{}", place, file)] = content;
    }
    return placed;
}

void check_together(const Context& ctx, const std::vector<RenderedBundle>& bundles,
                    ManifestsPlace place) {
    if (bundles.size() < 2 || place != ManifestsPlace::root) {
        return;
    }
    check_owners(bundles);
    BundleFiles all{"all bundles", root_manifests, bundles.front().files.location,
                    files_together(bundles, true)};
    const RenderedBundle together = render_bundle(ctx, find_renderer(ctx), all);
    std::map<std::string, const std::string*> texts;
    for (const KubeObject& object : together.objects) {
        texts[identity_of(object)] = &object.text;
    }
    for (const RenderedBundle& bundle : bundles) {
        for (const KubeObject& object : bundle.objects) {
            const auto found = texts.find(identity_of(object));
            if (found == texts.end() || *found->second != object.text) {
                throw error(ErrorKind::usage,
                            "{}: {} is not the same when kustomize renders all bundles together",
                            bundle.files.title(), object.title())
                    .hinted(own_places_hint);
            }
        }
    }
}

}  // namespace edgegpu
