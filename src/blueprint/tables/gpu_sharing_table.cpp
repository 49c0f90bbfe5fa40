#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/mig_layouts.hpp"
#include "blueprint/tables/tables.hpp"
#include "gpu/gpus.hpp"
#include "gpu/mig_layout.hpp"
#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view every_gpu = "all";
constexpr std::string_view strategy_key = "strategy";
constexpr const char* whole_gpu = "nvidia.com/gpu";
constexpr const char* plugin_bundle = "nvidia-device-plugin";
constexpr const char* operator_bundle = "gpu-operator-preinstalled";
/// Of the plugin's components time-slicing and mps.
constexpr const char* plugin_config = "nvidia-device-plugin-config";
constexpr const char* no_mps_with_mig = "NVIDIA's device plugin has no MPS for GPUs in MIG mode";
constexpr std::int64_t most_replicas = 1000;
/// Clients of one GPU's MPS server (NVIDIA's documentation of MPS, Volta and later).
constexpr std::int64_t most_mps_clients = 48;

/// `[nvidia.mig] strategy`: "single": instances are offered as nvidia.com/gpu; "mixed": by profile.
enum class MigStrategy { mixed, single };

constexpr std::string_view enum_name(MigStrategy strategy) {
    return nth_name(strategy, {"mixed", "single"});
}

std::uint16_t number_of_device(const std::string& device) {
    std::uint16_t number = 0;
    std::from_chars(device.data() + device.find(':') + 1, device.data() + device.size(), number,
                    16);
    return number;
}

/// "NVIDIA H200 (10de:2335)", or the id alone if the table does not have it.
std::string text_of_gpu(const std::string& device) {
    const GpuTable table = shipped_gpus();
    const Gpu* gpu = table.find(device);
    return gpu != nullptr ? gpu->text() : device;
}

/// Notes what of a layout a GPU cannot have.
void check_layout(const TableReader& table, const MigLayout& layout, const std::string& device) {
    const MigSupport gpu = mig_of(number_of_device(device));
    if (!gpu.known || layout.profiles.empty()) {
        return;
    }
    if (gpu.profiles.empty()) {
        table.note(error_at(layout.location, "{} has no MIG", text_of_gpu(device))
                       .hinted(layout.device.empty() ? fmt::format("exempt it: \"{}\" = []", device)
                                                     : "leave the entry out"));
        return;
    }
    for (const std::string& name : layout.profiles) {
        if (gpu.instances_of(*mig_instance_profile(name)) == 0) {
            table.note(
                error_at(layout.location, "{} has no MIG profile {}", text_of_gpu(device), name)
                    .hinted(text_of_fitting(gpu, {name})));
            return;
        }
    }
    if (!place_mig(gpu, layout.profiles)) {
        table.note(error_at(layout.location, "{} do not fit together on {}",
                            fmt::format("{}", fmt::join(layout.profiles, ", ")),
                            text_of_gpu(device))
                       .hinted(text_of_fitting(gpu, layout.profiles)));
    }
}

std::optional<MigLayout> read_layout(const TableReader& table, const std::string& key,
                                     const NvidiaRequest& nvidia) {
    MigLayout layout;
    layout.location = table.location(key);
    if (key != every_gpu) {
        layout.device = read_nvidia_device({key, layout.location});
        if (!nvidia.devices.empty() &&
            std::ranges::find(nvidia.devices, layout.device) == nvidia.devices.end()) {
            throw error_at(layout.location, "{} is none of [nvidia] devices",
                           text_of_gpu(layout.device))
                .hinted("add it there, or leave the entry out");
        }
    }
    bool good = true;
    for (const LocatedString& profile : table.strings(key)) {
        if (!mig_instance_profile(profile.value)) {
            table.note(
                error_at(profile.location, "\"{}\" is not a MIG profile", profile.value)
                    .hinted("a name of nvidia-smi mig -lgip, as in \"1g.18gb\" or \"1g.18gb+me\""));
            good = false;
        }
        layout.profiles.push_back(profile.value);
    }
    return good ? std::optional(layout) : std::nullopt;
}

