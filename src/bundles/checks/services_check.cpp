#include "bundles/checks/services_check.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/selectors.hpp"
#include "bundles/json_value.hpp"
#include "schema/kind_problem.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// The labels of a selector that a template can have.
json without_controllers_labels(const json& selector) {
    json rest = selector;
    std::erase_if(rest.get_ref<json::object_t&>(),
                  [](const auto& each) { return is_label_of_controllers(each.first); });
    return rest;
}

std::vector<const PodTemplate*> selected_pods(const KnownObjects& known,
                                              const std::vector<PodTemplate>& pods,
                                              const std::string& name_space, const json& selector) {
    const json wanted = without_controllers_labels(selector);
    return pointers_to(pods, [&](const PodTemplate& pod) {
        return known.namespace_of(*pod.where.object) == name_space &&
               have_labels(labels_of(pod), wanted);
    });
}

/// The pods of a namespace, each with its labels, for a hint.
std::string labels_there(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                         const std::string& name_space) {
    std::vector<std::string> texts;
    for (const PodTemplate& pod : pods) {
        if (known.namespace_of(*pod.where.object) != name_space || texts.size() == 3) {
            continue;
        }
        std::vector<std::string> pairs;
        for (const auto& [key, value] : labels_of(pod)) {
            pairs.push_back(fmt::format("{}={}", key, text_of(value)));
        }
        texts.push_back(
            fmt::format("{} has {}", pod.where.object->title(),
                        pairs.empty() ? "no labels" : fmt::format("{}", fmt::join(pairs, ", "))));
    }
    return texts.empty() ? fmt::format("no bundle has pods in the namespace {}", name_space)
                         : fmt::format("{}", fmt::join(texts, "; "));
}

std::set<std::string> port_names(const std::vector<const PodTemplate*>& pods) {
    std::set<std::string> names;
    for (const PodTemplate* pod : pods) {
        for (const PodContainer& container : containers_of(*pod)) {
            for (const json& port : items_at(*container.content, {"ports"})) {
                if (const std::string name = text_in(port, {"name"}); !name.empty()) {
                    names.insert(name);
                }
            }
        }
    }
    return names;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_target_ports(const BundleObject& service, const std::vector<const PodTemplate*>& pods,
                        Findings& findings) {
    const std::set<std::string> names = port_names(pods);
    const std::vector<json>& ports = items_at(service.object->content, {"spec", "ports"});
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::string target = text_in(ports[i], {"targetPort"});
        if (!target.empty() && !is_number(target) && !names.contains(target)) {
            findings.add(
                service, fmt::format("/spec/ports/{}/targetPort", i),
                fmt::format("no container of the pods that it selects has a port named \"{}\"; the "
                            "service leads nowhere",
                            target),
                names.empty() ? "the containers name no ports: write the number, or name the port"
                              : fmt::format("their ports: {}", fmt::join(names, ", ")));
        }
    }
}

void check_service(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                   const BundleObject& service, Findings& findings) {
    const json& content = service.object->content;
    const json& selector = value_at(content, {"spec", "selector"});
    const std::string& name_space = known.namespace_of(*service.object);
    if (!selector.is_object() || selector.empty() ||
        text_in(content, {"spec", "type"}) == "ExternalName") {
        return;
    }
    const auto selected = selected_pods(known, pods, name_space, selector);
    if (!selected.empty()) {
        if (!std::ranges::any_of(selected, [&](const PodTemplate* pod) {
                return known.is_custom(*pod->where.object);
            })) {
            check_target_ports(service, selected, findings);
        }
        return;
    }
    if (!known.is_in_flux(name_space) && known.lacks(referred::pod, name_space, "*")) {
        findings.add(
            service, "/spec/selector",
            "its selector matches no pod of the bundles; the service leads nowhere",
            labels_there(known, pods, name_space) +
                fmt::format(". If something other than the bundles creates its pods, write "
                            "[microshift] provided = [\"Pod {}/*\"]",
                            name_space));
    }
}

/// The service that a backend, a webhook or the like is to reach.
struct ServiceReference {
    const BundleObject* where;
    std::string name_space;
    std::string name;
    /// JSON pointers to the name and to the port.
    std::string pointer;
    std::string port_pointer;
    /// A name or a number; empty if it is not to be checked.
    std::string port;
    /// "an ingress without it answers 503": what follows.
    std::string_view effect;
};

bool has_port(const KubeObject& service, std::string_view port) {
    const std::vector<json>& ports = items_at(service.content, {"spec", "ports"});
    return ports.empty() || std::ranges::any_of(ports, [&](const json& each) {
               return text_in(each, {is_number(port) ? "port" : "name"}) == port;
           });
}

void check_service_reference(const KnownObjects& known, const ServiceReference& reference,
                             Findings& findings) {
    const BundleObject* service =
        known.find(referred::service, reference.name_space, reference.name);
    if (service == nullptr) {
        if (!reference.name.empty() && !known.is_in_flux(reference.name_space) &&
            known.lacks(referred::service, reference.name_space, reference.name)) {
            findings.add(
                *reference.where, reference.pointer,
                fmt::format("no bundle has Service {}; {}",
                            full_name(reference.name_space, reference.name), reference.effect),
                known.way_out(referred::service, reference.name_space, reference.name));
        }
        return;
    }
    if (!reference.port.empty() &&
        text_in(service->object->content, {"spec", "type"}) != "ExternalName" &&
        !has_port(*service->object, reference.port)) {
        std::vector<std::string> ports;
        for (const json& port : items_at(service->object->content, {"spec", "ports"})) {
            const std::string name = text_in(port, {"name"});
            ports.push_back(text_in(port, {"port"}) + (name.empty() ? "" : " (" + name + ')'));
        }
        findings.add(*reference.where, reference.port_pointer,
                     fmt::format("Service {} has no port {}; {}", service->object->name,
                                 reference.port, reference.effect),
                     fmt::format("its ports: {}", fmt::join(ports, ", ")));
    }
}

