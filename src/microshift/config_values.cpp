#include "microshift/config_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "microshift/ip_network.hpp"
#include "microshift/network_overlaps.hpp"
#include "schema/formats.hpp"
#include "support/error.hpp"
#include "support/text/dns_name.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Of what Kubernetes takes as the value of a label.
constexpr std::size_t longest_label = 63;

/// Values of one configuration by their paths, and what is wrong with them.
class ValueCheck {
public:
    explicit ValueCheck(const json& config) : config_(config) {}

    std::vector<SchemaProblem> problems;

    void add(const ObjectPath& path, const std::string& text) {
        problems.push_back(problem_at(path, text));
    }

    [[nodiscard]] const json* find(const ObjectPath& path) const {
        const json* value = &config_;
        for (const auto& step : path) {
            const auto* key = std::get_if<std::string>(&step);
            if (key == nullptr || !value->is_object() || !value->contains(*key)) {
                return nullptr;
            }
            value = &(*value)[*key];
        }
        return value;
    }

    /// Nothing if it is absent, no string, or empty, which MicroShift takes as absent.
    [[nodiscard]] std::optional<std::string> text(const ObjectPath& path) const {
        const json* value = find(path);
        if (value == nullptr || !value->is_string()) {
            return std::nullopt;
        }
        const auto& text = value->get_ref<const std::string&>();
        return text.empty() ? std::nullopt : std::optional(text);
    }

    /// The strings of a list with their paths.
    [[nodiscard]] std::vector<std::pair<ObjectPath, std::string>> texts(
        const ObjectPath& path) const {
        std::vector<std::pair<ObjectPath, std::string>> found;
        const json* list = find(path);
        for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
            if ((*list)[i].is_string()) {
                found.emplace_back(path, (*list)[i].get<std::string>());
                found.back().first.emplace_back(i);
            }
        }
        return found;
    }

    void require_range(const ObjectPath& path, std::int64_t least, std::int64_t most) {
        const json* value = find(path);
        if (value == nullptr || !value->is_number_integer()) {
            return;
        }
        if (*value < least || *value > most) {
            add(path, most == std::numeric_limits<std::int64_t>::max()
                          ? fmt::format("{} is less than {}", value->dump(), least)
                          : fmt::format("{} is not between {} and {}", value->dump(), least, most));
        }
    }

    void require_choice(const ObjectPath& path, const std::vector<std::string>& choices,
                        bool any_case = false) {
        const std::optional<std::string> value = text(path);
        const auto same = [&](const std::string& choice) {
            return any_case ? lower_case(choice) == lower_case(*value) : choice == *value;
        };
        if (!value || std::ranges::any_of(choices, same)) {
            return;
        }
        const std::vector<std::string> near = nearest_names(*value, choices);
        add(path,
            fmt::format("{} is none of {}{}", quoted_text(*value), fmt::join(choices, ", "),
                        near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near.front())));
    }

private:
    const json& config_;
};

/// The networks of a list; those that are none are problems.
std::vector<IpNetwork> networks_of(ValueCheck& values, const ObjectPath& path) {
    std::vector<IpNetwork> networks;
    for (const auto& [place, text] : values.texts(path)) {
        if (const std::optional<IpNetwork> network = IpNetwork::parse(text)) {
            networks.push_back(*network);
        } else {
            values.add(place, fmt::format("{} is not a network such as 10.42.0.0/16 or fd01::/48",
                                          quoted_text(text)));
        }
    }
    return networks;
}

void check_pair(ValueCheck& values, const std::vector<IpNetwork>& cluster,
                const std::vector<IpNetwork>& service) {
    const ObjectPath path{"network", "serviceNetwork"};
    if (cluster.size() != service.size()) {
        values.add(path, fmt::format("{} networks, where clusterNetwork has {}", service.size(),
                                     cluster.size()));
        return;
    }
    for (std::size_t i = 0; i < service.size(); ++i) {
        if (service[i].address.family != cluster[i].address.family) {
            ObjectPath place = path;
            place.emplace_back(i);
            values.add(place,
                       fmt::format("clusterNetwork[{}] is of the other family of addresses", i));
        }
    }
}