std::vector<MigLayout> read_mig(const TableReader& table, const NvidiaRequest& nvidia) {
    std::vector<MigLayout> layouts;
    for (const std::string& key : table.keys()) {
        if (key == strategy_key) {
            continue;
        }
        table.attempt([&] {
            if (const std::optional<MigLayout> layout = read_layout(table, key, nvidia)) {
                if (std::ranges::find(layouts, layout->device, &MigLayout::device) !=
                    layouts.end()) {
                    throw error_at(layout->location, "duplicate entry for {}", layout->device);
                }
                layouts.push_back(*layout);
            }
        });
    }
    if (table.keys().empty()) {
        table.note(error_at(table.location(), "[nvidia.mig] names no GPU")
                       .hinted("as in all = [\"1g.18gb\", \"1g.18gb\"]"));
    }
    for (const MigLayout& layout : layouts) {
        if (!layout.device.empty()) {
            check_layout(table, layout, layout.device);
        }
    }
    for (const std::string& device : nvidia.devices) {
        const MigLayout* layout = layout_of(layouts, device);
        if (layout != nullptr && layout->device.empty()) {
            check_layout(table, *layout, device);
        }
    }
    return layouts;
}

/// What the plugin offers of the GPUs.
std::vector<std::string> offered_resources(const MigOffer& mig, MigStrategy strategy) {
    if (!mig.divided || strategy == MigStrategy::single) {
        return {whole_gpu};
    }
    std::vector<std::string> resources = mig.resources;
    if (mig.whole) {
        resources.emplace_back(whole_gpu);
    }
    return resources;
}

SharingRequest read_sharing(const TableReader& table, const MigOffer& mig, MigStrategy strategy) {
    SharingRequest sharing;
    sharing.location = table.location();
    table.attempt([&] { static_cast<void>(table.required_string("mode")); });
    sharing.mode = table.choice("mode", sharing.mode);
    const bool mps = sharing.mode == SharingMode::mps;
    if (const auto replicas =
            table.integer("replicas", 2, mps ? most_mps_clients : most_replicas)) {
        sharing.replicas = static_cast<unsigned>(*replicas);
    } else if (!table.has("replicas")) {
        table.note(error_at(table.location(), "\"{}\" is missing", table.full_name("replicas"))
                       .hinted("by how many pods a GPU or a MIG instance is shared"));
    }
    const std::vector<std::string> offered = offered_resources(mig, strategy);
    for (const LocatedString& resource : table.strings("resources")) {
        if (std::ranges::find(offered, resource.value) == offered.end()) {
            table.note(
                error_at(resource.location, "the device plugin does not offer {}", resource.value)
                    .hinted(fmt::format("it offers {}", fmt::join(offered, ", "))));
        } else if (std::ranges::find(sharing.resources, resource.value) !=
                   sharing.resources.end()) {
            table.note(error_at(resource.location, "duplicate resource {}", resource.value));
        } else {
            sharing.resources.push_back(resource.value);
        }
    }
    if (!table.has("resources")) {
        sharing.resources = offered;
    }
    if (mps && mig.divided) {
        table.note(error_at(table, "mode", "{}", no_mps_with_mig)
                       .hinted("share MIG instances by mode = \"time-slicing\", or leave "
                               "[nvidia.mig] out"));
    }
    table.finish();
    return sharing;
}

/// The plugin's own configuration (its documentation, "Shared Access to GPUs").
std::string plugin_configuration(const SharingRequest& sharing) {
    const bool mps = sharing.mode == SharingMode::mps;
    std::string text = fmt::format("version: v1\nsharing:\n  {}:\n    renameByDefault: false\n",
                                   mps ? "mps" : "timeSlicing");
    // A pod that asks for two gets no more time than one that asks for one. With MPS the plugin
    // refuses such requests anyway.
    text += mps ? "" : "    failRequestsGreaterThanOne: true\n";
    text += "    resources:\n";
    for (const std::string& resource : sharing.resources) {
        text += fmt::format("      - name: {}\n        replicas: {}\n", resource, sharing.replicas);
    }
    return text;
}

/// Notes components of a bundle that the blueprint names, although `table` decides about them.
void refuse_components(const TableReader& nvidia, const BundleRequest& bundle,
                       std::initializer_list<std::string_view> names, std::string_view table) {
    for (const BundleComponent& each : bundle.components) {
        if (std::ranges::find(names, each.name) != names.end()) {
            nvidia.note(
                error_at(each.location, "{} decides about the component \"{}\"", table, each.name)
                    .hinted("leave it out of components"));
        }
    }
}

