#include "customise/system/firewall.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "image/account_files.hpp"
#include "sandbox/image_program.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr const char* trusted_zone = "trusted";

/// Names of firewalld's services, zones or sets (`kind`: "services", "zones", "ipsets") in the
/// image.
std::set<std::string> known_names(const Tree& tree, std::string_view kind) {
    constexpr std::string_view extension = ".xml";
    std::set<std::string> names;
    for (const std::string_view top : {"/usr/lib/firewalld", "/etc/firewalld"}) {
        const std::string directory = fmt::format("{}/{}/", top, kind);
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string name = path.substr(directory.size());
            if (name.ends_with(extension) && name.find('/') == std::string::npos) {
                names.insert(name.substr(0, name.size() - extension.size()));
            }
        }
    }
    return names;
}

void check_services(const FirewallRequest& request, const Tree& tree) {
    const std::set<std::string> known = known_names(tree, "services");
    for (const auto* services : {&request.enabled_services, &request.disabled_services}) {
        for (const std::string& service : *services) {
            if (!known.contains(service)) {
                throw error(ErrorKind::usage, "{}: the image's firewalld has no service '{}'",
                            request.location.text(), service)
                    .hinted(near_names_hint(service, {known.begin(), known.end()}));
            }
        }
    }
}

/// firewall-offline-cmd takes any set; firewalld falls back to its own defaults for one that there
/// is not.
void check_sets(const FirewallRequest& request, const Tree& tree) {
    constexpr std::string_view prefix = "ipset:";
    const std::set<std::string> known = known_names(tree, "ipsets");
    for (const auto& [zone, sources] : request.zones) {
        for (const std::string& source : sources) {
            if (source.starts_with(prefix) && !known.contains(source.substr(prefix.size()))) {
                throw error(ErrorKind::usage,
                            "{}: the image's firewalld has no set '{}', a source of zone '{}': it "
                            "would ignore all of its configuration",
                            request.location.text(), source.substr(prefix.size()), zone)
                    .hinted("bring it in /etc/firewalld/ipsets, with [[customizations.files]]");
            }
        }
    }
}

/// The arguments of the calls of firewall-offline-cmd: as few calls as possible, since each starts
/// Python and reads all of firewalld's configuration.
std::vector<std::vector<std::string>> firewall_calls(const FirewallRequest& request,
                                                     const Tree& tree) {
    std::vector<std::vector<std::string>> calls;
    const std::set<std::string> zones = known_names(tree, "zones");
    for (const auto& [zone, sources] : request.zones) {
        if (!zones.contains(zone)) {
            calls.push_back({"--new-zone=" + zone});
        }
    }
    std::vector<std::string> basic;
    const auto add = [&](const char* option, const std::vector<std::string>& values) {
        for (const std::string& value : values) {
            basic.push_back(fmt::format("{}={}", option, value));
        }
    };
    add("--port", request.ports);
    add("--service", request.enabled_services);
    add("--remove-service", request.disabled_services);
    if (!basic.empty()) {
        calls.push_back(std::move(basic));
    }
    for (const auto& [zone, sources] : request.zones) {
        std::vector<std::string> call{"--zone=" + zone};
        for (const std::string& source : sources) {
            call.push_back("--add-source=" + source);
        }
        if (!sources.empty()) {
            calls.push_back(std::move(call));
        }
    }
    return calls;
}

/// Copies of changed files that firewalld makes, or what has a name like theirs.
Entries find_backups(const Tree& tree) {
    Entries backups;
    for (const auto& [path, entry] : entries_below(tree.entries, "/etc/firewalld")) {
        if (path.ends_with(".old")) {
            backups.emplace(path, entry);
        }
    }
    return backups;
}

/// Removes those that were made since `before`.
void remove_backups(const Entries& before, Tree& tree) {
    for (const auto& [path, entry] : find_backups(tree)) {
        if (!before.contains(path)) {
            remove_entry(tree, path);
        }
    }
    for (const auto& [path, entry] : before) {
        put_entry(tree, path, entry);
    }
}

bool has_firewall_tool(const Tree& tree) {
    constexpr std::array<const char*, 2> places{"/usr/bin/firewall-offline-cmd",
                                                "/usr/sbin/firewall-offline-cmd"};
    return std::ranges::any_of(places,
                               [&](const char* path) { return find_entry(tree, path) != nullptr; });
}

/// Whether the file of a zone lists a source.
bool lists_source(const Tree& tree, const std::string& path, const std::string& source) {
    const std::string text = read_entry(tree, path);
    return text.find(fmt::format("address=\"{}\"", source)) != std::string::npos ||
           text.find(fmt::format("address='{}'", source)) != std::string::npos;
}

/// The zone that a source belongs to, by the request or by the zones of the image; or empty.
std::string zone_of(const std::string& source, const FirewallRequest& request, const Tree& tree) {
    for (const auto& [zone, sources] : request.zones) {
        if (std::ranges::find(sources, source) != sources.end()) {
            return zone;
        }
    }
    for (const std::string& zone : known_names(tree, "zones")) {
        // A file in /etc replaces that in /usr.
        const std::string own = fmt::format("/etc/firewalld/zones/{}.xml", zone);
        const std::string packaged = fmt::format("/usr/lib/firewalld/zones/{}.xml", zone);
        if (lists_source(tree, find_entry(tree, own) != nullptr ? own : packaged, source)) {
            return zone;
        }
    }
    return {};
}

}  // namespace

std::optional<FirewallRequest> with_trusted_sources(const Context& ctx,
                                                    const std::optional<FirewallRequest>& firewall,
                                                    const std::vector<std::string>& sources,
                                                    const SourceLocation& location,
                                                    const Tree& tree) {
    if (sources.empty() || !has_firewall_tool(tree)) {
        return firewall;
    }
    FirewallRequest request = firewall.value_or(FirewallRequest{});
    if (!firewall) {
        request.location = location;
    }
    for (const std::string& source : sources) {
        const std::string zone = zone_of(source, request, tree);
        if (zone.empty()) {
            request.zones[trusted_zone].push_back(source);
        } else if (zone != trusted_zone) {
            ctx.console->warn(fmt::format(
                "{} is in firewalld's zone '{}': the pods of MicroShift need it in '{}'", source,
                zone, trusted_zone));
        }
    }
    return request;
}

void set_firewall(const Context& ctx, const std::optional<FirewallRequest>& firewall, Tree& tree) {
    if (!firewall) {
        return;
    }
    const FirewallRequest& request = *firewall;
    const auto calls = firewall_calls(request, tree);
    if (calls.empty()) {
        return;
    }
    if (!has_firewall_tool(tree)) {
        throw error(ErrorKind::usage, "{}: the image has no firewalld", request.location.text())
            .hinted("add the package firewalld");
    }
    check_services(request, tree);
    check_sets(request, tree);
    const Entries before = find_backups(tree);
    for (const std::vector<std::string>& call : calls) {
        std::vector<std::string> argv{"firewall-offline-cmd"};
        argv.insert(argv.end(), call.begin(), call.end());
        run_image_program(ctx, tree, argv, request.location.text());
    }
    sync_tree(ctx, tree);
    remove_backups(before, tree);
}

}  // namespace edgegpu
