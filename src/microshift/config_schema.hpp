#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "microshift/version.hpp"
#include "schema/schema_problem.hpp"

namespace edgegpu {

/// The schema of the configuration of one version of MicroShift. Keys that it does not have are
/// problems: MicroShift ignores them without a word.
class ConfigSchema {
public:
    /// The one that edgegpu is built with (microshift_schemas.txt); nothing for a version that the
    /// table does not have. Without a version, that of the newest.
    [[nodiscard]] static std::optional<ConfigSchema> shipped(
        std::optional<MicroshiftVersion> version);
    /// The one that an image's package microshift installs (`published_schema_path`). Throws Error
    /// for a document that is none, or nested deeper than 64 levels.
    [[nodiscard]] static ConfigSchema published(std::string_view document,
                                                MicroshiftVersion version);

    ConfigSchema(ConfigSchema&&) noexcept;
    ConfigSchema& operator=(ConfigSchema&&) noexcept;
    ConfigSchema(const ConfigSchema&) = delete;
    ConfigSchema& operator=(const ConfigSchema&) = delete;
    ~ConfigSchema();

    /// What is wrong with a configuration, sorted by place; at most 51 problems.
    [[nodiscard]] std::vector<SchemaProblem> check(const nlohmann::json& config) const;

private:
    struct State;
    explicit ConfigSchema(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Where the package microshift (4.14 and later) installs the schema of its configuration.
inline constexpr std::string_view published_schema_path =
    "/usr/share/microshift/spec/config-openapi-spec.json";

}  // namespace edgegpu
