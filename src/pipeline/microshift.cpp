#include "pipeline/microshift.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "customise/microshift/config_drop_in.hpp"
#include "microshift/config_check.hpp"
#include "microshift/config_schema.hpp"
#include "microshift/config_values.hpp"
#include "microshift/effective_config.hpp"
#include "microshift/upgrade.hpp"

namespace edgegpu {

namespace {

std::optional<MicroshiftVersion> microshift_of(const std::vector<Nevra>& packages) {
    const auto found = std::ranges::find(packages, "microshift", &Nevra::name);
    return found == packages.end() ? std::nullopt : microshift_version(found->version);
}

/// The blueprint's line that requests MicroShift, or the blueprint.
SourceLocation place_of_request(const Blueprint& blueprint) {
    for (const PackageRequest& request : blueprint.packages) {
        if (request.spec == "microshift" || request.spec.starts_with("microshift-")) {
            return request.location;
        }
    }
    return {blueprint.path.string(), 0, 0};
}

/// "dns.baseDomain" of "/dns/baseDomain"
std::string key_of(const std::string& pointer) {
    std::string key = pointer.substr(1);
    std::ranges::replace(key, '/', '.');
    return key;
}

void check_published_schema(const Context& ctx, const MicroshiftConfig& config,
                            MicroshiftVersion version, const Tree& tree) {
    const Entry* entry = find_entry(tree, published_schema_path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return;
    }
    try {
        check_microshift_config(config, read_entry(tree, published_schema_path), version);
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::usage) {
            throw;
        }
        ctx.console->warn(fmt::format("{}: {}; [microshift.config] was checked without it",
                                      published_schema_path, failure.message()));
    }
}

/// What MicroShift would refuse that does not come from the blueprint's table.
void warn_of_values(const Context& ctx, const EffectiveConfig& effective) {
    for (const std::string& text : effective.unreadable) {
        ctx.console->warn(fmt::format("MicroShift will not start: {}", text));
    }
    // The blueprint's table has none: check_microshift_config refuses it.
    for (const SchemaProblem& problem : check_config_values(effective.values)) {
        ctx.console->warn(
            fmt::format("MicroShift will not start, or ignores it: {} (in the files of "
                        "/etc/microshift)",
                        problem.message));
    }
}

SourceLocation place_of(const Blueprint& blueprint, const std::string& pointer) {
    const std::optional<MicroshiftConfig>& config = blueprint.microshift.config;
    return config && config->places.contains(pointer) ? place_in(*config, pointer)
                                                      : place_of_request(blueprint);
}

void compare_with_parent(const Context& ctx, const Blueprint& blueprint, const Parent& parent,
                         MicroshiftVersion version, const EffectiveConfig& now) {
    if (!parent.microshift_config_problem.empty()) {
        ctx.console->warn(fmt::format(
            "the parent commit's configuration of MicroShift cannot be read ({}): whether its "
            "devices can take over the new one is not checked",
            parent.microshift_config_problem));
        return;
    }
    const EffectiveConfig before = effective_config(parent.microshift_config);
    for (const std::string& text : before.unreadable) {
        ctx.console->warn(fmt::format(
            "a file of the parent commit, which MicroShift cannot read, is not compared: {}",
            text));
    }
    Mistakes mistakes;
    for (const ImmutableChange& change : immutable_changes(before.values, now.values)) {
        mistakes.add(
            error_at(place_of(blueprint, change.pointer),
                     "microshift.config.{}: {} in the parent commit, now {}: MicroShift cannot "
                     "change it on devices where it has started",
                     key_of(change.pointer), change.before, change.now)
                .hinted(fmt::format("keep {}; or build this image for another ref, for devices "
                                    "that are installed anew",
                                    change.before)));
    }
    const std::optional<MicroshiftVersion> version_before = microshift_version(parent.microshift);
    if (version_before && *version_before != version &&
        forbids_upgrades(before.values, now.values)) {
        mistakes.add(
            error_at(place_of(blueprint, "/apiServer/featureGates"),
                     "the parent commit has feature gates in customNoUpgrade: MicroShift {} does "
                     "not start with the data of {} and such gates",
                     version.text(), version_before->text())
                .hinted(fmt::format("keep MicroShift {}; or build this image for another ref, for "
                                    "devices that are installed anew",
                                    version_before->text())));
    }
    mistakes.throw_any(blueprint.path.string());
}

}  // namespace

std::optional<MicroshiftVersion> microshift_of(const Resolution& resolution) {
    return microshift_of(packages_of_image(resolution));
}

void check_microshift_version(const Blueprint& blueprint, const Resolution& resolution,
                              const Parent& parent) {
    const std::optional<MicroshiftVersion> before = microshift_version(parent.microshift);
    const std::optional<MicroshiftVersion> now = microshift_of(resolution);
    if (before && now) {
        check_microshift_upgrade(place_of_request(blueprint), *before, *now);
    }
}

void check_image_config(const Context& ctx, const Blueprint& blueprint,
                        const std::optional<Parent>& parent, const Tree& tree) {
    const std::optional<MicroshiftVersion> version = microshift_of(tree.packages);
    if (!version) {
        return;
    }
    const std::optional<MicroshiftConfig>& config = blueprint.microshift.config;
    if (config) {
        check_published_schema(ctx, *config, *version, tree);
    }
    const EffectiveConfig now = effective_config(config_files_of(tree));
    warn_of_values(ctx, now);
    if (const std::string unapplied = bundles_not_applied(blueprint.microshift, now.values);
        !unapplied.empty()) {
        throw error_at(blueprint.microshift.location, "the image's configuration of MicroShift: {}",
                       unapplied)
            .hinted(not_applied_hint);
    }
    if (parent && !parent->microshift.empty()) {
        compare_with_parent(ctx, blueprint, *parent, *version, now);
    }
}

}  // namespace edgegpu
