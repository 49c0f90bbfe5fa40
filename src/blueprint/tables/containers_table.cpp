#include <algorithm>
#include <optional>
#include <string>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"
#include "oci/reference.hpp"

namespace edgegpu {

namespace {

/// The place that `source` says, with an absolute path in place of one relative to the blueprint.
std::string located_place(const ParseScope& scope, const LocatedString& source,
                          const ImagePlace& place) {
    // No path of these transports may contain a colon, which begins a tag.
    const std::size_t colon = std::min(place.rest.find(':'), place.rest.size());
    const std::string path =
        resolve_path(directory_of(source.location), place.rest.substr(0, colon)).string();
    std::string located = ImagePlace{place.transport, path + place.rest.substr(colon)}.text();
    record_path(scope, source, located);
    return located;
}

Error bad_image_name(const SourceLocation& location, const std::string& text) {
    return error_at(location, "\"{}\" is not the name of a container image", text)
        .hinted("as in \"quay.io/organization/image:tag\", in lower case");
}

ContainerRequest read_container(const TableReader& table, const ParseScope& scope) {
    const std::string source = table.required_string("source");
    const std::string name = table.string("name");
    const bool tls_verify = table.boolean("tls-verify", true);
    const bool local = table.boolean("local-storage", false);
    table.finish();
    if (local) {
        throw error_at(table, "local-storage",
                       "not supported: local-storage, an image of the build machine's own store")
            .hinted(
                "copy it beside the blueprint, skopeo copy containers-storage:NAME oci:images/app, "
                "and use source = \"oci:images/app\"");
    }
    ContainerRequest request = read_image_source({source, table.location("source")}, scope);
    request.tls_verify = tls_verify;
    if (!name.empty()) {
        const std::optional<std::string> complete = complete_image_name(name);
        if (!complete || name.find('@') != std::string::npos) {
            throw bad_image_name(table.location("name"), name);
        }
        request.name = *complete;
    }
    if (request.name.empty()) {
        throw error_at(request.location, "image {} needs a name", source)
            .hinted("name = \"localhost/app:1\"");
    }
    return request;
}

}  // namespace

ContainerRequest read_image_source(const LocatedString& source, const ParseScope& scope) {
    std::optional<ImagePlace> place = image_place(source.value);
    if (!place || place->rest.empty()) {
        throw error_at(source.location, "\"{}\" is not a supported source of an image",
                       source.value)
            .hinted(
                "a name in a registry, \"quay.io/organization/image:tag\", or oci:DIRECTORY:TAG, "
                "dir:DIRECTORY, docker-archive:FILE");
    }
    ContainerRequest request;
    request.location = source.location;
    if (place->transport != ImageTransport::docker) {
        request.source = place->text();
        request.located = located_place(scope, source, *place);
        return request;
    }
    const std::optional<std::string> pulled = complete_image_name(place->rest, true);
    if (!pulled) {
        throw bad_image_name(source.location, source.value);
    }
    place->rest = *pulled;
    request.source = place->text();
    request.located = request.source;
    request.name =
        complete_image_name(source.value.substr(source.value.starts_with("docker://") ? 9 : 0))
            .value_or(*pulled);
    return request;
}

void read_containers(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    root.each_table("containers", [&](const TableReader& table) {
        ContainerRequest request = read_container(table, scope);
        const auto same = std::ranges::find_if(
            blueprint.containers,
            [&](const ContainerRequest& other) { return other.name == request.name; });
        if (same == blueprint.containers.end()) {
            blueprint.containers.push_back(std::move(request));
        } else if (same->source != request.source) {
            throw error_at(request.location, "two images are called {} (the other at {})",
                           request.name, place_seen_from(request.location, same->location));
        }
    });
}

}  // namespace edgegpu
