#include "schema/schema_table.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "embedded_schema_table.hpp"
#include "support/error.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

Error damaged(std::string_view line) {
    return error("the table of schemas is damaged: {}", line.substr(0, 80));
}

KubernetesVersion read_minor(std::string_view text, std::string_view line) {
    const auto minor = whole_number<unsigned>(text);
    if (!minor) {
        throw damaged(line);
    }
    return {*minor};
}

/// "27-29"
KubernetesRange read_range(std::string_view text, std::string_view line) {
    const std::vector<std::string_view> ends = split(text, '-');
    if (ends.size() != 2) {
        throw damaged(line);
    }
    return {read_minor(ends[0], line), read_minor(ends[1], line)};
}

auto key_of(const KindRow& row) {
    return std::tie(row.api_version, row.kind);
}

}  // namespace

SchemaTable::SchemaTable(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::vector<std::string_view> columns = split(line, '\t');
        if (line.starts_with('#')) {
            continue;
        }
        if (columns[0] == "product" && columns.size() == 2) {
            product_ = columns[1];
        } else if (columns[0] == "versions" && columns.size() == 3) {
            first_kinds_ = read_minor(columns[1], line);
            versions_ = read_range(columns[2], line);
        } else if (columns[0] == "kind" && columns.size() == 6) {
            kinds_.push_back(
                {columns[1], columns[2], read_range(columns[3], line),
                 columns[4] == "namespaced" ? KindScope::namespaced : KindScope::cluster,
                 columns[5]});
        } else if (columns[0] == "schema" && columns.size() == 4) {
            schemas_[columns[1]].push_back({read_range(columns[2], line), columns[3]});
        } else {
            throw damaged(line);
        }
    }
    // By the versions' numbers too: find_kind relies on nothing but the order of the keys.
    std::ranges::stable_sort(
        kinds_, [](const KindRow& a, const KindRow& b) { return key_of(a) < key_of(b); });
}

std::string SchemaTable::number_of(KubernetesVersion version) const {
    if (product_ == "Kubernetes") {
        return version.text();
    }
    // 5.0 follows 4.22.
    constexpr unsigned minors_of_4 = 23;
    return version.minor < minors_of_4 ? fmt::format("4.{}", version.minor)
                                       : fmt::format("5.{}", version.minor - minors_of_4);
}

const KindRow* SchemaTable::find_kind(std::string_view api_version, std::string_view kind,
                                      KubernetesVersion version) const {
    KindRow wanted;
    wanted.api_version = api_version;
    wanted.kind = kind;
    const auto [begin, end] =
        std::equal_range(kinds_.begin(), kinds_.end(), wanted,
                         [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
    const auto found = std::find_if(
        begin, end, [&](const KindRow& row) { return row.versions.contains(version); });
    return found == end ? nullptr : &*found;
}

const std::vector<SchemaRow>& SchemaTable::schemas(std::string_view name) const {
    static const std::vector<SchemaRow> none;
    const auto found = schemas_.find(name);
    return found == schemas_.end() ? none : found->second;
}

SchemaTable shipped_schema_table() {
    return SchemaTable(embedded::kubernetes_schemas_txt);
}

}  // namespace edgegpu
