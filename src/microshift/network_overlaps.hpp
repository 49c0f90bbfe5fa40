#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "microshift/ip_network.hpp"

namespace edgegpu {

/// A network of `network.clusterNetwork` or `network.serviceNetwork` that has addresses of another.
struct NetworkOverlap {
    /// "clusterNetwork", "serviceNetwork"
    std::string list;
    /// in that list
    std::size_t index = 0;
    /// what it overlaps, for a sentence
    std::string with;
};

/// The overlaps with which MicroShift's network does not start. A list that is empty is
/// MicroShift's own; `ovn`: the network is OVN-Kubernetes, which has a network of its own.
[[nodiscard]] std::vector<NetworkOverlap> network_overlaps(const std::vector<IpNetwork>& cluster,
                                                           const std::vector<IpNetwork>& service,
                                                           bool ovn);

}  // namespace edgegpu
