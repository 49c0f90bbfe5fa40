#include "encapsulate/image_documents.hpp"

#include <array>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "oci/manifest.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

using nlohmann::json;

namespace {

constexpr const char* manifest_type = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* config_type = "application/vnd.oci.image.config.v1+json";
constexpr const char* layer_type = "application/vnd.oci.image.layer.v1.tar+gzip";
constexpr const char* final_layer_label = "ostree.final-diffid";
constexpr const char* components_annotation = "ostree.components";
constexpr const char* name_annotation = "edgegpu.layer";
/// The end of the year 9999, the last that RFC 3339 can write.
constexpr std::int64_t latest_time = 253402300799;

std::string architecture_of(const CommitView& commit, GVariant* metadata) {
    std::string architecture = metadata_text(metadata, "ostree.architecture", commit.info().name);
    if (architecture.empty() && commit.info().packages) {
        for (const Nevra& package : *commit.info().packages) {
            if (package.arch != "noarch" && package.arch != "i686") {
                architecture = package.arch;
                break;
            }
        }
    }
    if (architecture.empty()) {
        throw error("commit {} does not say for which architecture it is", commit.info().checksum)
            .hinted("commits of edgegpu have it in their metadata, as ostree.architecture");
    }
    return image_architecture(architecture);
}

/// A package's name is whatever its package says, not always UTF-8.
std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json descriptor(const char* type, std::string_view content) {
    return {
        {"mediaType", type}, {"digest", "sha256:" + sha256_hex(content)}, {"size", content.size()}};
}

std::map<std::string, std::string> all_labels(const ContainerFacts& facts,
                                              const std::vector<NamedLayer>& layers) {
    auto labels = facts.labels;
    if (facts.system == UpdateSystem::snapshots) {
        return labels;
    }
    // By it, importers know where the layers of the commit end and those of others begin.
    labels[final_layer_label] = "sha256:" + layers.back().blob.diff_id;
    return labels;
}

}  // namespace

ContainerFacts read_container_facts(const CommitView& commit) {
    const CommitInfo& info = commit.info();
    const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, info.checksum, "/");
    const VariantHandle metadata(g_variant_get_child_value(object.get(), 0));
    const char* subject = nullptr;
    g_variant_get_child(object.get(), 3, "&s", &subject);
    if (info.time < 0 || info.time > latest_time) {
        throw commit.malformed("/", "its time is out of range");
    }
    ContainerFacts facts;
    facts.architecture = architecture_of(commit, metadata.get());
    facts.created =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(info.time)));
    facts.command = metadata_texts(metadata.get(), "ostree.container-cmd", info.name)
                        .value_or(std::vector<std::string>{"/sbin/init"});
    facts.description = *subject == '\0' ? "commit " + info.checksum : subject;
    facts.system = info.update_system;
    // Without ostree's labels, rpm-ostree and bootc refuse an image that they could not deploy.
    facts.labels[facts.system == UpdateSystem::ostree ? "ostree.commit" : "edgegpu.commit"] =
        info.checksum;
    const VariantHandle bootable =
        metadata_value(metadata.get(), "ostree.bootable", "b", info.name);
    if (bootable && g_variant_get_boolean(bootable.get()) != FALSE) {
        facts.labels["ostree.bootable"] = "true";
        facts.labels["containers.bootc"] = "1";
    }
    if (!info.kernel.empty() && facts.system == UpdateSystem::ostree) {
        facts.labels["ostree.linux"] = info.kernel;
    }
    if (!info.version.empty()) {
        facts.labels["version"] = info.version;
        facts.labels["org.opencontainers.image.version"] = info.version;
    }
    return facts;
}

std::string image_config_json(const ContainerFacts& facts, const std::vector<NamedLayer>& layers) {
    json ids = json::array();
    json history = json::array();
    for (const NamedLayer& layer : layers) {
        ids.push_back("sha256:" + layer.blob.diff_id);
        history.push_back(
            {{"created", facts.created},
             {"created_by", &layer == &layers.front() ? facts.description : layer.plan.name}});
    }
    return dump({{"created", facts.created},
                 {"architecture", facts.architecture},
                 {"os", "linux"},
                 {"config", {{"Cmd", facts.command}, {"Labels", all_labels(facts, layers)}}},
                 {"rootfs", {{"type", "layers"}, {"diff_ids", std::move(ids)}}},
                 {"history", std::move(history)}});
}

std::string image_manifest_json(const ContainerFacts& facts, std::string_view config,
                                const std::vector<NamedLayer>& layers) {
    json blobs = json::array();
    for (const NamedLayer& layer : layers) {
        json annotations{{name_annotation, layer.plan.name}};
        if (&layer != &layers.front()) {
            annotations[components_annotation] =
                fmt::format("{}", fmt::join(layer.plan.components, ","));
        }
        blobs.push_back({{"mediaType", layer_type},
                         {"digest", "sha256:" + layer.blob.digest},
                         {"size", layer.blob.size},
                         {"annotations", std::move(annotations)}});
    }
    return dump({{"schemaVersion", 2},
                 {"mediaType", manifest_type},
                 {"config", descriptor(config_type, config)},
                 {"layers", std::move(blobs)},
                 {"annotations", all_labels(facts, layers)}});
}

std::string image_index_json(const ContainerFacts& facts, std::string_view manifest,
                             const std::string& tag) {
    json entry = descriptor(manifest_type, manifest);
    entry["platform"] = {{"architecture", facts.architecture}, {"os", "linux"}};
    entry["annotations"] = {{"org.opencontainers.image.ref.name", tag}};
    return dump({{"schemaVersion", 2}, {"manifests", json::array({std::move(entry)})}});
}

EarlierLayers earlier_layers(std::string_view manifest, const std::string& called) {
    EarlierLayers earlier;
    const json document = json::parse(manifest, nullptr, false);
    if (!document.is_object() || !document.contains("layers") || !document["layers"].is_array()) {
        throw error("{}: not the manifest of an image", called)
            .hinted("the earlier image has to be one for this architecture, not an index");
    }
    for (const json& layer : document["layers"]) {
        const auto annotation = [&](const char* key) {
            const json::json_pointer place = json::json_pointer("/annotations") / std::string(key);
            return layer.contains(place) && layer[place].is_string()
                       ? layer[place].get<std::string>()
                       : std::string();
        };
        const std::string name = annotation(name_annotation);
        const std::string components = annotation(components_annotation);
        if (!name.empty() && !components.empty()) {
            for (const std::string_view component : split(components, ',')) {
                earlier[name].emplace_back(component);
            }
        }
    }
    return earlier;
}

}  // namespace edgegpu
