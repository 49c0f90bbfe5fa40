#include "schema/kubernetes_schemas.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "schema/compiled_schema.hpp"
#include "schema/definitions.hpp"
#include "schema/explain.hpp"
#include "schema/kind_problem.hpp"
#include "schema/server_value.hpp"
#include "schema/typed_value.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// A text that every object has to have; else a problem.
const std::string* required_text(const json& object, const char* key,
                                 std::vector<SchemaProblem>& problems) {
    const ObjectPath path{std::string(key)};
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) {
        problems.push_back(problem_at(path, "required"));
        return nullptr;
    }
    if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
        problems.push_back(problem_at(path, "a string is expected"));
        return nullptr;
    }
    return &found->get_ref<const std::string&>();
}

/// Keeps max_problems, and says if there were more.
void shorten(std::vector<SchemaProblem>& problems) {
    if (problems.size() > max_problems) {
        problems.resize(max_problems);
        problems.push_back({"", "there are more problems"});
    }
}

}  // namespace

struct KubernetesSchemas::State {
    SchemaTable table;
    Definitions definitions;
    std::map<std::string_view, CompiledSchema> compiled;

    State(SchemaTable shipped, KubernetesVersion version)
        : table(std::move(shipped)), definitions(table, version) {}

    const CompiledSchema& compile(std::string_view definition) {
        auto found = compiled.find(definition);
        if (found == compiled.end()) {
            found = compiled
                        .emplace(definition,
                                 CompiledSchema(definitions.document(std::string(definition))))
                        .first;
        }
        return found->second;
    }

    SchemaCheck check(const json& object) {
        SchemaCheck result;
        const std::string* api_version = required_text(object, "apiVersion", result.problems);
        const std::string* kind = required_text(object, "kind", result.problems);
        if (api_version == nullptr || kind == nullptr) {
            return result;
        }
        const KindRow* row = table.find_kind(*api_version, *kind, definitions.version());
        if (row != nullptr) {
            const std::string root(row->definition);
            const TypedValue typed = read_by_schema(definitions, root, object);
            std::vector<SchemaFailure> failures = compile(row->definition).validate(typed.value);
            failures.insert(failures.end(), typed.failures.begin(), typed.failures.end());
            result.problems = explain_failures(definitions, root, typed.value, failures);
        } else if (is_kubernetes_group(table, group_of(*api_version))) {
            result.problems.push_back(
                explain_unknown_kind(table, definitions.version(), *api_version, *kind));
        } else {
            result.origin = KindOrigin::custom_resource;
        }
        return result;
    }
};

KubernetesSchemas::KubernetesSchemas(KubernetesVersion version)
    : state_(std::make_unique<State>(shipped_schema_table(), version)) {
    const KubernetesRange shipped = state_->table.versions();
    if (!shipped.contains(version)) {
        throw error(ErrorKind::usage, "edgegpu has no schemas of Kubernetes {}", version.text())
            .hinted(fmt::format("it has the schemas of {} to {}", shipped.first.text(),
                                shipped.last.text()));
    }
}

KubernetesSchemas::KubernetesSchemas(KubernetesSchemas&&) noexcept = default;
KubernetesSchemas& KubernetesSchemas::operator=(KubernetesSchemas&&) noexcept = default;
KubernetesSchemas::~KubernetesSchemas() = default;

KubernetesRange KubernetesSchemas::shipped_versions() {
    return shipped_schema_table().versions();
}

std::optional<KindScope> KubernetesSchemas::scope_of(const std::string& api_version,
                                                     const std::string& kind) const {
    const KindRow* row = state_->table.find_kind(api_version, kind, state_->definitions.version());
    return row == nullptr ? std::nullopt : std::optional(row->scope);
}

SchemaCheck KubernetesSchemas::check(const json& object) {
    ServerValue read = read_as_server(object);
    SchemaCheck result;
    if (!read.problems.empty()) {
        result.problems = std::move(read.problems);
    } else if (!read.value.is_object()) {
        result.problems.push_back({"", "an object is expected"});
    } else {
        result = state_->check(read.value);
    }
    shorten(result.problems);
    return result;
}

}  // namespace edgegpu
