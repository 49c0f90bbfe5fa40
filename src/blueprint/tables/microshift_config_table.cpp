#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/toml_json.hpp"

namespace edgegpu {

std::optional<MicroshiftConfig> read_microshift_config(const TableReader& microshift) {
    const std::optional<TableReader> table = microshift.table("config");
    if (!table) {
        return std::nullopt;
    }
    JsonTable read = table->json();
    if (read.object.empty()) {
        return std::nullopt;
    }
    return MicroshiftConfig{read.object.dump(), std::move(read.places), table->location()};
}

}  // namespace edgegpu
