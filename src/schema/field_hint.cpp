#include "schema/field_hint.hpp"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// No field of the API is nearly as long; comparing names takes the product of their lengths.
constexpr std::size_t longest_field = 64;

const json& properties_of(const Definition& definition) {
    static const json none = json::object();
    const auto found = definition.schema->find("properties");
    return found == definition.schema->end() ? none : *found;
}

/// The field of the object that differs in case alone, or else is nearest by its letters.
std::optional<std::string> near_field(const Definition& definition, const std::string& field,
                                      bool by_case_alone) {
    std::vector<std::string> names;
    for (const auto& [name, schema] : properties_of(definition).items()) {
        if (lower_case(name) == lower_case(field)) {
            return name;
        }
        names.push_back(name);
    }
    if (by_case_alone) {
        return std::nullopt;
    }
    const std::vector<std::string> near = nearest_names(field, names);
    return near.empty() ? std::nullopt : std::optional(near.front());
}

/// The versions that have the field, if this one does not: "Kubernetes 1.29 and later have it".
std::string other_versions(const Definitions& definitions, const std::string& name,
                           const std::string& field) {
    const auto range = definitions.versions_with(name, field);
    if (!range) {
        return {};
    }
    const SchemaTable& table = definitions.table();
    if (range->last.minor < definitions.version().minor) {
        return fmt::format("; {} {} no longer has it", table.product(),
                           table.number_of({range->last.minor + 1}));
    }
    if (range->last == table.versions().last) {
        return fmt::format("; {} {} and later have it", table.product(),
                           table.number_of(range->first));
    }
    return fmt::format("; {} {} to {} have it", table.product(), table.number_of(range->first),
                       table.number_of(range->last));
}

/// The object around this one, the innermost, that has a field of this name.
std::optional<ObjectPath> object_around(const std::vector<Definition>& trail,
                                        const ObjectPath& path, const std::string& field) {
    for (std::size_t depth = path.size(); depth-- > 0;) {
        if (properties_of(trail[depth]).contains(field)) {
            return ObjectPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth));
        }
    }
    return std::nullopt;
}

/// An object within this one, at most `levels` below it, that has a field of this name.
std::optional<ObjectPath> object_within(Definitions& definitions, const Definition& outer,
                                        const ObjectPath& path, const std::string& field,
                                        int levels) {
    std::vector<std::pair<Definition, ObjectPath>> level{{outer, path}};
    for (; levels > 0; --levels) {
        std::vector<std::pair<Definition, ObjectPath>> next;
        for (const auto& [definition, place] : level) {
            for (const auto& [name, schema] : properties_of(definition).items()) {
                if (name == "status") {
                    continue;
                }
                next.emplace_back(definitions.resolve(schema), place);
                next.back().second.emplace_back(name);
                if (properties_of(next.back().first).contains(field)) {
                    return next.back().second;
                }
            }
        }
        level = std::move(next);
    }
    return std::nullopt;
}

}  // namespace

std::string unknown_field_hint(Definitions& definitions, const std::vector<Definition>& trail,
                               const ObjectPath& path, const std::string& field) {
    if (field.size() > longest_field) {
        return {};
    }
    const auto did_you_mean = [](const std::string& name) {
        return fmt::format("; did you mean \"{}\"?", name);
    };
    const Definition& object = trail.back();
    if (const auto same = near_field(object, field, true)) {
        return did_you_mean(*same);
    }
    if (std::string versions = other_versions(definitions, object.name, field); !versions.empty()) {
        return versions;
    }
    std::optional<ObjectPath> place = object_around(trail, path, field);
    if (!place) {
        place = object_within(definitions, object, path, field, 2);
    }
    if (place) {
        return "; it belongs to " + (place->empty() ? "the top level" : text_of(*place));
    }
    const auto near = near_field(object, field, false);
    return near ? did_you_mean(*near) : std::string();
}

}  // namespace edgegpu