void check_networks(ValueCheck& values) {
    const ObjectPath cluster_path{"network", "clusterNetwork"};
    const ObjectPath service_path{"network", "serviceNetwork"};
    const std::size_t before = values.problems.size();
    const std::vector<IpNetwork> cluster = networks_of(values, cluster_path);
    const std::vector<IpNetwork> service = networks_of(values, service_path);
    if (values.problems.size() > before) {
        return;
    }
    for (const auto& [path, networks] :
         {std::pair(cluster_path, cluster), std::pair(service_path, service)}) {
        if (networks.size() > 2) {
            values.add(path, "more than two networks");
        } else if (networks.size() == 2 &&
                   networks[0].address.family == networks[1].address.family) {
            values.add(path, "two networks must be one of IPv4 and one of IPv6");
        }
    }
    for (std::size_t i = 0; i < service.size(); ++i) {
        ObjectPath place = service_path;
        place.emplace_back(i);
        if (i == 0 && service[i].host_bits() < 4) {
            // The tenth address is that of the cluster's DNS server.
            values.add(place, "too small for services: 16 addresses at least");
        }
    }
    if (!cluster.empty() && !service.empty()) {
        check_pair(values, cluster, service);
    }
    const bool ovn = values.text({"network", "cniPlugin"}) != "none";
    for (const NetworkOverlap& overlap : network_overlaps(cluster, service, ovn)) {
        values.add({"network", overlap.list, overlap.index},
                   fmt::format("it overlaps {}", overlap.with));
    }
}

void check_node_port_range(ValueCheck& values) {
    const ObjectPath path{"network", "serviceNodePortRange"};
    const std::optional<std::string> text = values.text(path);
    if (!text) {
        return;
    }
    const std::vector<std::string_view> ends = split(*text, '-');
    std::array<unsigned, 2> ports{};
    bool valid = ends.size() == 2;
    for (std::size_t i = 0; valid && i < 2; ++i) {
        const auto port = whole_number<unsigned>(ends[i]);
        ports[i] = port.value_or(0);
        valid = port && *port <= 65535;
    }
    if (!valid || ports[0] > ports[1]) {
        values.add(path, fmt::format("{} is not a range of ports such as 30000-32767",
                                     quoted_text(*text)));
    }
}

void check_addresses(ValueCheck& values) {
    for (const ObjectPath& path :
         {ObjectPath{"node", "nodeIP"}, ObjectPath{"apiServer", "advertiseAddress"}}) {
        if (const auto text = values.text(path); text && !IpAddress::parse(*text)) {
            values.add(path, fmt::format("{} is not an IP address", quoted_text(*text)));
        }
    }
    const ObjectPath second{"node", "nodeIPv6"};
    if (const auto text = values.text(second)) {
        const std::optional<IpAddress> address = IpAddress::parse(*text);
        const auto cluster = values.texts({"network", "clusterNetwork"});
        if (!address || address->family != IpFamily::v6) {
            values.add(second, fmt::format("{} is not an IPv6 address", quoted_text(*text)));
        } else if (cluster.size() == 1) {
            values.add(second,
                       "for clusters with two families of addresses only; "
                       "network.clusterNetwork has one");
        }
    }
    const ObjectPath host{"node", "hostnameOverride"};
    if (const auto text = values.text(host); text && IpAddress::parse(*text)) {
        values.add(host, fmt::format("{} is an IP address, not a name", quoted_text(*text)));
    } else if (text && (!is_dns_subdomain(lower_case(*text)) || text->size() > longest_label)) {
        // It is also the value of a label (kubernetes.io/hostname).
        values.add(host, fmt::format("{} is no name of a node: up to 63 letters, digits, hyphens "
                                     "and dots",
                                     quoted_text(*text)));
    }
    const auto advertised = values.text({"apiServer", "advertiseAddress"});
    const auto address = advertised ? IpAddress::parse(*advertised) : std::nullopt;
    const auto service = values.texts({"network", "serviceNetwork"});
    const auto network = service.empty() ? std::nullopt : IpNetwork::parse(service.front().second);
    if (address && network && address->family != network->address.family) {
        values.add({"apiServer", "advertiseAddress"},
                   "network.serviceNetwork[0] is of the other family of addresses");
    }
}

void check_alternative_names(ValueCheck& values) {
    static const std::set<std::string, std::less<>> reserved{"localhost",
                                                             "127.0.0.1",
                                                             "kubernetes",
                                                             "kubernetes.default",
                                                             "kubernetes.default.svc",
                                                             "kubernetes.default.svc.cluster.local",
                                                             "openshift",
                                                             "openshift.default",
                                                             "openshift.default.svc",
                                                             "openshift.default.svc.cluster.local"};
    const auto advertised = values.text({"apiServer", "advertiseAddress"});
    for (const auto& [path, name] : values.texts({"apiServer", "subjectAltNames"})) {
        if (reserved.contains(name)) {
            values.add(path, fmt::format("{} belongs to MicroShift's own certificates",
                                         quoted_text(name)));
        } else if (advertised && name == *advertised) {
            values.add(path, "it is apiServer.advertiseAddress, which has a certificate already");
        }
    }
}

