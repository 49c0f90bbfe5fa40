#include "openshift/machine_set.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "openshift/machine_architecture.hpp"
#include "openshift/pool_objects.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/written_secrets.hpp"
#include "yaml/yaml.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Machine sets have some hundred lines.
constexpr std::uint64_t largest_set = 1U << 20U;
constexpr const char* set_label = "machine.openshift.io/cluster-api-machineset";
constexpr const char* how_to_get_one =
    "oc get machineset -n openshift-machine-api NAME -o yaml prints one";

/// How a cloud's provider specification names the machine's type, and which types have an NVIDIA
/// GPU, as the clouds list them.
struct Cloud {
    /// `kind` of the provider specification.
    std::string_view kind;
    std::string_view name;
    /// Key of the specification.
    const char* type_key;
    /// Regular expression (ECMAScript), or null.
    const char* gpu_types;
};

/// AWS: families p and g without g4ad, whose GPUs are AMD's. Azure: NC, ND and NV without NVv4 and
/// the MI300X. Google Cloud: accelerator-optimised machines.
constexpr std::array clouds{
    Cloud{"AWSMachineProviderConfig", "AWS", "instanceType", "(p|gr?)(?!4ad)[0-9].*"},
    Cloud{"GCPMachineProviderSpec", "Google Cloud", "machineType", "(a[2-4]|g[24])[a-z]*-.*"},
    Cloud{"AzureMachineProviderSpec", "Azure", "vmSize", "Standard_N(C|D|V)(?!.*(MI300X|as_v4)).*"},
    Cloud{"VSphereMachineProviderSpec", "vSphere", "template", nullptr}};

Error bad_set(const MachineSetRequest& request, const std::string& problem) {
    return error(ErrorKind::usage, "{}: {}", request.source.string(), problem)
        .hinted(how_to_get_one);
}

/// The string at a key, or empty.
std::string string_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void refuse_secrets(const MachineSetRequest& request, const std::string& text) {
    const auto secrets = find_written_secrets(request.source.filename().string(), text);
    if (!secrets.empty()) {
        throw error(ErrorKind::usage, "{}:{}: {}, which everybody would have who gets the result",
                    request.source.string(), secrets.front().line, secrets.front().kind)
            .hinted("a machine set names secrets of the cluster, and has none");
    }
}

/// The only object of the file, as JSON.
json read_set(const MachineSetRequest& request) {
    const std::string text = read_file(request.source, largest_set);
    refuse_secrets(request, text);
    const std::vector<YamlNode> documents = read_yaml(request.source.string(), text);
    if (documents.size() != 1) {
        throw bad_set(request, fmt::format("{} documents, not one", documents.size()));
    }
    const YamlNode& document = documents.front();
    const std::string kind = document.text_at({"kind"});
    const std::string version = document.text_at({"apiVersion"});
    if (kind != "MachineSet" || version != "machine.openshift.io/v1beta1") {
        throw bad_set(request,
                      fmt::format("{} of {} is not a MachineSet of machine.openshift.io/v1beta1",
                                  kind.empty() ? "an object without kind" : kind,
                                  version.empty() ? "no API" : version));
    }
    return json_of(document);
}

/// `oc apply` would change the machines that are there.
void require_other_name(const MachineSetRequest& request, const json& set) {
    const auto metadata = set.find("metadata");
    if (metadata != set.end() && metadata->is_object() &&
        string_at(*metadata, "name") == request.name) {
        throw error_at(request.location,
                       "machine set \"{}\" has the name of the one in {}, and would take its place",
                       request.name, request.source.string())
            .hinted("a copy needs a name of its own, as in \"gpu-us-east-1a\"");
    }
}

/// A mapping that the set has to have; an absent one is made if it is `optional`.
json& mapping_at(const MachineSetRequest& request, json& set, const char* pointer,
                 bool optional = false) {
    const json::json_pointer at(pointer);
    if (optional && !set.contains(at)) {
        set[at] = json::object();
    }
    if (!set.contains(at) || !set.at(at).is_object()) {
        std::string path(pointer);
        std::ranges::replace(path, '/', '.');
        throw bad_set(request, fmt::format("the machine set has no {}", path.substr(1)));
    }
    return set.at(at);
}

/// What an object keeps when it is copied; the API server sets the rest.
void keep_own_metadata(json& object) {
    json kept = json::object();
    for (const char* key : {"namespace", "labels"}) {
        if (object.contains("metadata") && object["metadata"].contains(key)) {
            kept[key] = object["metadata"][key];
        }
    }
    // Annotations of a set are what controllers know of its instance type, and kubectl's copy.
    object["metadata"] = std::move(kept);
}

std::string accelerator_problem(const MachineSetRequest& request, const std::string& type) {
    static const std::regex known("nvidia-tesla-(k80|p100|v100|p4|t4)");
    if (!std::regex_match(request.accelerator, known)) {
        return fmt::format("the machine API attaches no accelerator \"{}\"", request.accelerator);
    }
    return type.starts_with("n1-")
               ? ""
               : fmt::format("machine type \"{}\" takes no accelerator, n1 machines do", type);
}

