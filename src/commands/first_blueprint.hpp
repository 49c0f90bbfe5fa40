#pragma once

#include <string>
#include <vector>

#include "gpu/gpus.hpp"

namespace edgegpu {

/// What uses the GPU on the device.
enum class Workload {
    podman,
    microshift,
    none  ///< programs of the image itself
};

/// A repository of the blueprint.
struct FirstRepository {
    std::string id;
    std::string name;
    std::string baseurl;
    std::string gpgkey;
    /// its metadata are signed, else its packages
    bool signs_metadata = false;
    /// reached with the certificate of a subscribed machine
    bool entitled = false;
};

/// What `edgegpu init` was told.
struct FirstBlueprint {
    /// of the image; also the last part of its ref, and the host name
    std::string name;
    /// "rhel-9.4"
    std::string distro;
    /// "rhel/9/x86_64/edge"
    std::string ref;
    /// `.repo` files, as paths that the blueprint understands
    std::vector<std::string> repository_files;
    std::vector<FirstRepository> repositories;
    /// empty: no GPU
    std::vector<Gpu> gpus;
    /// of the GPUs: "570", "latest"
    std::string driver;
    Workload workload = Workload::podman;
    std::string user;
    /// one line of authorized_keys
    std::string key;
};

/// The text of a blueprint with comments, for somebody to go on with.
[[nodiscard]] std::string first_blueprint(const FirstBlueprint& wanted);

}  // namespace edgegpu
