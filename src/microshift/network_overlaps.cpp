#include "microshift/network_overlaps.hpp"

#include <fmt/format.h>

namespace edgegpu {

namespace {

constexpr const char* cluster_list = "clusterNetwork";
constexpr const char* service_list = "serviceNetwork";

void compare(const char* list, const std::vector<IpNetwork>& networks, const IpNetwork& other,
             const std::string& with, std::vector<NetworkOverlap>& overlaps) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
        if (networks[i].contains(other.address) || other.contains(networks[i].address)) {
            overlaps.push_back({list, i, with});
        }
    }
}

}  // namespace

std::vector<NetworkOverlap> network_overlaps(const std::vector<IpNetwork>& cluster,
                                             const std::vector<IpNetwork>& service, bool ovn) {
    // MicroShift's defaults, and the network by which OVN-Kubernetes joins its routers: it refuses
    // overlaps when it starts.
    static const IpNetwork usual_cluster = IpNetwork::parse("10.42.0.0/16").value();
    static const IpNetwork usual_service = IpNetwork::parse("10.43.0.0/16").value();
    static const IpNetwork join = IpNetwork::parse("100.64.0.0/16").value();
    std::vector<NetworkOverlap> overlaps;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        compare(service_list, service, cluster[i], fmt::format("network.{}[{}]", cluster_list, i),
                overlaps);
    }
    if (service.empty()) {
        compare(cluster_list, cluster, usual_service,
                "10.43.0.0/16, which network.serviceNetwork is unless it is set", overlaps);
    } else if (cluster.empty()) {
        compare(service_list, service, usual_cluster,
                "10.42.0.0/16, which network.clusterNetwork is unless it is set", overlaps);
    }
    if (ovn) {
        constexpr const char* own = "100.64.0.0/16, which OVN-Kubernetes uses itself";
        compare(cluster_list, cluster, join, own, overlaps);
        compare(service_list, service, join, own, overlaps);
    }
    return overlaps;
}

}  // namespace edgegpu
