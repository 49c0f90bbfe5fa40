#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/variables.hpp"
#include "oci/reference.hpp"
#include "schema/formats.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

/// More machines than a cluster has.
constexpr std::int64_t most_machines = 2000;
/// Of one machine.
constexpr std::int64_t most_accelerators = 16;

/// A name of an object of the API; "unread" for what is none. What the blueprint has in its place
/// may be the content of a secret, and is not repeated.
std::string read_object_name(const TableReader& table, std::string_view key, const char* hint) {
    std::string name = table.string(key);
    if (!name.empty() && !has_format(name, StringFormat::dns_subdomain)) {
        table.note(error_at(table, key, "\"{}\" is not the name of an object", table.full_name(key))
                       .hinted(hint));
        return "unread";
    }
    return name;
}

/// Notes an absent or empty `key`.
bool require_key(const TableReader& table, std::string_view key) {
    return table.attempt([&] { static_cast<void>(table.required_string(key)); });
}

/// Whether a node would look for it where we do: without a domain, it asks its own search list.
bool has_registry(const ImageNameParts& parts) {
    const std::string_view domain = parts.repository.substr(0, parts.repository.find('/'));
    return domain.size() < parts.repository.size() &&
           domain.find_first_of(".:") != std::string_view::npos;
}

std::string read_node_image(const TableReader& table) {
    if (!require_key(table, "image")) {
        return {};
    }
    std::string image = table.string("image");
    const ImageNameParts parts = parts_of_image_name(image);
    if (!complete_image_name(image) || !has_registry(parts)) {
        table.note(
            error_at(table, "image", "\"{}\" is not the name of an image in a registry", image)
                .hinted("with the registry, as in \"quay.example.com/edge/node\""));
    } else if (parts.tag || parts.digest) {
        table.note(
            error_at(table, "image", "\"{}\" has a {}", image, parts.digest ? "digest" : "tag")
                .hinted("name the repository alone: edgegpu openshift --digest adds the image's "
                        "digest; a tag would be resolved by each node for itself"));
    }
    return image;
}

/// Of what becomes a label, too, or the part of its key behind the slash.
std::string read_label_name(const TableReader& table, std::string_view key, const char* hint) {
    constexpr std::size_t longest = 63;
    std::string name = read_object_name(table, key, hint);
    if (name.size() > longest) {
        table.note(error_at(
            table, key, "\"{}\" has {} characters: labels of nodes and machines have {} at most",
            table.full_name(key), name.size(), longest));
    }
    return name;
}

/// What the API of MachineOSConfig takes (openshift/api machineconfiguration/v1,
/// types_machineosconfig.go), which is less than registries do: the registry's name has a dot,
/// directories have none.
bool is_push_spec(const std::string& name) {
    constexpr std::size_t longest = 447;
    static const std::regex anywhere(
        R"(([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?(/[a-zA-Z0-9_-]{1,61})*/[a-zA-Z0-9_.-]+)"
        R"(:[a-zA-Z0-9._-]+)");
    static const std::regex of_cluster(R"([^.]+\.[^.]+\.svc:[0-9]+/[^/]+/[^/]+:[^/]+)");
    const ImageNameParts parts = parts_of_image_name(name);
    return name.size() <= longest && complete_image_name(name) && parts.tag && !parts.digest &&
           (std::regex_match(name, anywhere) || std::regex_match(name, of_cluster));
}

OnClusterBuildRequest read_on_cluster_build(const TableReader& table) {
    constexpr const char* secret =
        "the name of a secret in the namespace openshift-machine-config-operator; its content is "
        "never in a blueprint";
    OnClusterBuildRequest build;
    build.location = table.location();
    if (require_key(table, "push_to")) {
        build.push_to = table.string("push_to");
        if (!is_push_spec(build.push_to)) {
            table.note(
                error_at(table, "push_to",
                         "\"{}\" is not the name of an image with registry and tag", build.push_to)
                    .hinted("as in \"quay.example.com/edge/rendered:latest\": the API takes only "
                            "registries with a dot in their name, and directories "
                            "without one"));
        }
    }
    if (require_key(table, "push_secret")) {
        build.push_secret = read_object_name(table, "push_secret", secret);
    }
    build.pull_secret = read_object_name(table, "pull_secret", secret);
    table.finish();
    return build;
}

/// Notes settings of an operator that is not installed.
void refuse_settings(const TableReader& table, std::string_view name,
                     std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (table.has(key)) {
            table.note(error_at(table, key, "{} of an operator that is not installed",
                                table.full_name(key))
                           .hinted(fmt::format("remove it, or \"{}\" from installed", name)));
        }
    }
}

