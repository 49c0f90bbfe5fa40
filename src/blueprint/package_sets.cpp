#include <algorithm>

#include "blueprint/tables.hpp"
#include "blueprint/validate.hpp"

namespace edgegpu {

namespace {

void require_spec(const SourceLocation& location, std::string_view spec) {
    if (spec.empty() || spec.front() == '-' || spec.find("..") != std::string_view::npos) {
        throw error_at(location, "invalid package \"{}\"", spec)
            .hinted("a name, a NEVRA glob, a path or \"@group\"");
    }
}

void add_request(std::vector<PackageRequest>& requests, std::string spec,
                 const SourceLocation& location) {
    // Blueprints that were put together from pieces name packages twice; that asks for nothing new.
    const bool known = std::any_of(requests.begin(), requests.end(),
                                   [&](const PackageRequest& other) { return other.spec == spec; });
    if (!known) {
        requests.push_back({std::move(spec), location});
    }
}

void add_module(const SourceLocation& location, ModuleRequest module, Blueprint& blueprint) {
    if (!is_plain_name(module.name, "_.-+") || !is_plain_name(module.stream, "_.-+")) {
        throw error_at(location, "invalid module stream \"{}:{}\"", module.name, module.stream);
    }
    for (const ModuleRequest& earlier : blueprint.modules) {
        if (earlier.name == module.name) {
            throw error_at(location, "duplicate module \"{}\" (first at line {})", module.name,
                           earlier.location.line);
        }
    }
    module.location = location;
    blueprint.modules.push_back(std::move(module));
}

/// "nodejs:18" or "nodejs:18/minimal", dnf's module spec.
void add_module_spec(const SourceLocation& location, std::string_view spec, Blueprint& blueprint) {
    const std::size_t colon = spec.find(':');
    const std::string_view rest = spec.substr(colon + 1);
    const std::size_t slash = rest.find('/');
    ModuleRequest module;
    module.name = spec.substr(0, colon);
    module.stream = rest.substr(0, slash);
    if (slash != std::string_view::npos) {
        module.profiles.emplace_back(rest.substr(slash + 1));
        if (!is_plain_name(module.profiles.front(), "_.-+")) {
            throw error_at(location, "invalid module profile \"{}\"", module.profiles.front());
        }
    }
    add_module(location, std::move(module), blueprint);
}

void read_package(const TableReader& table, Blueprint& blueprint) {
    const std::string name = table.required_string("name");
    const std::string version = table.string("version");
    const SourceLocation location = table.location("name");
    table.finish();
    const bool any_version = version.empty() || version == "*";
    require_spec(location, name);
    if (name.front() != '@') {
        add_request(blueprint.packages, any_version ? name : name + '-' + version, location);
        return;
    }
    if (!any_version) {
        throw error_at(table.location("version"), "\"{}\" takes no version", name);
    }
    if (name.find(':') != std::string::npos) {
        add_module_spec(location, std::string_view(name).substr(1), blueprint);
    } else {
        add_request(blueprint.groups, name, location);
    }
}

}  // namespace

void read_package_sets(const TableReader& root, Blueprint& blueprint) {
    // Image builder gives both tables the same meaning.
    for (const char* key : {"packages", "modules"}) {
        for (const TableReader& package : root.tables(key)) {
            read_package(package, blueprint);
        }
    }
    for (const TableReader& group : root.tables("groups")) {
        const std::string name = group.required_string("name");
        require_spec(group.location("name"), name);
        group.finish();
        add_request(blueprint.groups, name.front() == '@' ? name : '@' + name,
                    group.location("name"));
    }
    for (const TableReader& module : root.tables("enabled_modules")) {
        ModuleRequest request;
        request.name = module.required_string("name");
        request.stream = module.required_string("stream");
        module.finish();
        add_module(module.location(), std::move(request), blueprint);
    }
    root.refuse_foreign("containers",
                        "edgegpu puts no container images into a commit: let the device pull them "
                        "(a podman unit in [[systemd.units]]), or bring an image store with "
                        "[[overlays]] and name it in customizations.containers-storage");
}

}  // namespace edgegpu
