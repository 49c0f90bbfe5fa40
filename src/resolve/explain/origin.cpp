#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "blueprint/distro/edge_package_set.hpp"
#include "blueprint/module_spec.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/solve/package_set.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

bool asks_for(const PackagePool& pool, const std::string& spec, const Install& install) {
    const std::vector<Id> found = match_spec(pool, spec);
    return std::any_of(install.any_of.begin(), install.any_of.end(), [&](Id id) {
        return std::find(found.begin(), found.end(), id) != found.end();
    });
}

Origin located(Origin::Kind kind, std::size_t index, const SourceLocation& location,
               const std::string& what) {
    return {kind, index, location, fmt::format("{} asks for {}", location.text(), what)};
}

std::optional<Origin> group_origin(const Blueprint& blueprint, const std::string& group) {
    const auto same = [&](const std::string& spec) { return spec == group || spec == "@" + group; };
    for (std::size_t i = 0; i < blueprint.groups.size(); ++i) {
        if (same(blueprint.groups[i].spec)) {
            return located(Origin::Kind::group, i, blueprint.groups[i].location, "group " + group);
        }
    }
    for (std::size_t i = 0; i < blueprint.packages.size(); ++i) {
        if (same(blueprint.packages[i].spec)) {
            return located(Origin::Kind::package, i, blueprint.packages[i].location,
                           "group " + group);
        }
    }
    return std::nullopt;
}

/// The line that asks for a module's profile: `why` is "profile NAME:STREAM/PROFILE".
std::optional<Origin> profile_origin(const Blueprint& blueprint, const std::string& why) {
    const auto installed = parse_module_spec(why.substr(why.find(' ') + 1));
    for (std::size_t i = 0; installed && i < blueprint.groups.size(); ++i) {
        const auto spec = parse_module_spec(blueprint.groups[i].spec.substr(1));
        if (spec && glob_or_any(spec->name, installed->name) &&
            glob_or_any(spec->stream, installed->stream) &&
            glob_or_any(spec->profile, installed->profile)) {
            return located(Origin::Kind::group, i, blueprint.groups[i].location, why);
        }
    }
    return std::nullopt;
}

}  // namespace

Origin origin_of(const PackagePool& pool, const Blueprint& blueprint, const Install& install) {
    if (install.why == "requested") {
        for (std::size_t i = 0; i < blueprint.packages.size(); ++i) {
            const PackageRequest& request = blueprint.packages[i];
            if (asks_for(pool, request.spec, install)) {
                return located(Origin::Kind::package, i, request.location, request.spec);
            }
        }
    }
    if (install.why.starts_with("group ")) {
        if (auto origin = group_origin(blueprint, install.why.substr(6))) {
            return *origin;
        }
    }
    if (install.why.starts_with("profile ")) {
        if (auto origin = profile_origin(blueprint, install.why)) {
            return *origin;
        }
    }
    if (install.why == package_set_reason(blueprint)) {
        return {Origin::Kind::set, 0, blueprint.package_set.location,
                fmt::format("package set {} has {}", describe_package_set(blueprint),
                            pool.name(install.any_of.front()))};
    }
    if (install.why == asked_about) {
        return {Origin::Kind::kernel, 0, {}, "if it were asked for"};
    }
    if (!blueprint.nvidia) {
        return {Origin::Kind::kernel, 0, {}, fmt::format("the image needs {}", install.why)};
    }
    const NvidiaRequest& nvidia = *blueprint.nvidia;
    if (install.why == "kernel") {
        return {
            Origin::Kind::kernel, 0, nvidia.location,
            fmt::format("{} asks for kernel \"{}\"", nvidia.location.text(), nvidia.kernel.text())};
    }
    if (install.why.find("toolkit") != std::string::npos) {
        return located(Origin::Kind::toolkit, 0, nvidia.location,
                       fmt::format("container toolkit {}", nvidia.toolkit));
    }
    return located(Origin::Kind::nvidia, 0, nvidia.location,
                   fmt::format("NVIDIA driver {} ({})", nvidia.driver, install.why));
}

}  // namespace edgegpu
