#include "openshift/node_objects.hpp"

#include <fmt/format.h>

#include "openshift/machine_set.hpp"
#include "openshift/pool_objects.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

NodeObjects node_objects(const OpenshiftRequest& request, const std::string& image,
                         const std::string& architecture,
                         const std::vector<std::string>& kernel_arguments) {
    NodeObjects objects;
    if (!is_pool_of_installer(request.pool)) {
        objects.files.emplace_back("machine-config-pool.yaml", machine_config_pool(request.pool));
    }
    objects.files.emplace_back("machine-config.yaml",
                               machine_config(request.pool, image, kernel_arguments));
    if (request.on_cluster_build) {
        objects.files.emplace_back("machine-os-config.yaml",
                                   machine_os_config(request.pool, *request.on_cluster_build));
    }
    for (const MachineSetRequest& set : request.machine_sets) {
        GpuMachineSet made = gpu_machine_set(set, request.pool, architecture);
        objects.files.emplace_back(fmt::format("machine-set-{}.yaml", set.name),
                                   std::move(made.object));
        objects.warnings.insert(objects.warnings.end(), made.warnings.begin(), made.warnings.end());
    }
    return objects;
}

void write_node_objects(const NodeObjects& objects, const fs::path& directory) {
    const fs::path target = directory.has_filename() ? directory : directory.parent_path();
    TemporaryDirectory made(target);
    nlohmann::json names = nlohmann::json::array();
    for (const auto& [name, object] : objects.files) {
        write_file(made / name, write_yaml(yaml_of(object)));
        names.push_back(name);
    }
    write_file(made / "kustomization.yaml",
               write_yaml(yaml_of({{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                                   {"kind", "Kustomization"},
                                   {"resources", names}})));
    publish(made.path(), target, Existing::refuse);
    made.keep();
    // Not only for who wrote it: others review and apply it, and there is no secret in it.
    fs::permissions(target, static_cast<fs::perms>(0755));
}

}  // namespace edgegpu
