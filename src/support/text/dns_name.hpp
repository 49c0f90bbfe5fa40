#pragma once

#include <string_view>

namespace edgegpu {

/// A label of the DNS as Kubernetes wants it (RFC 1123), such as the name of a namespace: at most
/// 63 lower-case letters, digits and hyphens, none of these at the ends.
[[nodiscard]] bool is_dns_label(std::string_view text);

/// A subdomain as Kubernetes wants it, the name of most objects: labels between dots, 253
/// characters in all. It does not limit each of the labels.
[[nodiscard]] bool is_dns_subdomain(std::string_view text);

}  // namespace edgegpu
