#include "customise/microshift/config_drop_in.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "microshift/ip_network.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace {

/// The first of 10- to 19-edgegpu.yaml that the parent and its parents have not; else 10-.
std::string drop_in_of_layer(const Tree& tree) {
    for (int number = 10; number < 20; ++number) {
        std::string path = fmt::format("/etc/microshift/config.d/{}-edgegpu.yaml", number);
        if (find_entry(tree, path) == nullptr) {
            return path;
        }
    }
    return std::string(config_drop_in);
}

}  // namespace

void add_microshift_config(const Context& ctx, const std::optional<MicroshiftConfig>& config,
                           bool on_parent, Tree& tree) {
    if (!config) {
        return;
    }
    if (!has_microshift(tree)) {
        throw error_at(config->location, "the image has no MicroShift")
            .hinted("add the package microshift, or remove [microshift.config]");
    }
    const std::string path = on_parent ? drop_in_of_layer(tree) : std::string(config_drop_in);
    if (find_entry(tree, path) != nullptr) {
        throw error_at(config->location, "{} of the image comes from elsewhere", path)
            .hinted("[microshift.config] is written to this file: give the other one another name");
    }
    const std::string text = fmt::format(
        "# [microshift.config] of the blueprint. Files of this directory that sort after this one "
        "override it.\n{}",
        write_yaml(yaml_of(nlohmann::json::parse(config->document))));
    put_entry(tree, path, make_file_entry(ctx, text, 0644));
}

bool has_microshift(const Tree& tree) {
    return std::any_of(tree.packages.begin(), tree.packages.end(),
                       [](const Nevra& package) { return package.name == "microshift"; });
}

ConfigFiles config_files_of(const Tree& tree) {
    ConfigFiles files;
    for (const auto& [path, entry] : entries_below(tree.entries, "/etc/microshift")) {
        if (is_config_file(path) && entry.type == EntryType::file) {
            files[path] = read_entry(tree, path);
        }
    }
    return files;
}

std::vector<std::string> trusted_sources_of(const MicroshiftRequest& microshift, const Tree& tree) {
    if (!microshift.firewall || !has_microshift(tree)) {
        return {};
    }
    // OVN-Kubernetes' address of the node, for pods.
    std::vector<std::string> sources{"169.254.169.1"};
    const nlohmann::json config = effective_config(config_files_of(tree)).values;
    const nlohmann::json::json_pointer networks("/network/clusterNetwork");
    const nlohmann::json configured =
        config.contains(networks) ? config.at(networks) : nlohmann::json();
    for (const nlohmann::json& network : configured) {
        // Not what MicroShift would refuse, of which the build warns.
        if (network.is_string() && IpNetwork::parse(network.get<std::string>())) {
            sources.push_back(network.get<std::string>());
        }
    }
    if (sources.size() == 1) {
        // By the family of the node's address.
        sources.insert(sources.end(), {"10.42.0.0/16", "fd01::/48"});
    }
    return sources;
}

}  // namespace edgegpu
