#include "bundles/checks/image_facts.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "schema/kubernetes_schemas.hpp"

namespace edgegpu {

namespace {

/// The name of a request for a package: "microshift" of "microshift-4.18.*". What follows a hyphen
/// begins with a digit if it is a version.
std::string name_in(std::string_view spec) {
    for (std::size_t at = spec.find('-'); at != std::string_view::npos;
         at = spec.find('-', at + 1)) {
        const char next = at + 1 < spec.size() ? spec[at + 1] : '\0';
        if ((next >= '0' && next <= '9') || next == '*') {
            return std::string(spec.substr(0, at));
        }
    }
    return std::string(spec);
}

/// Whether an overlay has one of these directories; of an archive that is not known.
bool may_bring_directory(const OverlayRequest& overlay,
                         std::initializer_list<const char*> directories) {
    std::error_code code;
    if (overlay.target != "/" || overlay.strip_components > 0 ||
        !std::filesystem::is_directory(overlay.source, code)) {
        return true;
    }
    return std::ranges::any_of(directories, [&](const char* directory) {
        return std::filesystem::exists(overlay.source / directory, code);
    });
}

bool may_bring_driver_otherwise(const Blueprint& blueprint) {
    const auto names_nvidia = [](const auto& request) {
        return request.find("nvidia") != std::string::npos;
    };
    return !blueprint.firstboot.empty() ||
           std::ranges::any_of(blueprint.groups,
                               [&](const auto& group) { return names_nvidia(group.spec); }) ||
           std::ranges::any_of(blueprint.modules,
                               [&](const auto& module) { return names_nvidia(module.name); }) ||
           std::ranges::any_of(blueprint.overlays, [](const auto& each) {
               return may_bring_directory(each, {"usr/lib/modules", "usr/lib64", "lib/modules"});
           });
}

bool may_bring_manifests(const Blueprint& blueprint, const std::set<std::string>& packages) {
    const auto is_manifest_package = [](const std::string& name) {
        return name.find("manifest") != std::string::npos ||
               name.find("gitops") != std::string::npos ||
               name.find("device-plugin") != std::string::npos;
    };
    return !blueprint.firstboot.empty() || std::ranges::any_of(packages, is_manifest_package) ||
           std::ranges::any_of(blueprint.files,
                               [](const FileRequest& file) {
                                   return file.path.find("/microshift/manifests") !=
                                          std::string::npos;
                               }) ||
           std::ranges::any_of(blueprint.overlays, [](const auto& each) {
               return may_bring_directory(each,
                                          {"etc/microshift/manifests", "etc/microshift/manifests.d",
                                           "usr/lib/microshift"});
           });
}

}  // namespace

bool ImageFacts::provides(std::string_view kind, std::string_view name_space,
                          std::string_view name) const {
    return std::ranges::any_of(provided, [&](const ProvidedObject& each) {
        return each.kind == kind && each.name_space == name_space &&
               (each.name == "*" || each.name == name);
    });
}

KubernetesVersion kubernetes_for(std::string_view microshift) {
    const KubernetesRange range = KubernetesSchemas::shipped_versions();
    const KubernetesVersion wanted = kubernetes_of_microshift(microshift).value_or(range.last);
    return {std::clamp(wanted.minor, range.first.minor, range.last.minor)};
}

ImageFacts facts_of(const Blueprint& blueprint) {
    constexpr std::string_view microshift = "microshift-";
    ImageFacts facts;
    std::string_view version;
    for (const PackageRequest& request : blueprint.packages) {
        const std::string name = name_in(request.spec);
        if (name == "microshift" && request.spec.starts_with(microshift)) {
            version = std::string_view(request.spec).substr(microshift.size());
        }
        facts.packages.insert(name);
    }
    facts.kubernetes = kubernetes_for(version);
    facts.architecture = blueprint.architecture;
    facts.manifests = blueprint.microshift.manifests;
    facts.embedded = blueprint.microshift.embed_images;
    facts.provided = blueprint.microshift.provided;
    if (blueprint.nvidia) {
        facts.driver = blueprint.nvidia->driver == "latest" ? "" : blueprint.nvidia->driver;
        facts.devices = blueprint.nvidia->devices;
        facts.gpus = blueprint.nvidia->gpus;
        facts.mig = blueprint.nvidia->mig;
    }
    facts.may_have_driver = blueprint.nvidia || may_bring_driver(facts.packages) ||
                            may_bring_driver_otherwise(blueprint) || blueprint.parent;
    facts.may_have_manifests =
        may_bring_manifests(blueprint, facts.packages) || blueprint.parent.has_value();
    return facts;
}

ImageFacts facts_without_blueprint() {
    ImageFacts facts;
    facts.kubernetes = kubernetes_for("");
    facts.partial = true;
    return facts;
}

bool may_bring_driver(const std::set<std::string>& packages) {
    return std::ranges::any_of(packages, [](const std::string& name) {
        const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
        return (has("nvidia") && !has("container") && !has("firmware")) || has("cuda-drivers");
    });
}

}  // namespace edgegpu
