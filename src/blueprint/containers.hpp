#pragma once

#include <string>

#include "support/source_location.hpp"

namespace edgegpu {

/// `[[containers]]`: a container image that is in the image, for podman and CRI-O.
struct ContainerRequest {
    /// With the transport, and paths as in the blueprint: "docker://quay.io/x/app:1",
    /// "oci:images/app:1". Lockfiles name it like this.
    std::string source;
    /// The same with absolute paths, as skopeo takes it.
    std::string located;
    /// Complete name for the engines: "quay.io/x/app:1".
    std::string name;
    /// Whether the registry must have a certificate that is trusted.
    bool tls_verify = true;
    SourceLocation location;
};

}  // namespace edgegpu
