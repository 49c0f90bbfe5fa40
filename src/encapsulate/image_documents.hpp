#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encapsulate/blob_writer.hpp"
#include "encapsulate/layer_plan.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What the configuration and the manifest of an image say of its commit.
struct ContainerFacts {
    /// in Go's notation: "amd64"
    std::string architecture;
    /// the commit's time, RFC 3339
    std::string created;
    std::vector<std::string> command;
    /// labels of the configuration and annotations of the manifest, without ostree.final-diffid
    std::map<std::string, std::string> labels;
    UpdateSystem system = UpdateSystem::ostree;
    /// of the first layer: the commit's subject
    std::string description;
};

/// Reads the commit's metadata; of an image for snapshots, edgegpu.commit and the version alone:
/// ostree.commit, and, if the commit has them, ostree.bootable (then
/// containers.bootc as well, by which bootc knows its images), ostree.linux, version (and
/// org.opencontainers.image.version). The command is the commit's `ostree.container-cmd`, else
/// /sbin/init. Throws Error for a commit that does not say its architecture, or with a time out of
/// range.
[[nodiscard]] ContainerFacts read_container_facts(const CommitView& commit);

/// A layer with its content.
struct NamedLayer {
    PlannedLayer plan;
    LayerBlob blob;
};

/// A document of an image as JSON; the same for the same values.
[[nodiscard]] std::string image_config_json(const ContainerFacts& facts,
                                            const std::vector<NamedLayer>& layers);
/// `config` is the text of the configuration. Layers except for the first have the annotation
/// `ostree.components` (names separated by commas), and all of them "edgegpu.layer", the name.
[[nodiscard]] std::string image_manifest_json(const ContainerFacts& facts, std::string_view config,
                                              const std::vector<NamedLayer>& layers);
/// index.json of an image layout with one image; `tag` names it.
[[nodiscard]] std::string image_index_json(const ContainerFacts& facts, std::string_view manifest,
                                           const std::string& tag);

/// The layers that the manifest of an earlier version names; empty for an image of other programs.
/// Throws Error for something that is no manifest.
[[nodiscard]] EarlierLayers earlier_layers(std::string_view manifest, const std::string& called);

}  // namespace edgegpu