/// A backend of networking.k8s.io/v1.
void check_backend(const KnownObjects& known, const BundleObject& where, const json& backend,
                   const std::string& pointer, Findings& findings) {
    const json& service = value_at(backend, {"service"});
    if (service.is_null()) {
        return;
    }
    const std::string at = pointer + "/service";
    const std::string name = text_in(service, {"port", "name"});
    check_service_reference(
        known,
        {&where, known.namespace_of(*where.object), text_in(service, {"name"}), at + "/name",
         at + "/port", name.empty() ? text_in(service, {"port", "number"}) : name,
         "the router answers 503"},
        findings);
}

void check_ingress(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const json& content = where.object->content;
    check_backend(known, where, value_at(content, {"spec", "defaultBackend"}),
                  "/spec/defaultBackend", findings);
    const std::vector<json>& rules = items_at(content, {"spec", "rules"});
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const std::vector<json>& paths = items_at(rules[i], {"http", "paths"});
        for (std::size_t j = 0; j < paths.size(); ++j) {
            check_backend(known, where, value_at(paths[j], {"backend"}),
                          fmt::format("/spec/rules/{}/http/paths/{}/backend", i, j), findings);
        }
    }
}

void check_route(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const json& content = where.object->content;
    const std::string kind = text_in(content, {"spec", "to", "kind"});
    if (!kind.empty() && kind != "Service") {
        return;
    }
    // A number is that of a port of the pods.
    const std::string port = text_in(content, {"spec", "port", "targetPort"});
    const std::string name_space =
        where.object->name_space.empty() ? "default" : where.object->name_space;
    check_service_reference(
        known,
        {&where, name_space, text_in(content, {"spec", "to", "name"}), "/spec/to/name",
         "/spec/port/targetPort", is_number(port) ? std::string() : port, "the router answers 503"},
        findings);
}

void check_client(const KnownObjects& known, const BundleObject& where, const json& service,
                  const std::string& pointer, std::string_view effect, Findings& findings) {
    if (service.is_null()) {
        return;
    }
    std::string port = text_in(service, {"port"});
    if (port.empty()) {
        port = "443";
    }
    check_service_reference(known,
                            {&where, text_in(service, {"namespace"}), text_in(service, {"name"}),
                             pointer + "/name", pointer + "/port", port, effect},
                            findings);
}

void check_clients(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const KubeObject& object = *where.object;
    const std::vector<json>& webhooks = items_at(object.content, {"webhooks"});
    for (std::size_t i = 0; i < webhooks.size(); ++i) {
        check_client(known, where, value_at(webhooks[i], {"clientConfig", "service"}),
                     fmt::format("/webhooks/{}/clientConfig/service", i),
                     "the API server cannot call the webhook", findings);
    }
    if (object.kind == "CustomResourceDefinition") {
        check_client(
            known, where,
            value_at(object.content, {"spec", "conversion", "webhook", "clientConfig", "service"}),
            "/spec/conversion/webhook/clientConfig/service",
            "the API server cannot convert objects between versions", findings);
    }
    if (object.kind == "APIService") {
        check_client(known, where, value_at(object.content, {"spec", "service"}), "/spec/service",
                     "the API server cannot reach this API", findings);
    }
}

/// What a HorizontalPodAutoscaler scales.
void check_scaled(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    static constexpr std::array<ReferredKind, 4> scaled{
        {{"apps", "Deployment", "deployments"},
         {"apps", "ReplicaSet", "replicasets"},
         {"apps", "StatefulSet", "statefulsets"},
         {"", "ReplicationController", "replicationcontrollers"}}};
    const json& target = value_at(where.object->content, {"spec", "scaleTargetRef"});
    const std::string kind = text_in(target, {"kind"});
    const std::string api_version = text_in(target, {"apiVersion"});
    const std::string name = text_in(target, {"name"});
    const std::string& name_space = known.namespace_of(*where.object);
    for (const ReferredKind& each : scaled) {
        if (each.kind == kind && !name.empty() && group_of(api_version) == each.group &&
            !known.is_in_flux(name_space) && known.lacks(each, name_space, name)) {
            findings.add(where, "/spec/scaleTargetRef/name",
                         fmt::format("no bundle has {} {}; there is nothing to scale", kind,
                                     full_name(name_space, name)),
                         known.way_out(each, name_space, name));
        }
    }
}

}  // namespace

void check_services(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                    Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        if (each.object->kind == "Service" && each.object->api_version == "v1") {
            check_service(known, pods, each, findings);
        }
    }
}

void check_service_references(const KnownObjects& known, Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        const KubeObject& object = *each.object;
        const std::string_view group = group_of(object.api_version);
        if (object.kind == "Ingress" && group == "networking.k8s.io") {
            check_ingress(known, each, findings);
        } else if (object.kind == "Route" && group == "route.openshift.io") {
            check_route(known, each, findings);
        } else if (object.kind == "HorizontalPodAutoscaler") {
            check_scaled(known, each, findings);
        } else if (group == "admissionregistration.k8s.io" || group == "apiextensions.k8s.io" ||
                   group == "apiregistration.k8s.io") {
            check_clients(known, each, findings);
        }
    }
}

}  // namespace edgegpu
