#include "bundles/checks/pod_references_check.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/microshift_api.hpp"
#include "bundles/json_value.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// A reference to a config map or a secret.
struct DataReference {
    const ReferredKind* kind;
    std::string name;
    /// JSON pointer to the name
    std::string pointer;
    /// The keys that have to be in it, with the pointers to them.
    std::vector<std::pair<std::string, std::string>> keys;
};

void add_keys(const json& source, const std::string& pointer, DataReference& reference) {
    const std::vector<json>& items = items_at(source, {"items"});
    for (std::size_t i = 0; i < items.size(); ++i) {
        reference.keys.emplace_back(text_in(items[i], {"key"}),
                                    fmt::format("{}/items/{}/key", pointer, i));
    }
}

/// What a volume, or a source of a projected one, takes from config maps and secrets.
void add_volume_sources(const json& volume, const std::string& pointer, bool projected,
                        std::vector<DataReference>& references) {
    const auto add = [&](const ReferredKind& kind, const char* member, const char* key) {
        const json& source = value_at(volume, {member});
        if (source.is_null() || is_true_at(source, {"optional"})) {
            return;
        }
        const std::string place = fmt::format("{}/{}", pointer, member);
        DataReference reference{&kind, text_in(source, {key}), place + '/' + key, {}};
        add_keys(source, place, reference);
        references.push_back(std::move(reference));
    };
    add(referred::config_map, "configMap", "name");
    add(referred::secret, "secret", projected ? "name" : "secretName");
    const std::vector<json>& sources = items_at(volume, {"projected", "sources"});
    for (std::size_t i = 0; i < sources.size(); ++i) {
        add_volume_sources(sources[i], fmt::format("{}/projected/sources/{}", pointer, i), true,
                           references);
    }
}

/// What a container's environment takes from them.
void add_environment(const PodContainer& container, std::vector<DataReference>& references) {
    const auto add = [&](const json& source, const ReferredKind& kind, const std::string& pointer,
                         bool has_key) {
        if (source.is_null() || is_true_at(source, {"optional"})) {
            return;
        }
        DataReference reference{&kind, text_in(source, {"name"}), pointer + "/name", {}};
        if (has_key) {
            reference.keys.emplace_back(text_in(source, {"key"}), pointer + "/key");
        }
        references.push_back(std::move(reference));
    };
    const std::vector<json>& single = items_at(*container.content, {"env"});
    for (std::size_t i = 0; i < single.size(); ++i) {
        const std::string at = fmt::format("{}/env/{}/valueFrom/", container.pointer, i);
        add(value_at(single[i], {"valueFrom", "configMapKeyRef"}), referred::config_map,
            at + "configMapKeyRef", true);
        add(value_at(single[i], {"valueFrom", "secretKeyRef"}), referred::secret,
            at + "secretKeyRef", true);
    }
    const std::vector<json>& whole = items_at(*container.content, {"envFrom"});
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const std::string at = fmt::format("{}/envFrom/{}/", container.pointer, i);
        add(value_at(whole[i], {"configMapRef"}), referred::config_map, at + "configMapRef", false);
        add(value_at(whole[i], {"secretRef"}), referred::secret, at + "secretRef", false);
    }
}

std::vector<DataReference> data_references(const PodTemplate& pod) {
    std::vector<DataReference> references;
    const std::vector<json>& volumes = items_at(*pod.spec, {"volumes"});
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        add_volume_sources(volumes[i], fmt::format("{}/volumes/{}", pod.pointer, i), false,
                           references);
    }
    for (const PodContainer& container : containers_of(pod)) {
        add_environment(container, references);
    }
    std::erase_if(references, [](const DataReference& each) { return each.name.empty(); });
    return references;
}

/// Config maps that controllers put into every namespace.
bool is_everywhere(const DataReference& reference) {
    return reference.kind == &referred::config_map &&
           (reference.name == "kube-root-ca.crt" || reference.name == "openshift-service-ca.crt");
}

