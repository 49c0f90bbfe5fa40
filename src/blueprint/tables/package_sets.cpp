#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/module_spec.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

void require_spec(const SourceLocation& location, std::string_view spec) {
    if (spec.empty() || spec.front() == '-' || spec.find("..") != std::string_view::npos) {
        throw error_at(location, "invalid package \"{}\"", spec)
            .hinted("a name, a NEVRA glob, a path or \"@group\"");
    }
}

/// Adds requests to a list, each spec once: blueprints assembled from parts may name packages
/// twice.
class Requests {
public:
    explicit Requests(std::vector<PackageRequest>& list) : list_(list) {}
    void add(std::string spec, const SourceLocation& location) {
        const auto [known, added] = known_.try_emplace(std::move(spec), list_.size());
        if (added) {
            list_.push_back({known->first, location});
        } else {
            list_[known->second].repeated.push_back(location);
        }
    }

private:
    std::vector<PackageRequest>& list_;
    /// spec → index in the list
    std::map<std::string, std::size_t> known_;
};

/// A stream of a module that the blueprint names, and where.
struct NamedStream {
    std::string module;
    std::string stream;
    SourceLocation location;
};

/// Throws if another stream of the same module is named: only one can be enabled.
void refuse_second_stream(const NamedStream& named, std::vector<NamedStream>& earlier) {
    for (const NamedStream& other : earlier) {
        if (other.module == named.module && other.stream != named.stream) {
            throw error_at(named.location,
                           "duplicate module \"{}\" with another stream, \"{}\" (\"{}\" at {})",
                           named.module, named.stream, other.stream,
                           place_seen_from(named.location, other.location))
                .hinted("one stream of a module can be enabled: leave one out");
        }
    }
    earlier.push_back(named);
}

/// Checks streams named by `enabled_modules` and "@MODULE:STREAM". Those that depend on the
/// repositories ("@MODULE", globs) are checked when packages are resolved.
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

void add_module(const SourceLocation& location, ModuleRequest module, Blueprint& blueprint) {
    if (!is_plain_name(module.name, "_.-+") || !is_plain_name(module.stream, "_.-+")) {
        throw error_at(location, "invalid module stream \"{}:{}\"", module.name, module.stream);
    }
    const bool known = std::ranges::any_of(blueprint.modules, [&](const ModuleRequest& other) {
        return other.name == module.name && other.stream == module.stream;
    });
    if (!known) {
        module.location = location;
        blueprint.modules.push_back(std::move(module));
    }
}

/// A group, an environment or a module; `spec` begins with "@".
void add_group(const std::string& spec, const SourceLocation& location, Requests& groups) {
    const bool modular = spec.find_first_of(":/") != std::string::npos;
    if (modular && !parse_module_spec(std::string_view(spec).substr(1))) {
        throw error_at(location, "invalid module \"{}\"", spec)
            .hinted("\"@NAME[:STREAM[:VERSION[:CONTEXT]]][/PROFILE]\"");
    }
    groups.add(spec, location);
}

void read_package(const TableReader& table, Requests& packages, Requests& groups) {
    const std::string version = table.string("version");
    table.finish({"name"});
    const std::string name = table.required_string("name");
    const SourceLocation location = table.location("name");
    const bool any_version = version.empty() || version == "*";
    require_spec(location, name);
    if (name.front() != '@') {
        packages.add(any_version ? name : name + '-' + version, location);
        return;
    }
    if (!any_version) {
        throw error_at(table, "version", "\"{}\" takes no version", name);
    }
    add_group(name, location, groups);
}

void read_enabled_module(const TableReader& table, Blueprint& blueprint) {
    ModuleRequest request;
    table.attempt([&] { request.name = table.required_string("name"); });
    table.attempt([&] { request.stream = table.required_string("stream"); });
    table.finish();
    if (!request.name.empty() && !request.stream.empty()) {
        // "dnf module enable" accepts a profile after the stream and ignores it.
        const std::size_t slash = request.stream.find('/');
        if (slash != std::string::npos && is_plain_name(request.stream.substr(slash + 1), "_.-+")) {
            blueprint.notes.push_back(fmt::format(
                "{}: the profile in \"{}\" is ignored: enabling a stream installs nothing",
                table.location("stream").text(), shortened(request.stream)));
            request.stream.resize(slash);
        }
        add_module(table.location(), std::move(request), blueprint);
    }
}

}  // namespace

void read_package_sets(const TableReader& root, Blueprint& blueprint) {
    Requests packages(blueprint.packages);
    Requests groups(blueprint.groups);
    // Both tables mean the same in image builder.
    for (const char* key : {"packages", "modules"}) {
        root.each_table(key, read_package, packages, groups);
    }
    root.each_table("groups", [&](const TableReader& group) {
        group.finish({"name"});
        const std::string name = group.required_string("name");
        require_spec(group.location("name"), name);
        add_group(name.front() == '@' ? name : '@' + name, group.location("name"), groups);
    });
    root.each_table("enabled_modules", read_enabled_module, blueprint);
    root.attempt([&] { refuse_two_streams(blueprint); });
}

}  // namespace edgegpu
