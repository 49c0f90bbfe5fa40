#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// Requests in the making. Blueprints that were put together from pieces name packages twice; that
/// asks for nothing new.
class Requests {
public:
    explicit Requests(std::vector<PackageRequest>& list) : list_(list) {}
    void add(std::string spec, const SourceLocation& location) {
        if (known_.insert(spec).second) {
            list_.push_back({std::move(spec), location});
        }
    }

private:
    std::vector<PackageRequest>& list_;
    std::set<std::string> known_;
};

void merge_profiles(ModuleRequest& earlier, const ModuleRequest& same) {
    for (const std::string& profile : same.profiles) {
        if (std::find(earlier.profiles.begin(), earlier.profiles.end(), profile) ==
            earlier.profiles.end()) {
            earlier.profiles.push_back(profile);
        }
    }
}

void add_module(const SourceLocation& location, ModuleRequest module, Blueprint& blueprint) {
    if (!is_plain_name(module.name, "_.-+") || !is_plain_name(module.stream, "_.-+")) {
        throw error_at(location, "invalid module stream \"{}:{}\"", module.name, module.stream);
    }
    for (ModuleRequest& earlier : blueprint.modules) {
        if (earlier.name == module.name && earlier.stream == module.stream) {
            // [[enabled_modules]] and "@nodejs:18" say the same; what either adds are profiles.
            merge_profiles(earlier, module);
            return;
        }
        if (earlier.name == module.name) {
            throw error_at(
                location, "duplicate module \"{}\" with another stream, \"{}\" (\"{}\" at line {})",
                module.name, module.stream, earlier.stream, earlier.location.line);
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

void read_package(const TableReader& table, Requests& packages, Requests& groups,
                  Blueprint& blueprint) {
    const std::string version = table.string("version");
    static_cast<void>(table.has("name"));
    table.finish();
    const std::string name = table.required_string("name");
    const SourceLocation location = table.location("name");
    const bool any_version = version.empty() || version == "*";
    require_spec(location, name);
    if (name.front() != '@') {
        packages.add(any_version ? name : name + '-' + version, location);
        return;
    }
    if (!any_version) {
        throw error_at(table.location("version"), "\"{}\" takes no version", name);
    }
    if (name.find(':') != std::string::npos) {
        add_module_spec(location, std::string_view(name).substr(1), blueprint);
    } else {
        groups.add(name, location);
    }
}

void read_enabled_module(const TableReader& table, Blueprint& blueprint) {
    ModuleRequest request;
    for (const auto& [key, value] :
         {std::pair<const char*, std::string&>{"name", request.name}, {"stream", request.stream}}) {
        table.attempt([&] { value = table.required_string(key); });
    }
    table.finish();
    if (!request.name.empty() && !request.stream.empty()) {
        // dnf's "module enable" takes a profile behind the stream, and has no use for it.
        const std::size_t slash = request.stream.find('/');
        if (slash != std::string::npos && is_plain_name(request.stream.substr(slash + 1), "_.-+")) {
            blueprint.notes.push_back(fmt::format(
                "{}: the profile in \"{}\" is passed over: enabling a stream installs nothing",
                table.location("stream").text(), shortened(request.stream)));
            request.stream.resize(slash);
        }
        add_module(table.location(), std::move(request), blueprint);
    }
}

/// Once for all of them: where there are many, they are refused for one reason.
void refuse_containers(const TableReader& root) {
    const std::vector<TableReader> containers = root.tables("containers");
    if (!containers.empty()) {
        root.note(error_at(containers.front().location(), "not supported yet: containers")
                      .hinted("let the device pull them (a podman unit in [[systemd.units]]), or "
                              "bring an image store with [[overlays]] and name it in "
                              "customizations.containers-storage"));
    }
}

}  // namespace

void read_package_sets(const TableReader& root, Blueprint& blueprint) {
    Requests packages(blueprint.packages);
    Requests groups(blueprint.groups);
    // Image builder gives both tables the same meaning.
    for (const char* key : {"packages", "modules"}) {
        for (const TableReader& package : root.tables(key)) {
            root.attempt([&] { read_package(package, packages, groups, blueprint); });
        }
    }
    for (const TableReader& group : root.tables("groups")) {
        root.attempt([&] {
            static_cast<void>(group.has("name"));
            group.finish();
            const std::string name = group.required_string("name");
            require_spec(group.location("name"), name);
            groups.add(name.front() == '@' ? name : '@' + name, group.location("name"));
        });
    }
    for (const TableReader& module : root.tables("enabled_modules")) {
        root.attempt([&] { read_enabled_module(module, blueprint); });
    }
    refuse_containers(root);
}

}  // namespace edgegpu