/// Google Cloud cannot move a machine with a GPU to another host.
void set_gcp_gpu(const MachineSetRequest& request, json& provider) {
    provider["onHostMaintenance"] = "Terminate";
    provider.erase("gpus");
    if (request.accelerator.empty()) {
        return;
    }
    const std::string problem = accelerator_problem(request, string_at(provider, "machineType"));
    if (!problem.empty()) {
        throw error_at(request.location, "machine set \"{}\": {}", request.name, problem)
            .hinted(
                "for newer GPUs, name their machine type alone: instance_type = "
                "\"g2-standard-8\"");
    }
    provider["gpus"] =
        json::array({{{"count", request.accelerators}, {"type", request.accelerator}}});
}

const Cloud& cloud_of(const MachineSetRequest& request, const json& provider) {
    const std::string kind = string_at(provider, "kind");
    for (const Cloud& cloud : clouds) {
        if (cloud.kind == kind) {
            return cloud;
        }
    }
    throw bad_set(request, kind.empty() ? "the provider specification has no kind"
                                        : "not supported: machines of " + kind)
        .hinted(
            "machine sets of AWS, Google Cloud, Azure and vSphere are; for others, copy the "
            "set by hand, with the node's label and the GPU of that cloud");
}

void refuse_other_fields(const MachineSetRequest& request, const Cloud& cloud) {
    const bool vsphere = cloud.gpu_types == nullptr;
    const bool google = cloud.kind == "GCPMachineProviderSpec";
    for (const auto& [given, key, instead] :
         {std::tuple{vsphere && !request.instance_type.empty(), "instance_type",
                     "the template has the GPU, template = \"NAME\""},
          {!vsphere && !request.machine_template.empty(), "template",
           "a type of machine has the GPU, instance_type = \"NAME\""},
          {!google && !request.accelerator.empty(), "accelerator",
           "a type of machine has the GPU, instance_type = \"NAME\""}}) {
        if (given) {
            throw error_at(request.location, "machine set \"{}\": {} has no {}", request.name,
                           cloud.name, key)
                .hinted(instead);
        }
    }
}

/// Of another architecture a machine does not even start: it boots with the image that the existing
/// set names, and then gets the blueprint's.
void warn_of_architecture(const MachineSetRequest& request, const Cloud& cloud,
                          const json& provider, const std::string& architecture,
                          std::vector<std::string>& warnings) {
    const std::string type = string_at(provider, cloud.type_key);
    const std::string found = architecture_of_machines(cloud.kind, type);
    if (!found.empty() && found != architecture) {
        warnings.push_back(fmt::format(
            "{}: machine set \"{}\": machines \"{}\" of {} are {}, and the image is for "
            "{}: none becomes a node",
            request.location.text(), request.name, type, cloud.name, found, architecture));
    }
}

void set_gpu(const MachineSetRequest& request, const std::string& architecture, json& provider,
             std::vector<std::string>& warnings) {
    const Cloud& cloud = cloud_of(request, provider);
    refuse_other_fields(request, cloud);
    const bool vsphere = cloud.gpu_types == nullptr;
    const std::string& type = vsphere ? request.machine_template : request.instance_type;
    if (type.empty() && request.accelerator.empty()) {
        throw error_at(request.location, "machine set \"{}\" says no GPU", request.name)
            .hinted(vsphere ? "template = \"NAME\", of a virtual machine that has the GPU"
                            : "instance_type = \"NAME\", of machines that have one");
    }
    if (!type.empty()) {
        provider[cloud.type_key] = type;
    }
    if (!vsphere && request.accelerator.empty() &&
        !std::regex_match(type, std::regex(cloud.gpu_types))) {
        warnings.push_back(
            fmt::format("{}: machine set \"{}\": {} is not known to have machines "
                        "\"{}\" with an NVIDIA GPU",
                        request.location.text(), request.name, cloud.name, type));
    }
    warn_of_architecture(request, cloud, provider, architecture, warnings);
    if (cloud.kind == "GCPMachineProviderSpec") {
        set_gcp_gpu(request, provider);
    }
}

}  // namespace

GpuMachineSet gpu_machine_set(const MachineSetRequest& request, const std::string& pool,
                              const std::string& architecture) {
    GpuMachineSet result;
    json& set = result.object;
    set = read_set(request);
    require_other_name(request, set);
    keep_own_metadata(set);
    set["metadata"]["name"] = request.name;
    set.erase("status");
    for (const char* labels : {"/spec/selector/matchLabels", "/spec/template/metadata/labels"}) {
        mapping_at(request, set, labels)[set_label] = request.name;
    }
    set["spec"]["replicas"] = request.replicas;
    if (!is_pool_of_installer(pool)) {
        mapping_at(request, set, "/spec/template/spec");
        mapping_at(request, set, "/spec/template/spec/metadata", true);
        mapping_at(request, set, "/spec/template/spec/metadata/labels",
                   true)["node-role.kubernetes.io/" + pool] = "";
    }
    set_gpu(request, architecture,
            mapping_at(request, set, "/spec/template/spec/providerSpec/value"), result.warnings);
    return result;
}

}  // namespace edgegpu
