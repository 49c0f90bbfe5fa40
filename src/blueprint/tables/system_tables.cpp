#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

SoftDependency read_soft_dependency(const TableReader& table) {
    SoftDependency others;
    others.pre = table.checked_strings("pre", require_kernel_module_name);
    others.post = table.checked_strings("post", require_kernel_module_name);
    table.finish();
    if (others.pre.empty() && others.post.empty() && table.strings("pre").empty() &&
        table.strings("post").empty()) {
        throw error_at(table.location(), "a soft dependency without modules")
            .hinted("as in softdeps = { nvidia = { post = [\"nvidia-uvm\"] } }");
    }
    return others;
}

constexpr std::uint64_t largest_unit = 1U << 20U;

std::string read_unit_source(const TableReader& table, const ParseScope& scope) {
    const SourceLocation at = table.location("source");
    const std::string name = table.required_string("source");
    try {
        return read_file(path_at(scope, at, name), largest_unit);
    } catch (const Error& unreadable) {
        throw error_at(at, "{}", unreadable.message());
    }
}

/// Units defined by the blueprint need their full names, with suffix, as file names.
void require_whole_unit_name(const SourceLocation& location, const std::string& name) {
    require_unit_name(location, name);
    static constexpr std::array<std::string_view, 9> suffixes{".service",   ".socket", ".target",
                                                              ".timer",     ".path",   ".mount",
                                                              ".automount", ".swap",   ".slice"};
    const bool whole = std::ranges::any_of(suffixes, [&](std::string_view suffix) {
        return name.size() > suffix.size() && name.ends_with(suffix);
    });
    if (!whole) {
        throw error_at(location, "\"{}\" is not the whole name of a unit", name)
            .hinted(fmt::format("as in \"{}.service\"", name));
    }
}

std::map<std::string, std::string> read_drop_ins(const TableReader& table) {
    std::map<std::string, std::string> drop_ins;
    for (const std::string& file : table.keys()) {
        if (!is_plain_name(file, "_.-@:") || !file.ends_with(".conf")) {
            table.note(error_at(table, file, "\"{}\" is not the name of a drop-in", file)
                           .hinted("as in drop_ins = { \"10-limits.conf\" = \"[Service]\\n…\" }"));
        }
        drop_ins[file] = table.text(file);
    }
    return drop_ins;
}

UnitRequest read_unit(const TableReader& table, const ParseScope& scope) {
    UnitRequest unit;
    unit.location = table.location();
    bool readable = true;
    if (table.has("contents")) {
        unit.contents = table.text("contents");
        static_cast<void>(table.has("source"));
    } else if (table.has("source")) {
        readable = table.attempt([&] { unit.contents = read_unit_source(table, scope); });
    }
    if (const auto drop_ins = table.table("drop_ins")) {
        unit.drop_ins = read_drop_ins(*drop_ins);
    }
    unit.state = table.choice("state", unit.state);
    table.finish({"name"});
    unit.name = table.required_string("name");
    require_whole_unit_name(table.location("name"), unit.name);
    if (table.has("contents") && table.has("source")) {
        throw error_at(table, "source", "unit \"{}\" has both contents and source", unit.name);
    }
    const bool installed = !readable || !unit.contents || unit.contents->starts_with("[Install]") ||
                           unit.contents->find("\n[Install]") != std::string::npos;
    if (unit.state == UnitState::enabled && !installed) {
        throw error_at(table, "state", "unit \"{}\" cannot be enabled: it has no [Install] section",
                       unit.name)
            .hinted("as in [Install] WantedBy=multi-user.target");
    }
    return unit;
}

}  // namespace

void read_systemd(const TableReader& table, const ParseScope& scope, SystemdRequest& systemd) {
    systemd.location = table.location();
    systemd.preset_all = table.boolean("preset_all", false);
    table.each_table("units", [&](const TableReader& unit) {
        UnitRequest request = read_unit(unit, scope);
        require_new(systemd.units, &UnitRequest::name, request, request.location, "unit");
        systemd.units.push_back(std::move(request));
    });
    table.finish();
}

void read_modprobe(const TableReader& table, ModprobeRequest& modprobe) {
    modprobe.location = table.location();
    modprobe.blacklist = table.checked_strings("blacklist", require_kernel_module_name);
    if (const auto options = table.table("options")) {
        for (const std::string& module : options->keys()) {
            table.attempt([&] {
                require_kernel_module_name(options->location(module), module);
                modprobe.options[module] = options->required_string(module);
            });
        }
    }
    if (const auto softdeps = table.table("softdeps")) {
        for (const std::string& module : softdeps->keys()) {
            table.attempt([&] {
                require_kernel_module_name(softdeps->location(module), module);
                if (const auto others = softdeps->table(module)) {
                    modprobe.softdeps[module] = read_soft_dependency(*others);
                }
            });
        }
    }
    table.finish();
}

}  // namespace edgegpu