/// Whether the service CA makes the secret, for a service with its annotation.
bool is_serving_certificate(const KnownObjects& known, const std::string& name_space,
                            const std::string& name) {
    static constexpr std::array<std::string_view, 2> annotations{
        "service.beta.openshift.io/serving-cert-secret-name",
        "service.alpha.openshift.io/serving-cert-secret-name"};
    const std::vector<BundleObject> services = known.all_of(referred::service, name_space);
    return std::ranges::any_of(services, [&](const BundleObject& service) {
        return std::ranges::any_of(annotations, [&](std::string_view key) {
            return text_in(service.object->content, {"metadata", "annotations", key}) == name;
        });
    });
}

/// Whether the service CA fills a config map.
bool gets_certificates(const KubeObject& object) {
    const json::object_t& annotations = entries_at(object.content, {"metadata", "annotations"});
    return annotations.contains("service.beta.openshift.io/inject-cabundle") ||
           annotations.contains("service.alpha.openshift.io/inject-cabundle");
}

/// The keys of a config map or secret.
std::vector<std::string> keys_of(const KubeObject& object) {
    std::vector<std::string> keys;
    for (const std::string_view part : {"data", "binaryData", "stringData"}) {
        for (const auto& [key, value] : entries_at(object.content, {part})) {
            keys.push_back(key);
        }
    }
    return keys;
}

void check_keys(const KnownObjects& known, const PodTemplate& pod, const std::string& name_space,
                const DataReference& reference, Findings& findings) {
    const BundleObject* source = known.find(*reference.kind, name_space, reference.name);
    if (source == nullptr || gets_certificates(*source->object) ||
        text_in(source->object->content, {"type"}) == "kubernetes.io/service-account-token" ||
        known.is_rewritten(*reference.kind, name_space, reference.name)) {
        return;
    }
    const std::vector<std::string> keys = keys_of(*source->object);
    for (const auto& [key, pointer] : reference.keys) {
        // An empty one is there to be filled on the device.
        if (keys.empty() || std::ranges::find(keys, key) != keys.end()) {
            continue;
        }
        const std::string near = near_names_hint(key, keys);
        findings.add(pod.where, pointer,
                     fmt::format("{} {} has no key \"{}\"; the pod does not start without it",
                                 reference.kind->kind, reference.name, key),
                     near.empty() ? fmt::format("its keys: {}", fmt::join(keys, ", ")) : near);
    }
}

void check_data(const KnownObjects& known, const PodTemplate& pod, const std::string& name_space,
                Findings& findings) {
    std::set<std::pair<std::string_view, std::string>> said;
    for (const DataReference& reference : data_references(pod)) {
        if (is_everywhere(reference)) {
            continue;
        }
        const bool made = reference.kind == &referred::secret &&
                          is_serving_certificate(known, name_space, reference.name);
        if (made || !known.lacks(*reference.kind, name_space, reference.name)) {
            check_keys(known, pod, name_space, reference, findings);
        } else if (said.emplace(reference.kind->kind, reference.name).second) {
            findings.add(pod.where, reference.pointer,
                         fmt::format("no bundle has {} {}; the pod does not start without it",
                                     reference.kind->kind, full_name(name_space, reference.name)),
                         known.way_out(*reference.kind, name_space, reference.name) +
                             (reference.kind == &referred::secret
                                  ? ": a secret is usually put on the device when that is installed"
                                  : "") +
                             "; with \"optional: true\" the pod starts without it");
        }
    }
}

void check_account(const KnownObjects& known, const PodTemplate& pod, const std::string& name_space,
                   Findings& findings) {
    for (const std::string_view key : {"serviceAccountName", "serviceAccount"}) {
        const std::string name = text_in(*pod.spec, {key});
        if (name.empty() || name == "default") {
            continue;
        }
        if (known.lacks(referred::service_account, name_space, name)) {
            findings.add(pod.where, fmt::format("{}/{}", pod.pointer, key),
                         fmt::format("no bundle has ServiceAccount {}; the API server refuses pods "
                                     "of an account that does not exist",
                                     full_name(name_space, name)),
                         known.way_out(referred::service_account, name_space, name));
        }
        return;
    }
}

/// Whether a claim is made for a pod of a stateful set: TEMPLATE-SET-NUMBER.
bool is_made_by_set(const KnownObjects& known, const std::string& name_space,
                    std::string_view name) {
    return std::ranges::any_of(known.objects(), [&](const BundleObject& each) {
        const KubeObject& set = *each.object;
        const auto& claims = items_at(set.content, {"spec", "volumeClaimTemplates"});
        return set.kind == "StatefulSet" && known.namespace_of(set) == name_space &&
               std::ranges::any_of(claims, [&](const json& claim) {
                   return name.starts_with(
                       fmt::format("{}-{}-", text_in(claim, {"metadata", "name"}), set.name));
               });
    });
}