void check_api_server(ValueCheck& values) {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    check_alternative_names(values);
    values.require_choice({"apiServer", "auditLog", "profile"},
                          {"Default", "WriteRequestBodies", "AllRequestBodies", "None"});
    for (const char* key : {"maxFileAge", "maxFileSize", "maxFiles"}) {
        values.require_range({"apiServer", "auditLog", key}, 0, any);
    }
    const ObjectPath gates{"apiServer", "featureGates"};
    const ObjectPath set{"apiServer", "featureGates", "featureSet"};
    values.require_choice(set, {"CustomNoUpgrade"});
    bool custom = false;
    for (const char* group : {"customNoUpgrade", "specialHandlingSupportExceptionRequired"}) {
        std::set<std::string> enabled;
        for (const auto& [path, name] :
             values.texts({"apiServer", "featureGates", group, "enabled"})) {
            enabled.insert(name);
            custom = true;
        }
        for (const auto& [path, name] :
             values.texts({"apiServer", "featureGates", group, "disabled"})) {
            custom = true;
            if (enabled.contains(name)) {
                values.add(path, fmt::format("{} is enabled, too", quoted_text(name)));
            }
        }
    }
    if (custom && !values.text(set)) {
        values.add(gates, "feature gates need featureSet = \"CustomNoUpgrade\"");
    }
}

void check_ingress(ValueCheck& values) {
    static const std::array<IpNetwork, 4> never_listening{
        IpNetwork::parse("127.0.0.0/8").value(), IpNetwork::parse("169.254.0.0/16").value(),
        IpNetwork::parse("::1/128").value(), IpNetwork::parse("fe80::/10").value()};
    values.require_choice({"ingress", "status"}, {"Managed", "Removed"});
    values.require_choice({"ingress", "routeAdmissionPolicy", "namespaceOwnership"},
                          {"InterNamespaceAllowed", "Strict"});
    values.require_range({"ingress", "ports", "http"}, 1, 65535);
    values.require_range({"ingress", "ports", "https"}, 1, 65535);
    for (const auto& [path, text] : values.texts({"ingress", "listenAddress"})) {
        const std::optional<IpAddress> address = IpAddress::parse(text);
        if (address && std::ranges::any_of(never_listening, [&](const IpNetwork& network) {
                return network.contains(*address);
            })) {
            values.add(path, fmt::format("the router does not listen on {}: it is a loopback or "
                                         "link-local address",
                                         quoted_text(text)));
        }
    }
}

void check_dns(ValueCheck& values) {
    const ObjectPath domain{"dns", "baseDomain"};
    if (const auto text = values.text(domain); text && !is_dns_subdomain(*text)) {
        values.add(domain, fmt::format("{} is not a domain such as gpu-node.example.com: routes "
                                       "below it would be refused",
                                       quoted_text(*text)));
    }
    const ObjectPath file{"dns", "configFile"};
    if (values.text(file) && values.text({"dns", "hosts", "status"}) == "Enabled") {
        values.add(file, "it excludes dns.hosts, which is enabled");
    }
    for (const ObjectPath& path : {file, ObjectPath{"dns", "hosts", "file"}}) {
        if (const auto text = values.text(path); text && !text->starts_with('/')) {
            values.add(path, fmt::format("{} is not an absolute path", quoted_text(*text)));
        }
    }
    for (const char* group : {"requests", "limits"}) {
        const json* amounts = values.find({"dns", "resources", group});
        if (amounts == nullptr || !amounts->is_object()) {
            continue;
        }
        for (const auto& [key, amount] : amounts->items()) {
            const ObjectPath path{"dns", "resources", group, key};
            if (key != "cpu" && key != "memory") {
                values.add(path, "there are cpu and memory alone");
            } else if (amount.is_string() &&
                       !has_format(amount.get<std::string>(), StringFormat::quantity)) {
                values.add(path, fmt::format("{} is not a quantity such as 50m or 70Mi",
                                             quoted_text(amount.get<std::string>())));
            }
        }
    }
}

void check_limits(ValueCheck& values) {
    constexpr std::int64_t least_memory = 128;
    const ObjectPath memory{"etcd", "memoryLimitMB"};
    const json* limit = values.find(memory);
    // 0: no limit
    if (limit != nullptr && limit->is_number_integer() && *limit != 0 && *limit < least_memory) {
        values.add(memory, fmt::format("{} is less than {}, which etcd needs; 0 is no limit",
                                       limit->dump(), least_memory));
    }
    // It would take Normal instead.
    values.require_choice({"debugging", "logLevel"}, {"Normal", "Debug", "Trace", "TraceAll"},
                          true);
    values.require_choice({"telemetry", "status"}, {"Enabled", "Disabled"});
}

}  // namespace

std::vector<SchemaProblem> check_config_values(const json& config) {
    ValueCheck values(config);
    check_networks(values);
    check_node_port_range(values);
    check_addresses(values);
    check_api_server(values);
    check_ingress(values);
    check_dns(values);
    check_limits(values);
    return std::move(values.problems);
}

}  // namespace edgegpu
