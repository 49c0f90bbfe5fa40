#include "gpu_health/program/configuration.hpp"

#include <exception>

#include "gpu_health/program/files.hpp"

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t settings_limit = std::size_t{1} << 20U;
constexpr std::size_t table_limit = std::size_t{4} << 20U;

void add_settings(const fs::path& path, bool wanted, Settings& settings, Notes& notes) {
    try {
        if (const auto text = read_whole(path, settings_limit)) {
            settings = read_settings(settings, *text);
        } else if (wanted) {
            notes.push_back(path.string() + " does not exist: default settings are used");
        }
    } catch (const std::exception& problem) {
        notes.push_back(path.string() + " is ignored: " + problem.what());
    }
}

}  // namespace

Settings load_settings(const Options& options, Notes& notes) {
    Settings settings;
    if (options.settings) {
        add_settings(*options.settings, true, settings, notes);
        return settings;
    }
    const fs::path& root = options.places.root;
    add_settings(root / "usr/lib/edgegpu/gpu-health.json", false, settings, notes);
    add_settings(root / "etc/edgegpu/gpu-health.json", false, settings, notes);
    return settings;
}

Tables load_tables(const Options& options, Notes& notes) {
    Tables tables = shipped_tables();
    for (const std::string_view name : {"messages", "xid", "nvml"}) {
        const fs::path path = options.tables / (std::string(name) + ".tsv");
        try {
            if (const auto text = read_whole(path, table_limit)) {
                // A copy: a table that is wrong in its last line must not count for its first.
                Tables changed = tables;
                read_table(name, *text, changed);
                tables = std::move(changed);
            }
        } catch (const std::exception& problem) {
            notes.push_back(path.string() + " is ignored: " + problem.what());
        }
    }
    return tables;
}

}  // namespace edgegpu::gpu_health
