#include "bundles/checks/gpu_supply.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "blueprint/mig_layouts.hpp"
#include "bundles/json_value.hpp"
#include "schema/kind_problem.hpp"
#include "support/error.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view plugin_directory = "/var/lib/kubelet/device-plugins";

/// Objects that something else turns into objects: OLM, Argo CD, Flux, Helm controllers; and
/// classes of devices that a driver serves under the name of a resource.
bool stands_for_others(const KubeObject& object) {
    static constexpr auto kinds = std::to_array<std::string_view>(
        {"Subscription", "ClusterServiceVersion", "Application", "ApplicationSet", "HelmRelease",
         "HelmChart", "Kustomization", "GitRepo", "ManifestWork", "HyperConverged", "KubeVirt",
         "DeviceClass", "NVIDIADriver", "Addon", "AddOn", "Bundle"});
    const std::string_view group = group_of(object.api_version);
    return !group.empty() && group.find('.') != std::string_view::npos &&
           std::ranges::find(kinds, object.kind) != kinds.end();
}

/// Programs that apply objects of their own.
bool applies_others(const std::string& image) {
    static constexpr auto names = std::to_array<std::string_view>(
        {"argocd", "argo-cd", "fluxcd", "helm-controller", "kustomize-controller", "fleet-agent",
         "klusterlet", "registration-operator", "rancher", "/olm", "operator-lifecycle-manager",
         "kubevirt", "dra-driver"});
    return std::ranges::any_of(
        names, [&](std::string_view name) { return image.find(name) != std::string::npos; });
}

/// Whether a pod has the directory where the kubelet finds plugins. Many mount one above it for
/// other reasons: of them only those with such a name.
bool mounts_plugin_directory(const PodTemplate& pod) {
    const auto has_name = [&](const PodContainer& container) {
        const std::string image = text_in(*container.content, {"image"});
        return image.find("device-plugin") != std::string::npos ||
               image.find("gpu") != std::string::npos;
    };
    const std::vector<PodContainer> containers = containers_of(pod);
    const bool named = std::ranges::any_of(containers, has_name);
    return std::ranges::any_of(items_at(*pod.spec, {"volumes"}), [&](const json& volume) {
        const std::string path = text_in(volume, {"hostPath", "path"});
        return path.starts_with(plugin_directory) ||
               (named && !path.empty() && plugin_directory.starts_with(path));
    });
}

bool is_nvidia_plugin(const std::string& image) {
    return image.find("nvidia") != std::string::npos &&
           image.find("/k8s-device-plugin") != std::string::npos;
}

/// What is set for one of the plugin's options.
struct PluginOption {
    bool known = true;
    std::string value;
};

std::vector<std::string> words_of(const json& container) {
    std::vector<std::string> words;
    for (const char* list : {"command", "args"}) {
        for (const json& item : items_at(container, {list})) {
            words.push_back(text_of(item));
        }
    }
    return words;
}

/// The value of "--option=VALUE", "--option VALUE" or of a variable. The command line comes first.
PluginOption option_of(const json& container, const std::string& option,
                       const std::string& variable) {
    const std::vector<std::string> words = words_of(container);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].starts_with(option + '=')) {
            return {true, words[i].substr(option.size() + 1)};
        }
        if (words[i] == option && i + 1 < words.size()) {
            return {true, words[i + 1]};
        }
        if (words[i].find(option) != std::string::npos) {
            return {false, ""};  // within a shell program
        }
    }
    for (const json& each : items_at(container, {"env"})) {
        if (text_in(each, {"name"}) == variable) {
            const json& value = value_at(each, {"value"});
            return {!value.is_null() && text_of(value).find("$(") == std::string::npos,
                    text_of(value)};
        }
    }
    return {value_at(container, {"envFrom"}).is_null(), ""};
}

/// A configuration of NVIDIA's plugin in a config map.
struct PluginConfiguration {
    /// It gives resources names of its own.
    bool own_names = false;
    std::string strategy;
    std::map<std::string, GpuSharing> sharing;
};

void read_sharing(const json& sharing, bool one_only, std::map<std::string, GpuSharing>& result) {
    const bool rename = text_in(sharing, {"renameByDefault"}) == "true";
    const std::string fail = text_in(sharing, {"failRequestsGreaterThanOne"});
    for (const json& each : items_at(sharing, {"resources"})) {
        std::string name = text_in(each, {"name"});
        if (name.find('/') == std::string::npos) {
            name.insert(0, "nvidia.com/");
        }
        const std::uint64_t replicas = whole_quantity(text_in(each, {"replicas"})).value_or(1);
        GpuSharing& known = result[name];
        known.replicas = std::max(known.replicas, replicas);
        known.renamed = rename;
        known.one_only = fail.empty() ? one_only : fail == "true";
    }
}

