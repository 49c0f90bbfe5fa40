#include <fmt/format.h>

#include "blueprint/distro/edge_package_set.hpp"
#include "resolve/explain/cause.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

Origin located(Origin::Kind kind, std::size_t index, const SourceLocation& location,
               const std::string& what) {
    return {kind, index, location, fmt::format("{} requests {}", location.text(), what)};
}

/// "b.toml:21:8"; for a request that is repeated "b.toml:21:8 (and b.toml:24:8)".
std::string places_of(const PackageRequest& request) {
    std::string others;
    for (const SourceLocation& place : request.repeated) {
        others += others.empty() ? place.text() : ", " + place.text();
    }
    return others.empty() ? request.location.text()
                          : fmt::format("{} (and {})", request.location.text(), others);
}

/// The origin of a job for the blueprint's packages or groups.
Origin line_origin(const Blueprint& blueprint, const RequestLine& line, const Reason& why) {
    const bool is_group = line.table == RequestLine::Table::groups;
    const PackageRequest& request =
        (is_group ? blueprint.groups : blueprint.packages).at(line.index);
    return {is_group ? Origin::Kind::group : Origin::Kind::package, line.index, request.location,
            fmt::format("{} requests {}", places_of(request),
                        why.kind == Reason::Kind::requested ? request.spec : why.text())};
}

/// The origin of a job for [nvidia].
Origin nvidia_origin(const NvidiaRequest& nvidia, const Reason& why) {
    if (why.kind == Reason::Kind::kernel) {
        return {
            Origin::Kind::kernel, 0, nvidia.location,
            fmt::format("{} requests kernel \"{}\"", nvidia.location.text(), nvidia.kernel.text())};
    }
    if (why.kind == Reason::Kind::toolkit) {
        return located(Origin::Kind::toolkit, 0, nvidia.location,
                       fmt::format("container toolkit {}", nvidia.toolkit));
    }
    return located(Origin::Kind::nvidia, 0, nvidia.location,
                   fmt::format("NVIDIA driver {} ({})", nvidia.driver, why.text()));
}

}  // namespace

Origin origin_of(const PackagePool& pool, const Blueprint& blueprint, const Install& install) {
    if (install.line) {
        return line_origin(blueprint, *install.line, install.why);
    }
    switch (install.why.kind) {
        case Reason::Kind::package_set:
            return {
                Origin::Kind::set, 0, blueprint.package_set.location,
                fmt::format("package set {} has {}", describe_package_set(blueprint.package_set),
                            pool.name(install.any_of.front()))};
        case Reason::Kind::asked_about:
            return {Origin::Kind::kernel, 0, {}, "if it were requested"};
        default:
            break;
    }
    if (blueprint.nvidia) {
        return nvidia_origin(*blueprint.nvidia, install.why);
    }
    return {Origin::Kind::kernel, 0, {}, fmt::format("the image needs {}", install.why.text())};
}

}  // namespace edgegpu
