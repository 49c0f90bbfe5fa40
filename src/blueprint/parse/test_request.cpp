#include "blueprint/parse/test_request.hpp"

#include "blueprint/document/document.hpp"
#include "blueprint/tables/test_table.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

std::optional<TestRequest> load_test_request(const std::filesystem::path& blueprint,
                                             const GivenParameters& parameters) {
    const Document document = read_document(blueprint, parameters);
    Mistakes mistakes;
    const TableReader root = TableReader::of(document.values, mistakes);
    std::optional<TestRequest> request;
    if (const auto table = root.table("test")) {
        request = read_test_table(*table, {});
        find_mistakes(*request, mistakes);
    }
    mistakes.throw_any(blueprint.string());
    return request;
}

}  // namespace edgegpu