std::optional<PluginConfiguration> read_configuration(const std::string& text) {
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (!has("version") || (!has("sharing") && !has("flags") && !has("resources"))) {
        return std::nullopt;
    }
    json document;
    try {
        const std::vector<YamlNode> documents = read_yaml("config", text);
        document = documents.size() == 1 ? json_of(documents[0]) : json();
    } catch (const Error&) {
        return std::nullopt;  // another program's text
    }
    if (!text_in(document, {"version"}).starts_with('v') ||
        (value_at(document, {"sharing"}).is_null() && value_at(document, {"flags"}).is_null() &&
         value_at(document, {"resources"}).is_null())) {
        return std::nullopt;
    }
    PluginConfiguration configuration;
    configuration.own_names = !value_at(document, {"resources"}).is_null();
    configuration.strategy = text_in(document, {"flags", "migStrategy"});
    read_sharing(value_at(document, {"sharing", "timeSlicing"}), false, configuration.sharing);
    read_sharing(value_at(document, {"sharing", "mps"}), true, configuration.sharing);
    return configuration;
}

/// The most generous of two.
void widen(std::map<std::string, GpuSharing>& sharing,
           const std::map<std::string, GpuSharing>& other) {
    for (const auto& [name, each] : other) {
        GpuSharing& known = sharing[name];
        known.replicas = std::max(known.replicas, each.replicas);
        known.renamed = known.renamed || each.renamed;
        known.one_only = known.one_only || each.one_only;
    }
}

class SupplyReader {
public:
    explicit SupplyReader(GpuSupply& supply) : supply_(supply) {}

    void read_object(const KubeObject& object) {
        if (object.kind == "ConfigMap") {
            read_config_map(object);
        } else if (object.kind == "RuntimeClass") {
            supply_.runtime_classes.insert(object.name);
        } else if (object.kind == "ClusterPolicy" && group_of(object.api_version) == "nvidia.com") {
            read_cluster_policy(object.content);
        } else if (stands_for_others(object)) {
            supply_.brings_objects = true;
        }
    }

    void read_pod(const PodTemplate& pod) {
        const bool plugin = mounts_plugin_directory(pod);
        for (const PodContainer& container : containers_of(pod)) {
            const std::string image = text_in(*container.content, {"image"});
            supply_.brings_objects = supply_.brings_objects || applies_others(image);
            operator_runs_ = operator_runs_ || image.find("/gpu-operator:") != std::string::npos ||
                             image.find("/gpu-operator@") != std::string::npos;
            supply_.brings_driver =
                supply_.brings_driver || image.find("nvidia/driver") != std::string::npos;
            if (plugin && container.list == "containers") {
                read_plugin(image, *container.content);
            }
        }
    }

    void finish() {
        // An operator without a policy in the bundles gets one later.
        supply_.brings_objects = supply_.brings_objects || (operator_runs_ && policies_ == 0);
        supply_.brings_driver = supply_.brings_driver || supply_.brings_objects;
        supply_.served = plugins_ > 0 || others_ > 0 || operators_ > 0 || supply_.brings_objects;
        supply_.understood = supply_.served && others_ == 0 && !supply_.brings_objects && !unknown_;
        for (const PluginConfiguration& each : configurations_) {
            widen(supply_.sharing, each.sharing);
            supply_.understood = supply_.understood && !each.own_names;
            if (!each.strategy.empty()) {
                supply_.strategies.insert(each.strategy);
            }
        }
        supply_.certain = supply_.understood && operators_ == 0 && plugins_ == 1 &&
                          configurations_.size() == (configured_ ? 1 : 0);
    }

private:
    void read_config_map(const KubeObject& object) {
        for (const auto& [key, value] : entries_at(object.content, {"data"})) {
            if (const auto configuration = read_configuration(text_of(value))) {
                configurations_.push_back(*configuration);
            }
        }
    }

