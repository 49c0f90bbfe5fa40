#include <algorithm>

#include "blueprint/module_spec.hpp"
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

/// A place where a stream of a module is named.
struct NamedStream {
    std::string module;
    std::string stream;
    SourceLocation location;
};

/// One stream of a module can be enabled, however often it is named.
void refuse_second_stream(const NamedStream& named, std::vector<NamedStream>& earlier) {
    for (const NamedStream& other : earlier) {
        if (other.module == named.module && other.stream != named.stream) {
            throw error_at(named.location, "two streams of module \"{}\": \"{}\", and \"{}\" at {}",
                           named.module, named.stream, other.stream, other.location.text())
                .hinted("one stream of a module can be enabled: leave one out");
        }
    }
    earlier.push_back(named);
}

/// Streams that `enabled_modules` and "@MODULE:STREAM" name. Those that only the repositories can
/// tell ("@MODULE", globs) are looked at when the image is resolved.
void refuse_two_streams(const Blueprint& blueprint) {
    std::vector<NamedStream> streams;
    for (const ModuleRequest& module : blueprint.modules) {
        refuse_second_stream({module.name, module.stream, module.location}, streams);
    }
    for (const PackageRequest& group : blueprint.groups) {
        const auto spec = parse_module_spec(std::string_view(group.spec).substr(1));
        if (spec && spec->exact()) {
            refuse_second_stream({spec->name, spec->stream, group.location}, streams);
        }
    }
}

void add_module(const TableReader& table, Blueprint& blueprint) {
    const std::string name = table.required_string("name");
    const std::string stream = table.required_string("stream");
    table.finish();
    // Where a profile was meant ("16/server"), dnf enables the stream and passes over the profile.
    const std::size_t slash = stream.find('/');
    ModuleRequest module;
    module.name = name;
    module.stream = stream.substr(0, slash);
    module.location = table.location();
    if (slash != std::string::npos && slash + 1 < stream.size()) {
        module.profiles.push_back(stream.substr(slash + 1));
    }
    if (!is_plain_name(module.name, "_.-+") || !is_plain_name(module.stream, "_.-+")) {
        throw error_at(module.location, "invalid module stream \"{}:{}\"", name, stream);
    }
    const bool known = std::any_of(
        blueprint.modules.begin(), blueprint.modules.end(), [&](const ModuleRequest& other) {
            return other.name == module.name && other.stream == module.stream;
        });
    if (!known) {
        blueprint.modules.push_back(std::move(module));
    }
}

/// A group, an environment or a module, `spec` with its "@".
void add_group(const std::string& spec, const SourceLocation& location, Blueprint& blueprint) {
    const bool modular = spec.find_first_of(":/") != std::string::npos;
    if (modular && !parse_module_spec(std::string_view(spec).substr(1))) {
        throw error_at(location, "invalid module \"{}\"", spec)
            .hinted("\"@NAME[:STREAM[:VERSION[:CONTEXT]]][/PROFILE]\"");
    }
    add_request(blueprint.groups, spec, location);
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
    add_group(name, location, blueprint);
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
        add_group(name.front() == '@' ? name : '@' + name, group.location("name"), blueprint);
    }
    for (const TableReader& module : root.tables("enabled_modules")) {
        add_module(module, blueprint);
    }
    refuse_two_streams(blueprint);
    root.refuse_foreign("containers",
                        "edgegpu puts no container images into a commit: let the device pull them "
                        "(a podman unit in [[systemd.units]]), or bring an image store with "
                        "[[overlays]] and name it in customizations.containers-storage");
}

}  // namespace edgegpu
