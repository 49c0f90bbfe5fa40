#include "image_file/provenance.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ordered_json partitions_of(const Disk& disk) {
    ordered_json partitions = ordered_json::array();
    for (const Partition& partition : disk.partitions) {
        ordered_json described = {{"name", partition.name},
                                  {"offset", partition.offset},
                                  {"size", partition.size},
                                  {"uuid", partition.uuid}};
        if (!partition.file_system_uuid.empty()) {
            described["file_system_uuid"] = partition.file_system_uuid;
        }
        if (!partition.luks_uuid.empty()) {
            described["luks_uuid"] = partition.luks_uuid;
        }
        partitions.push_back(std::move(described));
    }
    return partitions;
}

void add_if(ordered_json& document, const char* key, const std::string& value) {
    if (!value.empty()) {
        document[key] = value;
    }
}

ordered_json source_json(const SourceFile& source) {
    return {{"file", source.name}, {"sha256", source.sha256}};
}

void add_source(ordered_json& document, const char* key, const std::optional<SourceFile>& source) {
    if (source) {
        document[key] = source_json(*source);
    }
}

}  // namespace

void add_sources(ordered_json& document, const ImageSources& sources) {
    add_source(document, "blueprint", sources.blueprint);
    for (const SourceFile& base : sources.bases) {
        document["bases"].push_back(source_json(base));
    }
    add_if(document, "blueprint_values", sources.blueprint_values);
    add_source(document, "lockfile", sources.lockfile);
}

std::string image_provenance(const Image& image, const CommitInfo& commit,
                             const ImageRequest& request) {
    const Disk& disk = image.disk;
    const ordered_json firmware =
        mapped(disk.firmware, [](Firmware one) { return one == Firmware::uefi ? "uefi" : "bios"; });
    const ordered_json injected = mapped(request.disk.injection, &Injected::path);
    ordered_json document = {{"format", "edgegpu-image/1"},
                             {"edgegpu", EDGEGPU_VERSION},
                             {"file", request.output.filename().string()},
                             {"type", enum_name(request.type)},
                             {"compression", enum_name(request.compression)},
                             {"size", image.size},
                             {"sha256", image.sha256},
                             {"commit", disk.commit}};
    add_if(document, "ref", request.disk.ref);
    add_if(document, "refspec", disk.refspec);
    add_if(document, "version", commit.version);
    add_if(document, "parent", commit.parent);
    add_if(document, "inputs_digest", commit.inputs_digest);
    add_sources(document, request.sources);
    add_if(document, "kernel", commit.kernel);
    add_if(document, "driver", commit.driver);
    document.update({{"stateroot", disk.stateroot},
                     {"disk_size", disk.size},
                     {"partitions", partitions_of(disk)},
                     {"firmware", firmware},
                     {"kernel_arguments", disk.kernel_arguments},
                     {"injected", injected}});
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace edgegpu
