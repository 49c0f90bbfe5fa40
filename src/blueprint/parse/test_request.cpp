#include "blueprint/parse/test_request.hpp"

#include "blueprint/parse/parse.hpp"
#include "blueprint/tables/test_table.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

std::optional<TestRequest> load_test_request(const std::filesystem::path& blueprint) {
    Mistakes mistakes;
    const TableReader root =
        TableReader::parse(blueprint.string(), read_blueprint_text(blueprint), mistakes);
    ParseScope scope;
    scope.directory =
        resolve_path(std::filesystem::current_path(), blueprint.string()).parent_path();
    std::optional<TestRequest> request;
    if (const auto table = root.table("test")) {
        request = read_test_table(*table, scope);
        find_mistakes(*request, mistakes);
    }
    mistakes.throw_any(blueprint.string());
    return request;
}

}  // namespace edgegpu
