#include "openshift/node_objects.hpp"

#include <iterator>

#include <fmt/format.h>

#include "openshift/machine_set.hpp"
#include "openshift/pool_objects.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Taints of the nodes that a machine set makes.
void add_taints(const nlohmann::json& set, std::vector<nlohmann::json>& taints) {
    const nlohmann::json::json_pointer at("/spec/template/spec/taints");
    if (set.contains(at) && set.at(at).is_array()) {
        taints.insert(taints.end(), set.at(at).begin(), set.at(at).end());
    }
}

void write_kustomization(const NamedObjects& objects, const fs::path& directory) {
    nlohmann::json names = nlohmann::json::array();
    for (const auto& [name, object] : objects) {
        write_file(directory / name, write_yaml(yaml_of(object)));
        names.push_back(name);
    }
    write_file(directory / "kustomization.yaml",
               write_yaml(yaml_of({{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                                   {"kind", "Kustomization"},
                                   {"resources", names}})));
}

}  // namespace

NodeObjects node_objects(const OpenshiftRequest& request, const std::string& image,
                         const std::string& architecture,
                         const std::vector<std::string>& kernel_arguments,
                         const GpuImageFacts& facts) {
    NodeObjects objects;
    std::vector<nlohmann::json> taints;
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
        add_taints(made.object, taints);
        objects.files.emplace_back(fmt::format("machine-set-{}.yaml", set.name),
                                   std::move(made.object));
        objects.warnings.insert(objects.warnings.end(), made.warnings.begin(), made.warnings.end());
    }
    if (request.operators) {
        NamedObjects subscriptions = operator_subscriptions(*request.operators);
        std::move(subscriptions.begin(), subscriptions.end(), std::back_inserter(objects.files));
        objects.operands = operator_operands(*request.operators, facts, taints);
    }
    return objects;
}

void write_node_objects(const NodeObjects& objects, const fs::path& directory) {
    const fs::path target = directory.has_filename() ? directory : directory.parent_path();
    TemporaryDirectory made(target);
    write_kustomization(objects.files, made.path());
    if (!objects.operands.empty()) {
        make_directories(made / operands_directory);
        write_kustomization(objects.operands, made / operands_directory);
    }
    publish(made.path(), target, Existing::refuse);
    made.keep();
    // Not only for who wrote it: others review and apply it, and there is no secret in it.
    fs::permissions(target, static_cast<fs::perms>(0755));
}

}  // namespace edgegpu
