#include "microshift/config_check.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/toml/mistakes.hpp"
#include "microshift/config_schema.hpp"
#include "microshift/config_values.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

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

/// A list of manifests that is empty disables the bundles of the blueprint.
void check_manifests(const MicroshiftRequest& microshift, const json& document,
                     Mistakes& mistakes) {
    const json::json_pointer paths("/manifests/kustomizePaths");
    if (!microshift.bundles.empty() && document.contains(paths) && document[paths].empty() &&
        document[paths].is_array()) {
        mistakes.add(error_at(place_in(*microshift.config, paths.to_string()),
                              "microshift.config.manifests.kustomizePaths: an empty list makes "
                              "MicroShift apply no manifests, and the blueprint has bundles")
                         .hinted("leave the key out, or name the directories of the bundles"));
    }
}

}  // namespace

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