    void read_cluster_policy(const json& policy) {
        const auto enabled = [&](const char* part) {
            return text_in(policy, {"spec", part, "enabled"}) != "false";
        };
        ++policies_;
        operators_ += enabled("devicePlugin") ? 1 : 0;
        supply_.brings_driver = supply_.brings_driver || enabled("driver");
        const std::string strategy = text_in(policy, {"spec", "mig", "strategy"});
        supply_.strategies.insert(strategy.empty() ? "single" : strategy);
        // A plugin that is given its own variables may have any configuration.
        unknown_ = unknown_ || !value_at(policy, {"spec", "devicePlugin", "env"}).is_null() ||
                   !value_at(policy, {"spec", "devicePlugin", "args"}).is_null();
        unknown_ =
            unknown_ || (!text_in(policy, {"spec", "devicePlugin", "config", "name"}).empty() &&
                         configurations_.empty());
        const std::string runtime = text_in(policy, {"spec", "operator", "runtimeClass"});
        supply_.runtime_classes.insert({runtime.empty() ? "nvidia" : runtime, "nvidia",
                                        "nvidia-cdi", "nvidia-legacy", "kata-qemu-nvidia-gpu",
                                        "kata-nvidia-gpu", "kata-nvidia-gpu-snp"});
    }

    void read_plugin(const std::string& image, const json& container) {
        if (!is_nvidia_plugin(image)) {
            ++others_;
            return;
        }
        const PluginOption strategy = option_of(container, "--mig-strategy", "MIG_STRATEGY");
        const PluginOption config = option_of(container, "--config-file", "CONFIG_FILE");
        ++plugins_;
        unknown_ = unknown_ || !strategy.known || !config.known;
        configured_ = configured_ || !config.value.empty();
        supply_.strategies.insert(strategy.value.empty() ? "none" : strategy.value);
    }

    GpuSupply& supply_;
    std::vector<PluginConfiguration> configurations_;
    unsigned plugins_ = 0;
    unsigned others_ = 0;
    unsigned policies_ = 0;
    /// policies by which the GPU operator runs the plugin
    unsigned operators_ = 0;
    bool operator_runs_ = false;
    bool configured_ = false;
    bool unknown_ = false;
};

}  // namespace

GpuSupply gpu_supply_of(const std::vector<BundleObject>& objects,
                        const std::vector<PodTemplate>& pods) {
    GpuSupply supply;
    SupplyReader reader(supply);
    // Config maps first: whether a policy's own one is known depends on them.
    for (const bool config_maps : {true, false}) {
        for (const BundleObject& each : objects) {
            if ((each.object->kind == "ConfigMap") == config_maps) {
                reader.read_object(*each.object);
            }
        }
    }
    for (const PodTemplate& pod : pods) {
        reader.read_pod(pod);
    }
    reader.finish();
    return supply;
}

std::string unshared(std::string_view resource) {
    constexpr std::string_view suffix = ".shared";
    if (resource.ends_with(suffix)) {
        resource.remove_suffix(suffix.size());
    }
    return std::string(resource);
}

std::optional<MigProfile> profile_of(std::string_view resource) {
    constexpr std::string_view mig = "nvidia.com/mig-";
    return resource.starts_with(mig) ? mig_profile(resource.substr(mig.size())) : std::nullopt;
}

std::vector<MigSupport> mig_of_devices(const ImageFacts& facts) {
    std::vector<MigSupport> all;
    for (const std::string& device : facts.devices) {
        std::uint16_t number = 0;
        const std::size_t digits = device.find(':') + 1;
        std::from_chars(device.data() + digits, device.data() + device.size(), number, 16);
        all.push_back(mig_of(number));
    }
    return all;
}

std::uint64_t most_parts(const std::string& resource, const GpuSupply& supply,
                         const ImageFacts& facts) {
    const bool single = supply.strategies.contains("single");
    const bool instance = profile_of(resource).has_value();
    if (!instance && !single) {
        return 1;
    }
    if (!facts.mig.empty()) {
        return instance ? most_instances(facts.mig, resource)
                        : std::max(mig_offer(facts.mig, facts.devices).instances, 1U);
    }
    // Of instances a GPU has at most seven.
    std::uint64_t parts = facts.devices.empty() ? 7 : 1;
    for (const MigSupport& gpu : mig_of_devices(facts)) {
        for (const MigCapacity& capacity : gpu.profiles) {
            parts = std::max<std::uint64_t>(parts, capacity.instances);
        }
        parts = gpu.known ? parts : 7;
    }
    return parts;
}

}  // namespace edgegpu