/// Before the blueprint's own patches, which may differ.
void add_first_patch(BundleRequest& bundle, const std::string& api_version, const std::string& kind,
                     const std::string& name, const std::string& rest,
                     const SourceLocation& location) {
    PatchTarget target;
    target.kind = kind;
    target.name = name;
    bundle.patches.insert(bundle.patches.begin(),
                          {fmt::format("apiVersion: {}\nkind: {}\nmetadata:\n  name: {}\n{}",
                                       api_version, kind, name, rest),
                           target, location});
}

void configure_plugin_mig(const TableReader& nvidia, BundleRequest& bundle,
                          const SourceLocation& location, MigStrategy strategy) {
    refuse_components(nvidia, bundle, {"mig"}, "[nvidia.mig]");
    bundle.components.push_back({"mig", location});
    if (strategy == MigStrategy::mixed) {
        // The component's own is "single".
        add_first_patch(bundle, "apps/v1", "DaemonSet", plugin_bundle,
                        "spec:\n  template:\n    spec:\n      containers:\n"
                        "        - name: nvidia-device-plugin\n          env:\n"
                        "            - name: MIG_STRATEGY\n              value: mixed\n",
                        location);
    }
}

void configure_plugin_sharing(const TableReader& nvidia, BundleRequest& bundle,
                              const SharingRequest& sharing) {
    refuse_components(nvidia, bundle, {"time-slicing", "mps"}, "[nvidia.sharing]");
    for (const BundleComponent& each : bundle.components) {
        if (sharing.mode == SharingMode::mps && each.name == "mig") {
            nvidia.note(error_at(each.location, "{}", no_mps_with_mig)
                            .hinted("leave the component \"mig\" out"));
        }
    }
    for (const BundleValues& values : bundle.values) {
        if (values.name == plugin_config) {
            nvidia.note(
                error_at(values.location, "[nvidia.sharing] makes the config map {}", plugin_config)
                    .hinted("leave one of the two out"));
        }
    }
    bundle.components.push_back({std::string(enum_name(sharing.mode)), sharing.location});
    bundle.values.push_back(
        {plugin_config, {{"config.yaml", plugin_configuration(sharing)}}, sharing.location});
}

}  // namespace

void read_gpu_sharing(const TableReader& nvidia, Blueprint& blueprint) {
    NvidiaRequest& request = *blueprint.nvidia;
    MigStrategy strategy = MigStrategy::mixed;
    const std::optional<TableReader> mig = nvidia.table("mig");
    if (mig) {
        strategy = mig->choice(strategy_key, strategy);
        request.mig = read_mig(*mig, request);
    }
    const MigOffer offer = mig_offer(request.mig, request.devices);
    if (strategy == MigStrategy::single && offer.divided &&
        (offer.resources.size() > 1 || offer.whole)) {
        nvidia.note(error_at(*mig, strategy_key,
                             "the MIG strategy \"single\" is for GPUs that are all divided into "
                             "instances of one profile")
                        .hinted("strategy = \"mixed\" offers each profile under its own name"));
    }
    if (const auto sharing = nvidia.table("sharing")) {
        request.sharing = read_sharing(*sharing, offer, strategy);
    }
    if (offer.divided && blueprint.openshift && blueprint.openshift->operators) {
        blueprint.openshift->operators->mig_strategy = enum_name(strategy);
    }
    bool configured = false;
    for (BundleRequest& bundle : blueprint.microshift.bundles) {
        const std::string directory = bundle.source.filename().string();
        if (directory == plugin_bundle) {
            configured = true;
            if (request.sharing) {
                configure_plugin_sharing(nvidia, bundle, *request.sharing);
            }
            if (offer.divided) {
                configure_plugin_mig(nvidia, bundle, request.mig.front().location, strategy);
            }
        } else if (directory == operator_bundle && offer.divided) {
            add_first_patch(bundle, "nvidia.com/v1", "ClusterPolicy", "cluster-policy",
                            fmt::format("spec:\n  mig:\n    strategy: {}\n", enum_name(strategy)),
                            request.mig.front().location);
        }
    }
    if (request.sharing && !configured) {
        nvidia.note(error_at(request.sharing->location,
                             "[nvidia.sharing] configures the bundle \"{}\", and the image does "
                             "not have it",
                             plugin_bundle)
                        .hinted("add it to [microshift] bundles; a plugin of another bundle is "
                                "configured there"));
    }
}

}  // namespace edgegpu
