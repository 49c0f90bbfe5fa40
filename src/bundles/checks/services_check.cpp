#include "bundles/checks/services_check.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/selectors.hpp"
#include "schema/kind_problem.hpp"

namespace edgegpu {

namespace {

/// The labels of a selector that a template can have.
YamlNode without_controllers_labels(const YamlNode& selector) {
    YamlNode rest = selector;
    for (std::size_t i = rest.keys.size(); i-- > 0;) {
        if (is_label_of_controllers(rest.keys[i])) {
            rest.keys.erase(rest.keys.begin() + static_cast<std::ptrdiff_t>(i));
            rest.items.erase(rest.items.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return rest;
}

std::vector<const PodTemplate*> selected_pods(const KnownObjects& known,
                                              const std::vector<PodTemplate>& pods,
                                              const std::string& name_space,
                                              const YamlNode& selector) {
    const YamlNode wanted = without_controllers_labels(selector);
    std::vector<const PodTemplate*> selected;
    for (const PodTemplate& pod : pods) {
        if (known.namespace_of(*pod.where.object) == name_space &&
            have_labels(labels_of(pod), wanted)) {
            selected.push_back(&pod);
        }
    }
    return selected;
}

/// The pods of a namespace, each with its labels, for a hint.
std::string labels_there(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                         const std::string& name_space) {
    std::vector<std::string> texts;
    for (const PodTemplate& pod : pods) {
        const YamlNode* labels = labels_of(pod);
        if (known.namespace_of(*pod.where.object) != name_space || texts.size() == 3) {
            continue;
        }
        std::vector<std::string> pairs;
        for (std::size_t i = 0; labels != nullptr && i < labels->keys.size(); ++i) {
            pairs.push_back(fmt::format("{}={}", labels->keys[i], labels->items[i].text));
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
            for (const YamlNode& port : items_of(container.content->find("ports"))) {
                if (const std::string name = port.text_at({"name"}); !name.empty()) {
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
    const std::vector<YamlNode>& ports = items_of(service.object->content.find({"spec", "ports"}));
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::string target = ports[i].text_at({"targetPort"});
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
    const YamlNode& content = service.object->content;
    const YamlNode* selector = content.find({"spec", "selector"});
    const std::string& name_space = known.namespace_of(*service.object);
    if (selector == nullptr || selector->keys.empty() ||
        content.text_at({"spec", "type"}) == "ExternalName") {
        return;
    }
    const auto selected = selected_pods(known, pods, name_space, *selector);
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
    const std::vector<YamlNode>& ports = items_of(service.content.find({"spec", "ports"}));
    return ports.empty() || std::ranges::any_of(ports, [&](const YamlNode& each) {
               return each.text_at({is_number(port) ? "port" : "name"}) == port;
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
        service->object->content.text_at({"spec", "type"}) != "ExternalName" &&
        !has_port(*service->object, reference.port)) {
        std::vector<std::string> ports;
        for (const YamlNode& port : items_of(service->object->content.find({"spec", "ports"}))) {
            const std::string name = port.text_at({"name"});
            ports.push_back(port.text_at({"port"}) + (name.empty() ? "" : " (" + name + ')'));
        }
        findings.add(*reference.where, reference.port_pointer,
                     fmt::format("Service {} has no port {}; {}", service->object->name,
                                 reference.port, reference.effect),
                     fmt::format("its ports: {}", fmt::join(ports, ", ")));
    }
}

/// A backend of networking.k8s.io/v1.
void check_backend(const KnownObjects& known, const BundleObject& where, const YamlNode* backend,
                   const std::string& pointer, Findings& findings) {
    const YamlNode* service = backend != nullptr ? backend->find("service") : nullptr;
    if (service == nullptr) {
        return;
    }
    const std::string at = pointer + "/service";
    const std::string name = service->text_at({"port", "name"});
    check_service_reference(
        known,
        {&where, known.namespace_of(*where.object), service->text_at({"name"}), at + "/name",
         at + "/port", name.empty() ? service->text_at({"port", "number"}) : name,
         "the router answers 503"},
        findings);
}

void check_ingress(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const YamlNode& content = where.object->content;
    check_backend(known, where, content.find({"spec", "defaultBackend"}), "/spec/defaultBackend",
                  findings);
    const std::vector<YamlNode>& rules = items_of(content.find({"spec", "rules"}));
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const std::vector<YamlNode>& paths = items_of(rules[i].find({"http", "paths"}));
        for (std::size_t j = 0; j < paths.size(); ++j) {
            check_backend(known, where, paths[j].find("backend"),
                          fmt::format("/spec/rules/{}/http/paths/{}/backend", i, j), findings);
        }
    }
}

void check_route(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const YamlNode& content = where.object->content;
    const std::string kind = content.text_at({"spec", "to", "kind"});
    if (!kind.empty() && kind != "Service") {
        return;
    }
    // A number is that of a port of the pods.
    const std::string port = content.text_at({"spec", "port", "targetPort"});
    const std::string name_space =
        where.object->name_space.empty() ? "default" : where.object->name_space;
    check_service_reference(
        known,
        {&where, name_space, content.text_at({"spec", "to", "name"}), "/spec/to/name",
         "/spec/port/targetPort", is_number(port) ? std::string() : port, "the router answers 503"},
        findings);
}

void check_client(const KnownObjects& known, const BundleObject& where, const YamlNode* service,
                  const std::string& pointer, std::string_view effect, Findings& findings) {
    if (service == nullptr) {
        return;
    }
    std::string port = service->text_at({"port"});
    if (port.empty()) {
        port = "443";
    }
    check_service_reference(known,
                            {&where, service->text_at({"namespace"}), service->text_at({"name"}),
                             pointer + "/name", pointer + "/port", port, effect},
                            findings);
}

void check_clients(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const KubeObject& object = *where.object;
    const std::vector<YamlNode>& webhooks = items_of(object.content.find("webhooks"));
    for (std::size_t i = 0; i < webhooks.size(); ++i) {
        check_client(known, where, webhooks[i].find({"clientConfig", "service"}),
                     fmt::format("/webhooks/{}/clientConfig/service", i),
                     "the API server cannot call the webhook", findings);
    }
    if (object.kind == "CustomResourceDefinition") {
        check_client(
            known, where,
            object.content.find({"spec", "conversion", "webhook", "clientConfig", "service"}),
            "/spec/conversion/webhook/clientConfig/service",
            "the API server cannot convert objects between versions", findings);
    }
    if (object.kind == "APIService") {
        check_client(known, where, object.content.find({"spec", "service"}), "/spec/service",
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
    const YamlNode* target = where.object->content.find({"spec", "scaleTargetRef"});
    if (target == nullptr) {
        return;
    }
    const std::string kind = target->text_at({"kind"});
    const std::string api_version = target->text_at({"apiVersion"});
    const std::string name = target->text_at({"name"});
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
