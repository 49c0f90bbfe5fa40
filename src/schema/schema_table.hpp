#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// Whether the objects of a kind belong to namespaces.
enum class KindScope : std::uint8_t { namespaced, cluster };

/// Versions of Kubernetes, both included.
struct KubernetesRange {
    KubernetesVersion first;
    KubernetesVersion last;

    [[nodiscard]] bool contains(KubernetesVersion version) const {
        return first.minor <= version.minor && version.minor <= last.minor;
    }
};

/// A kind that can be applied, in the versions of Kubernetes that have it in this form.
struct KindRow {
    /// "apps/v1"
    std::string_view api_version;
    /// "Deployment"
    std::string_view kind;
    KubernetesRange versions;
    KindScope scope = KindScope::namespaced;
    /// Name of its definition; "-" in versions whose schemas the table does not have.
    std::string_view definition;
};

/// A definition, in the versions of Kubernetes that have it in this form.
struct SchemaRow {
    KubernetesRange versions;
    /// JSON Schema, draft 7, with the additional keyword "x-format".
    std::string_view json;
};

/// Kinds and schemas of Kubernetes' own API groups, as scripts/make-kubernetes-schemas writes them
/// (where the format is described), or schemas of MicroShift's configuration
/// (scripts/make-microshift-schema). Only the lines are split; a schema is parsed by who needs it.
class SchemaTable {
public:
    /// Reads a table, to which the views of all rows refer. Throws Error for a damaged one.
    explicit SchemaTable(std::string_view text);

    /// The versions whose schemas the table has.
    [[nodiscard]] KubernetesRange versions() const { return versions_; }
    /// "Kubernetes", or what the table says whose schemas these are.
    [[nodiscard]] std::string_view product() const { return product_; }
    /// The number of a version of that product: "1.33"; of MicroShift, which counts from 4.0 on,
    /// "4.18".
    [[nodiscard]] std::string number_of(KubernetesVersion version) const;
    /// The first version whose kinds the table has.
    [[nodiscard]] KubernetesVersion first_kinds() const { return first_kinds_; }
    /// All kinds, sorted by apiVersion, kind and versions.
    [[nodiscard]] const std::vector<KindRow>& kinds() const { return kinds_; }
    /// The row of a kind in a version; null if that version does not have it.
    [[nodiscard]] const KindRow* find_kind(std::string_view api_version, std::string_view kind,
                                           KubernetesVersion version) const;
    /// All forms of a definition, sorted by version; none for an unknown name.
    [[nodiscard]] const std::vector<SchemaRow>& schemas(std::string_view name) const;

private:
    std::string_view product_ = "Kubernetes";
    KubernetesRange versions_;
    KubernetesVersion first_kinds_;
    std::vector<KindRow> kinds_;
    std::map<std::string_view, std::vector<SchemaRow>> schemas_;
};

/// The table that edgegpu is built with.
[[nodiscard]] SchemaTable shipped_schema_table();

}  // namespace edgegpu
