#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// Where a value does not satisfy a schema.
struct SchemaFailure {
    /// The keys and indexes that lead to the place.
    std::vector<std::string> place;
    /// What the library says about it.
    std::string text;
};

/// A JSON schema, as valijson prepares it for validation. No other source includes that library.
class CompiledSchema {
public:
    /// `document` is a schema of draft 7, and may have `x-format` (formats.hpp). Throws Error for
    /// one that is none.
    explicit CompiledSchema(const nlohmann::json& document);
    CompiledSchema(CompiledSchema&&) noexcept;
    CompiledSchema& operator=(CompiledSchema&&) noexcept;
    CompiledSchema(const CompiledSchema&) = delete;
    CompiledSchema& operator=(const CompiledSchema&) = delete;
    ~CompiledSchema();

    /// All failures; those of a value come before those of what contains it, which fails for that
    /// reason alone. `value` may be nested as deep as read_as_server lets it be.
    [[nodiscard]] std::vector<SchemaFailure> validate(const nlohmann::json& value) const;

private:
    struct Prepared;
    std::unique_ptr<Prepared> prepared_;
};

}  // namespace edgegpu
