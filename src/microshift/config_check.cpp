#include "microshift/config_check.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "blueprint/toml/mistakes.hpp"
#include "microshift/config_schema.hpp"
#include "microshift/config_values.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

const json::json_pointer kustomize_paths("/manifests/kustomizePaths");

/// Whether MicroShift finds manifests in `directory` by one of the paths, which may be globs.
bool is_found(const json& paths, const std::string& directory) {
    return std::ranges::any_of(paths, [&](const json& path) {
        return path.is_string() && ::fnmatch(path.get_ref<const std::string&>().c_str(),
                                             directory.c_str(), FNM_PATHNAME) == 0;
    });
}

constexpr const char* ignored_hint =
    "MicroShift ignores keys that it does not know, and does not start with values of another type";

void note_problems(const MicroshiftConfig& config, const std::vector<SchemaProblem>& problems,
                   const std::string& hint, Mistakes& mistakes) {
    for (const SchemaProblem& problem : problems) {
        mistakes.add(error_at(place_in(config, problem.pointer), "microshift.config{}{}",
                              problem.pointer.empty() ? ": " : ".", problem.message)
                         .hinted(hint));
    }
}

/// Manifests where the bundles are not disable the bundles of the blueprint.
void check_manifests(const MicroshiftRequest& microshift, const json& document,
                     Mistakes& mistakes) {
    if (const std::string unapplied = bundles_not_applied(microshift, document);
        !unapplied.empty()) {
        mistakes.add(error_at(place_in(*microshift.config, kustomize_paths.to_string()),
                              "microshift.config.manifests.kustomizePaths: {}", unapplied)
                         .hinted(not_applied_hint));
    }
}

}  // namespace

std::string bundles_not_applied(const MicroshiftRequest& microshift, const json& configuration) {
    if (microshift.bundles.empty() || !configuration.contains(kustomize_paths) ||
        !configuration.at(kustomize_paths).is_array()) {
        return {};
    }
    const json& paths = configuration.at(kustomize_paths);
    const std::string top(enum_name(microshift.manifests));
    const bool whole = microshift.manifests == ManifestsPlace::root;
    const bool found =
        whole ? is_found(paths, top)
              : std::ranges::all_of(microshift.bundles, [&](const BundleRequest& bundle) {
                    return is_found(paths, top + '/' + bundle.name);
                });
    return found ? std::string()
                 : fmt::format(
                       "MicroShift looks for manifests in {}, and never applies the "
                       "blueprint's bundles, which are in {}",
                       paths.empty() ? "no directory" : shortened(paths.dump()), top);
}

SourceLocation place_in(const MicroshiftConfig& config, std::string_view pointer) {
    for (;; pointer = pointer.substr(0, pointer.rfind('/'))) {
        if (pointer.empty()) {
            return config.location;
        }
        if (const auto found = config.places.find(std::string(pointer));
            found != config.places.end()) {
            return found->second;
        }
    }
}

void check_microshift_config(const MicroshiftRequest& microshift,
                             std::optional<MicroshiftVersion> version) {
    if (!microshift.config) {
        return;
    }
    const MicroshiftConfig& config = *microshift.config;
    const json document = json::parse(config.document);
    Mistakes mistakes;
    if (const std::optional<ConfigSchema> schema = ConfigSchema::shipped(version)) {
        note_problems(config, schema->check(document), ignored_hint, mistakes);
    }
    note_problems(config, check_config_values(document),
                  "with such a value MicroShift does not start, or ignores it", mistakes);
    check_manifests(microshift, document, mistakes);
    mistakes.throw_any(config.location.file);
}

void check_microshift_config(const MicroshiftConfig& config, std::string_view published_schema,
                             MicroshiftVersion version) {
    Mistakes mistakes;
    note_problems(
        config,
        ConfigSchema::published(published_schema, version).check(json::parse(config.document)),
        fmt::format("this is the schema of the image's MicroShift {}", version.text()), mistakes);
    mistakes.throw_any(config.location.file);
}

}  // namespace edgegpu