/// Whether a stateful set makes the claim of a volume: a template of that name replaces the volume.
bool is_replaced_by_template(const PodTemplate& pod, const std::string& volume) {
    const json& content = pod.where.object->content;
    const auto& claims = items_at(content, {"spec", "volumeClaimTemplates"});
    return std::ranges::any_of(claims, [&](const json& claim) {
        return text_in(claim, {"metadata", "name"}) == volume;
    });
}

void check_claims(const KnownObjects& known, const PodTemplate& pod, const std::string& name_space,
                  Findings& findings) {
    const std::vector<json>& volumes = items_at(*pod.spec, {"volumes"});
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        const std::string name = text_in(volumes[i], {"persistentVolumeClaim", "claimName"});
        if (!name.empty() && known.lacks(referred::claim, name_space, name) &&
            !is_made_by_set(known, name_space, name) &&
            !is_replaced_by_template(pod, text_in(volumes[i], {"name"}))) {
            findings.add(
                pod.where,
                fmt::format("{}/volumes/{}/persistentVolumeClaim/claimName", pod.pointer, i),
                fmt::format("no bundle has PersistentVolumeClaim {}; the pod stays pending",
                            full_name(name_space, name)),
                known.way_out(referred::claim, name_space, name));
        }
    }
}

void check_priority(const KnownObjects& known, const PodTemplate& pod, Findings& findings) {
    const std::string name = text_in(*pod.spec, {"priorityClassName"});
    if (!name.empty() && !is_builtin_priority_class(name) &&
        known.lacks(referred::priority_class, "", name)) {
        findings.add(pod.where, pod.pointer + "/priorityClassName",
                     fmt::format("no bundle has PriorityClass {}; the API server refuses pods of a "
                                 "class that does not exist",
                                 name),
                     known.way_out(referred::priority_class, "", name));
    }
}

void check_storage_class(const KnownObjects& known, const BundleObject& where, const json& claim,
                         const std::string& pointer, Findings& findings) {
    const std::string name = text_in(claim, {"spec", "storageClassName"});
    if (name.empty() || is_builtin_storage_class(name) ||
        !text_in(claim, {"spec", "volumeName"}).empty() ||
        !known.lacks(referred::storage_class, "", name)) {
        return;
    }
    // A volume that was made by hand needs no class: the name alone connects it with claims.
    const bool by_hand = std::ranges::any_of(known.objects(), [&](const BundleObject& each) {
        return each.object->kind == "PersistentVolume" &&
               text_in(each.object->content, {"spec", "storageClassName"}) == name;
    });
    if (!by_hand) {
        findings.add(
            where, pointer + "/spec/storageClassName",
            fmt::format("no bundle has StorageClass {}, or a volume of it; the claim stays "
                        "pending",
                        name),
            "MicroShift's own class is topolvm-provisioner, which is also taken where no "
            "class is named; " +
                known.way_out(referred::storage_class, "", name));
    }
}

}  // namespace

void check_pod_references(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                          Findings& findings) {
    for (const PodTemplate& pod : pods) {
        const KubeObject& object = *pod.where.object;
        // A PodTemplate is only a form that others copy.
        if (known.is_custom(object) || object.kind == "PodTemplate") {
            continue;
        }
        const std::string& name_space = known.namespace_of(object);
        check_account(known, pod, name_space, findings);
        check_data(known, pod, name_space, findings);
        check_claims(known, pod, name_space, findings);
        check_priority(known, pod, findings);
    }
}

void check_storage_classes(const KnownObjects& known, Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        const json& content = each.object->content;
        if (each.object->kind == "PersistentVolumeClaim") {
            check_storage_class(known, each, content, "", findings);
        }
        const auto& claims = items_at(content, {"spec", "volumeClaimTemplates"});
        for (std::size_t i = 0; each.object->kind == "StatefulSet" && i < claims.size(); ++i) {
            check_storage_class(known, each, claims[i],
                                fmt::format("/spec/volumeClaimTemplates/{}", i), findings);
        }
    }
}

}  // namespace edgegpu
