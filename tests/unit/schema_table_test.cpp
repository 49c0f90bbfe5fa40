#include "schema/schema_table.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "schema/compiled_schema.hpp"
#include "schema/definitions.hpp"
#include "support/error.hpp"

namespace edgegpu {

TEST(SchemaTable, ShippedTableIsWhole) {
    const SchemaTable table = shipped_schema_table();
    EXPECT_EQ(table.first_kinds().text(), "1.15");
    EXPECT_EQ(table.versions().first.text(), "1.27");
    EXPECT_GE(table.versions().last.minor, 37U);
    for (unsigned minor = table.versions().first.minor; minor <= table.versions().last.minor;
         ++minor) {
        Definitions definitions(table, KubernetesVersion{minor});
        std::set<std::string> names;
        for (const KindRow& row : table.kinds()) {
            if (!row.versions.contains({minor})) {
                continue;
            }
            const std::string name(row.definition);
            EXPECT_NO_THROW((void)definitions.document(name)) << minor << " " << name;
            const nlohmann::json& fields = definitions.find(name).at("properties");
            EXPECT_TRUE(fields.contains("apiVersion") && fields.contains("metadata")) << name;
            names.insert(name);
        }
        EXPECT_GT(names.size(), 60U);
    }
}

TEST(SchemaTable, EverySchemaCanBeCompiled) {
    const SchemaTable table = shipped_schema_table();
    Definitions definitions(table, table.versions().last);
    for (const KindRow& row : table.kinds()) {
        if (row.versions.contains(table.versions().last)) {
            EXPECT_NO_THROW(CompiledSchema(definitions.document(std::string(row.definition))))
                << row.definition;
        }
    }
}

TEST(SchemaTable, FindsKindsOfAVersion) {
    const SchemaTable table(
        "# comment\nversions\t15\t27-29\nkind\tv1\tB\t15-26\tcluster\t-\n"
        "kind\tv1\tB\t27-28\tcluster\tcore.v1.B\nkind\ta/v1\tA\t27-29\tnamespaced\ta.v1.A\n"
        "schema\ta.v1.A\t27-27\t{}\nschema\ta.v1.A\t28-29\t{\"type\":\"object\"}\n");
    ASSERT_NE(table.find_kind("v1", "B", {28}), nullptr);
    EXPECT_EQ(table.find_kind("v1", "B", {28})->definition, "core.v1.B");
    EXPECT_EQ(table.find_kind("v1", "B", {20})->definition, "-");
    EXPECT_EQ(table.find_kind("v1", "B", {29}), nullptr);
    EXPECT_EQ(table.find_kind("v1", "A", {28}), nullptr);
    EXPECT_EQ(table.find_kind("a/v1", "A", {28})->scope, KindScope::namespaced);
    EXPECT_EQ(table.schemas("a.v1.A").size(), 2U);
    EXPECT_TRUE(table.schemas("b").empty());
}

TEST(SchemaTable, DamagedTables) {
    for (const char* text : {"x\n", "\n", "versions\t1\n", "versions\ta\t1-2\n", "versions\t1\t2\n",
                             "kind\tv1\tA\t1-x\tcluster\tB\n", "schema\tA\t1-2\n"}) {
        EXPECT_THROW(SchemaTable{text}, Error) << text;
    }
}

}  // namespace edgegpu