std::string read_catalogue(const TableReader& table, std::string_view key,
                           const std::string& fallback) {
    if (!table.has(key) || !require_key(table, key)) {
        return fallback;
    }
    return read_object_name(table, key,
                            "as \"oc get catalogsource -n openshift-marketplace\" shows it");
}

OperatorsRequest read_operators(const TableReader& table) {
    constexpr const char* channel = "as in \"stable\" or \"v25.10\"";
    OperatorsRequest operators;
    operators.location = table.location();
    for (const LocatedString& name : table.strings("installed")) {
        if (name.value != "nfd" && name.value != "gpu-operator") {
            table.note(error_at(name.location, "no operator \"{}\" is written here", name.value)
                           .hinted("\"nfd\" and \"gpu-operator\" are"));
        } else if (!operators.has(name.value)) {
            operators.installed.push_back(name.value);
        }
    }
    operators.gpu_channel = read_object_name(table, "gpu_channel", channel);
    operators.nfd_channel = read_object_name(table, "nfd_channel", channel);
    operators.gpu_source = read_catalogue(table, "gpu_source", operators.gpu_source);
    operators.nfd_source = read_catalogue(table, "nfd_source", operators.nfd_source);
    operators.manual_approval = table.boolean("manual_approval", false);
    if (operators.has("nfd")) {
        refuse_settings(table, "nfd", {"nfd_channel", "nfd_source"});
    }
    if (operators.has("gpu-operator")) {
        refuse_settings(table, "gpu-operator", {"gpu_channel", "gpu_source"});
    }
    table.finish();
    return operators;
}

/// What a cloud calls a type of machine.
std::string read_cloud_name(const TableReader& table, std::string_view key) {
    constexpr std::size_t longest = 253;
    std::string name = table.string(key);
    if (name.size() > longest) {
        table.note(
            error_at(table, key, "\"{}\" has more than {} bytes", table.full_name(key), longest));
        name.clear();
    }
    return name;
}

MachineSetRequest read_machine_set(const TableReader& table, const ParseScope& scope) {
    MachineSetRequest set;
    set.location = table.location();
    if (require_key(table, "source")) {
        set.source = path_at(scope, table.location("source"), table.string("source"));
    }
    if (require_key(table, "name")) {
        set.name = read_label_name(table, "name", "as in \"gpu-us-east-1a\"");
    }
    set.instance_type = read_cloud_name(table, "instance_type");
    set.machine_template = read_cloud_name(table, "template");
    set.accelerator = read_cloud_name(table, "accelerator");
    set.accelerators = static_cast<std::uint32_t>(
        table.integer("accelerators", 1, most_accelerators).value_or(set.accelerators));
    set.replicas = static_cast<std::uint32_t>(
        table.integer("replicas", 0, most_machines).value_or(set.replicas));
    if (table.has("accelerators") && set.accelerator.empty()) {
        table.note(error_at(table, "accelerators", "accelerators without accelerator")
                       .hinted("accelerator = \"nvidia-tesla-t4\", or remove it"));
    }
    table.finish();
    return set;
}

}  // namespace

OpenshiftRequest read_openshift(const TableReader& table, const ParseScope& scope) {
    OpenshiftRequest openshift;
    openshift.location = table.location();
    if (require_key(table, "pool")) {
        openshift.pool =
            read_label_name(table, "pool", "the name of a MachineConfigPool, as in \"gpu\"");
    }
    openshift.image = read_node_image(table);
    openshift.tls_verify = table.boolean("tls_verify", true);
    if (const auto build = table.table("on_cluster_build")) {
        openshift.on_cluster_build = read_on_cluster_build(*build);
    }
    std::set<std::string> names;
    for (const TableReader& set : table.tables("machine_sets")) {
        openshift.machine_sets.push_back(read_machine_set(set, scope));
        const MachineSetRequest& read = openshift.machine_sets.back();
        if (!read.name.empty() && !names.insert(read.name).second) {
            set.note(error_at(read.location, "two machine sets have the name \"{}\"", read.name));
        }
        if (openshift.pool == "master") {
            set.note(error_at(read.location, "machines of the pool \"master\" are of no set")
                         .hinted("a pool of its own for GPU nodes, pool = \"gpu\""));
        }
    }
    if (const auto operators = table.table("operators")) {
        openshift.operators = read_operators(*operators);
    }
    table.finish();
    return openshift;
}

}  // namespace edgegpu
