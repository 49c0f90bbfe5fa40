#include "bundles/checks/gpu_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/mig_layouts.hpp"
#include "bundles/checks/gpu_supply.hpp"
#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "gpu/gpus.hpp"
#include "gpu/mig.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view vendor_prefix = "nvidia.com/";
constexpr std::string_view whole_gpu = "nvidia.com/gpu";

/// Resources that Kubernetes itself does not know (k8s.io/kubernetes, pkg/apis/core/v1/helper).
bool is_extended_resource(std::string_view name) {
    return name.find('/') != std::string_view::npos &&
           name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.");
}

/// Whether NVIDIA's plugin offers a resource of this name. Other plugins have more.
bool is_nvidia_resource(std::string_view name) {
    const std::string base = unshared(name);
    return base == whole_gpu || profile_of(base).has_value();
}

/// "NVIDIA A30 (10de:20b7)", or the id alone if the table does not have it.
std::string text_of_device(const std::string& device) {
    static const GpuTable table = shipped_gpus();
    const Gpu* gpu = table.find(device);
    return gpu != nullptr ? gpu->text() : device;
}

/// Whether a pod holds what it gets until the device is switched off.
bool is_permanent(const PodTemplate& pod) {
    static constexpr auto kinds = std::to_array<std::string_view>(
        {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"});
    const std::string& kind = pod.where.object->kind;
    const std::string policy = text_in(*pod.spec, {"restartPolicy"});
    return std::ranges::find(kinds, kind) != kinds.end() ||
           (kind == "Pod" && (policy.empty() || policy == "Always"));
}

/// Whether a pod may be meant for some of the devices only: it chooses nodes by more than what all
/// nodes with an NVIDIA GPU have.
bool chooses_nodes(const PodTemplate& pod) {
    static constexpr auto common = std::to_array<std::string_view>(
        {"kubernetes.io/os", "beta.kubernetes.io/os", "kubernetes.io/arch",
         "beta.kubernetes.io/arch", "nvidia.com/gpu.present",
         "feature.node.kubernetes.io/pci-10de.present"});
    return !value_at(*pod.spec, {"affinity", "nodeAffinity"}).is_null() ||
           std::ranges::any_of(entries_at(*pod.spec, {"nodeSelector"}), [](const auto& each) {
               return std::ranges::find(common, each.first) == common.end();
           });
}

/// The place of a pod's request for a resource.
std::string request_pointer(const PodTemplate& pod, const std::string& resource) {
    for (const PodContainer& container : containers_of(pod)) {
        if (!value_at(*container.content, {"resources", "limits", resource}).is_null()) {
            return container.pointer + "/resources/limits/" + pointer_step(resource);
        }
    }
    return pod.pointer;
}

class GpuCheck {
public:
    GpuCheck(const ImageFacts& facts, GpuSupply supply, Findings& findings)
        : facts_(facts),
          supply_(std::move(supply)),
          findings_(findings),
          offer_(mig_offer(facts.mig, facts.devices)),
          mig_(mig_of_devices(facts)) {}

    void check(const PodTemplate& pod) {
        for (const PodContainer& container : containers_of(pod)) {
            check_amounts(pod, container);
        }
        check_runtime_class(pod);
        std::map<std::string, std::uint64_t> wanted = extended_resources_of(pod);
        std::erase_if(wanted, [](const auto& each) { return !is_nvidia_resource(each.first); });
        if (wanted.empty() || pod.count == 0) {
            return;
        }
        const auto& [first, amount] = *wanted.begin();
        if (check_driver(pod, first) && check_plugin(pod, first) && supply_.understood) {
            for (const auto& [resource, wish] : wanted) {
                if (check_name(pod, resource) && check_profile(pod, resource) &&
                    check_layout(pod, resource) && check_capacity(pod, resource, wish)) {
                    hold(pod, resource, wish);
                }
            }
        }
    }

private:
    /// What the API server refuses of a container's extended resources.
    void check_amounts(const PodTemplate& pod, const PodContainer& container) {
        for (const char* name : {"limits", "requests"}) {
            for (const auto& [resource, value] :
                 entries_at(*container.content, {"resources", name})) {
                const std::string amount = text_of(value);
                if (!is_extended_resource(resource)) {
                    continue;
                }
                const std::string pointer = fmt::format("{}/resources/{}/{}", container.pointer,
                                                        name, pointer_step(resource));
                if (!whole_quantity(amount)) {
                    findings_.add(pod.where, pointer,
                                  fmt::format("{} of {} is \"{}\": only whole numbers are allowed",
                                              name, resource, amount),
                                  resource.starts_with(vendor_prefix)
                                      ? "several pods share a GPU by the components time-slicing, "
                                        "mps and mig of the bundle nvidia-device-plugin; each pod "
                                        "then asks for 1"
                                      : "name a whole number");
                } else if (std::string_view(name) == "requests") {
                    check_same(pod, pointer, resource, amount,
                               text_in(*container.content, {"resources", "limits", resource}));
                }
            }
        }
    }

    void check_same(const PodTemplate& pod, const std::string& pointer, const std::string& resource,
                    const std::string& request, const std::string& limit) {
        if (limit.empty()) {
            findings_.add(
                pod.where, pointer,
                fmt::format("requests {} without a limit, which Kubernetes refuses", resource),
                "put it under limits; requests may be left out");
        } else if (whole_quantity(limit) && whole_quantity(limit) != whole_quantity(request)) {
            findings_.add(pod.where, pointer,
                          fmt::format("requests {} of {}, and its limit is {}: they must be equal",
                                      request, resource, limit),
                          "leave the request out: it then equals the limit");
        }
    }

    void check_runtime_class(const PodTemplate& pod) {
        const std::string name = text_in(*pod.spec, {"runtimeClassName"});
        if (name.empty() || facts_.may_have_manifests || supply_.brings_objects ||
            supply_.runtime_classes.contains(name) || pod.count == 0 ||
            facts_.provides("RuntimeClass", "", name)) {
            return;
        }
        if (name == "microshift-low-latency") {
            if (!facts_.packages.contains(name)) {
                findings_.add(pod.where, pod.pointer + "/runtimeClassName",
                              "the RuntimeClass microshift-low-latency is not in the image",
                              "add the package microshift-low-latency, which brings it");
            }
            return;
        }
        findings_.add(
            pod.where, pod.pointer + "/runtimeClassName",
            fmt::format("no bundle defines the RuntimeClass {}: the pod is refused", name),
            fmt::format(
                "{0}leave runtimeClassName out; else add the object to a bundle: "
                "{{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {{name: "
                "{1}}}, handler: {1}}}; if something else creates it, write [microshift] "
                "provided = [\"RuntimeClass {1}\"]",
                name.starts_with("nvidia") ? "with the NVIDIA runtime as CRI-O's default, " : "",
                name));
    }

    bool check_driver(const PodTemplate& pod, const std::string& resource) {
        if (facts_.may_have_driver || supply_.brings_driver) {
            return true;
        }
        findings_.add(pod.where, request_pointer(pod, resource),
                      fmt::format("wants {}, and the image has no NVIDIA driver", resource),
                      "add [nvidia] with driver = \"BRANCH\" and a toolkit to the blueprint; if "
                      "another package brings the driver, name it in [[packages]]");
        return false;
    }

    bool check_plugin(const PodTemplate& pod, const std::string& resource) {
        if (supply_.served || facts_.may_have_manifests) {
            return true;
        }
        findings_.add(
            pod.where, request_pointer(pod, resource),
            fmt::format("wants {}, and nothing on the device offers it: the pod stays Pending",
                        resource),
            "add the bundle \"nvidia-device-plugin\" to [microshift] bundles, before this one");
        return false;
    }

    /// Whether the plugin offers a resource of this name.
    bool check_name(const PodTemplate& pod, const std::string& resource) {
        if (profile_of(resource) && !supply_.strategies.contains("mixed")) {
            const std::string pointer = request_pointer(pod, resource);
            findings_.add(
                pod.where, pointer,
                fmt::format("wants {}, which the device plugin offers with the MIG "
                            "strategy \"mixed\" only, and it is \"{}\"",
                            resource, fmt::join(supply_.strategies, "\" or \"")),
                "set it: MIG_STRATEGY of the bundle nvidia-device-plugin, mig.strategy of "
                "the GPU operator's ClusterPolicy");
            return false;
        }
        if (!supply_.certain) {
            return true;
        }
        const std::string base = unshared(resource);
        const auto known = supply_.sharing.find(base);
        const GpuSharing sharing = known != supply_.sharing.end() ? known->second : GpuSharing{};
        const bool renamed = sharing.renamed && sharing.replicas > 1;
        if (renamed != (base != resource)) {
            const std::string offered = renamed ? base + ".shared" : base;
            findings_.add(
                pod.where, request_pointer(pod, resource),
                fmt::format("wants {}, and the device plugin offers {} instead", resource, offered),
                fmt::format("ask for {}, or change renameByDefault in the plugin's "
                            "configuration",
                            offered));
            return false;
        }
        return check_one_only(pod, resource, sharing);
    }

    bool check_one_only(const PodTemplate& pod, const std::string& resource,
                        const GpuSharing& sharing) {
        for (const PodContainer& container : containers_of(pod)) {
            const std::string limit =
                text_in(*container.content, {"resources", "limits", resource});
            const std::uint64_t amount = whole_quantity(limit).value_or(0);
            if (sharing.one_only && sharing.replicas > 1 && amount > 1) {
                findings_.add(pod.where,
                              container.pointer + "/resources/limits/" + pointer_step(resource),
                              fmt::format("wants {} of {}, and the device plugin refuses more than "
                                          "one of a shared resource",
                                          amount, resource),
                              "ask for 1: more replicas give no larger share; or set "
                              "failRequestsGreaterThanOne: false in the plugin's configuration");
                return false;
            }
        }
        return true;
    }

    /// Whether one of the devices' GPUs has the MIG profile.
    bool check_profile(const PodTemplate& pod, const std::string& resource) {
        const std::optional<MigProfile> profile = profile_of(resource);
        if (!profile || mig_.empty() || std::ranges::any_of(mig_, [&](const MigSupport& each) {
                return !each.known || each.instances_of(*profile) > 0;
            })) {
            return true;
        }
        std::string message = fmt::format("wants {}:", resource);
        for (std::size_t i = 0; i < mig_.size(); ++i) {
            const std::vector<std::string> names = mapped(
                mig_[i].profiles, [](const MigCapacity& each) { return each.profile.text(); });
            message +=
                fmt::format("{} {} has ", i > 0 ? "," : "", text_of_device(facts_.devices[i]));
            message += names.empty() ? "no MIG" : fmt::format("{}", fmt::join(names, ", "));
        }
        findings_.add(
            pod.where, request_pointer(pod, resource), message,
            std::ranges::all_of(mig_, [](const MigSupport& each) { return each.profiles.empty(); })
                ? "ask for nvidia.com/gpu, which time-slicing or MPS can share"
                : "ask for a profile that the GPU has");
        return false;
    }

    /// Whether `[nvidia.mig]` leaves or makes what a pod wants.
    bool check_layout(const PodTemplate& pod, const std::string& resource) {
        const std::string base = unshared(resource);
        const bool mixed = supply_.strategies.contains("mixed") && supply_.strategies.size() == 1;
        if (facts_.mig.empty() || !(profile_of(base) || mixed) ||
            (base == whole_gpu ? offer_.whole : offer_.has(base))) {
            return true;
        }
        std::vector<std::string> offered = offer_.resources;
        if (offer_.whole) {
            offered.emplace_back(whole_gpu);
        }
        findings_.add(pod.where, request_pointer(pod, resource),
                      fmt::format("wants {}, and [nvidia.mig] makes {}: the pod stays Pending",
                                  resource, fmt::join(offered, ", ")),
                      base == whole_gpu
                          ? "ask for an instance; strategy = \"single\" in [nvidia.mig] offers "
                            "equal instances as nvidia.com/gpu"
                          : "ask for one of them, or add the profile to [nvidia.mig]");
        return false;
    }

    /// How many of a resource a device has at most; nothing if that is not known.
    [[nodiscard]] std::optional<std::uint64_t> capacity_of(const std::string& resource) const {
        if (!facts_.gpus) {
            return std::nullopt;
        }
        const std::string base = unshared(resource);
        const auto sharing = supply_.sharing.find(base);
        const std::uint64_t replicas =
            sharing != supply_.sharing.end() ? sharing->second.replicas : 1;
        return *facts_.gpus * most_parts(base, supply_, facts_) * replicas;
    }

    /// "1 GPU", "2 GPUs, 4 replicas of each"
    [[nodiscard]] std::string text_of_capacity(const std::string& resource) const {
        const auto sharing = supply_.sharing.find(unshared(resource));
        const bool shared = sharing != supply_.sharing.end() && sharing->second.replicas > 1;
        return fmt::format("{} {}{}", *facts_.gpus, *facts_.gpus == 1 ? "GPU" : "GPUs",
                           shared ? fmt::format(", shared by {}", sharing->second.replicas) : "");
    }

    bool check_capacity(const PodTemplate& pod, const std::string& resource, std::uint64_t wish) {
        const std::optional<std::uint64_t> capacity = capacity_of(resource);
        if (!capacity || wish <= *capacity) {
            return true;
        }
        findings_.add(pod.where, request_pointer(pod, resource),
                      fmt::format("wants {} of {}, and a device has {} at most ({}): the pod stays "
                                  "Pending",
                                  wish, resource, *capacity, text_of_capacity(resource)),
                      "ask for less; if devices have more GPUs, set gpus in [nvidia]");
        return false;
    }

    /// Adds what a pod holds for good, and finds when it is too much.
    void hold(const PodTemplate& pod, const std::string& resource, std::uint64_t wish) {
        const std::optional<std::uint64_t> capacity = capacity_of(resource);
        if (!capacity || !is_permanent(pod) || chooses_nodes(pod)) {
            return;
        }
        Held& held = held_[resource];
        const bool fitted = held.amount <= *capacity;
        held.amount += wish * pod.count;
        held.names.push_back(pod.where.object->title());
        if (fitted && held.amount > *capacity) {
            findings_.add(
                pod.where, request_pointer(pod, resource),
                fmt::format("pods that never end want {} of {} together ({}), and a device has {} "
                            "at most ({}): one of them stays Pending",
                            held.amount, resource, fmt::join(held.names, ", "), *capacity,
                            text_of_capacity(resource)),
                "run fewer of them, share the GPU (component time-slicing or mps of the bundle "
                "nvidia-device-plugin), or set gpus in [nvidia] if devices have more");
        }
    }

    /// What pods that never end hold of a resource.
    struct Held {
        std::uint64_t amount = 0;
        std::vector<std::string> names;
    };

    const ImageFacts& facts_;
    GpuSupply supply_;
    Findings& findings_;
    MigOffer offer_;
    /// of each of the devices' GPUs
    std::vector<MigSupport> mig_;
    std::map<std::string, Held> held_;
};

}  // namespace

void check_gpus(const std::vector<BundleObject>& objects, const ImageFacts& facts,
                Findings& findings) {
    std::vector<PodTemplate> pods = pods_of(objects);
    std::erase_if(pods, [](const PodTemplate& pod) { return !is_workload(*pod.where.object); });
    GpuCheck check(facts, gpu_supply_of(objects, pods), findings);
    for (const PodTemplate& pod : pods) {
        check.check(pod);
    }
}

}  // namespace edgegpu
