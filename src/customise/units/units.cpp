#include "customise/units/units.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/distro/edge_package_set.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "customise/units/unit_check.hpp"
#include "image/account_files.hpp"
#include "image/image_root.hpp"
#include "sandbox/image_program.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::array<std::string_view, 2> unit_directories{"/etc/systemd/system",
                                                           "/usr/lib/systemd/system"};
/// Directory of the blueprint's own units, which are part of the image like those of packages.
constexpr std::string_view own_directory = "/usr/lib/systemd/system";

/// Where the files of a unit or of its template may be.
std::vector<std::string> places_of_unit(const std::string& unit) {
    const std::size_t at = unit.find('@');
    const std::size_t dot = unit.rfind('.');
    const std::string pattern =
        at != std::string::npos && at < dot ? unit.substr(0, at + 1) + unit.substr(dot) : unit;
    std::vector<std::string> places;
    for (const std::string_view directory : unit_directories) {
        places.push_back(fmt::format("{}/{}", directory, unit));
        places.push_back(fmt::format("{}/{}", directory, pattern));
    }
    return places;
}

bool has_unit(const Tree& tree, const std::string& unit) {
    return std::ranges::any_of(
        places_of_unit(unit), [&](const std::string& path) { return tree.entries.contains(path); });
}

std::string near_units(const Tree& tree, const std::string& unit) {
    std::set<std::string> names;
    for (const std::string_view directory : unit_directories) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string name = path.substr(directory.size() + 1);
            if (name.find('/') == std::string::npos) {
                names.insert(name);
            }
        }
    }
    return near_names_hint(unit, {names.begin(), names.end()});
}

/// The state of a unit as the blueprint or its package set requests it.
struct RequestedState {
    /// name with suffix
    std::string unit;
    UnitState state = UnitState::preset;
    /// location, as the prefix of messages
    std::string where;
};

std::vector<RequestedState> gather_states(const SystemdRequest& systemd,
                                          const ServicesRequest& services) {
    std::vector<RequestedState> requested;
    for (const UnitRequest& unit : systemd.units) {
        requested.push_back({unit.name, unit.state, unit.location.text()});
    }
    for (const auto& [state, names] : {std::pair<UnitState, const std::vector<std::string>&>{
                                           UnitState::enabled, services.enabled},
                                       {UnitState::disabled, services.disabled},
                                       {UnitState::masked, services.masked}}) {
        for (const std::string& name : names) {
            const auto place = services.locations.find(name);
            const std::string where = place == services.locations.end()
                                          ? fmt::format("customizations.services.{}", state)
                                          : place->second.text();
            requested.push_back({full_unit_name(name), state, where});
        }
    }
    return requested;
}

/// Adds the units that the package set enables and for which the blueprint sets no state. A missing
/// one is only a warning, as its package may be excluded.
void add_services_of_set(const Context& ctx, const PackageSet& set, const Tree& tree,
                         std::vector<RequestedState>& requested) {
    for (const std::string& name : set.services) {
        const std::string unit = full_unit_name(name);
        const bool decided =
            std::any_of(requested.begin(), requested.end(), [&](const RequestedState& request) {
                return request.unit == unit && request.state != UnitState::preset;
            });
        if (decided) {
            continue;
        }
        if (has_unit(tree, unit)) {
            requested.push_back(
                {unit, UnitState::enabled, "package set " + describe_package_set(set)});
        } else {
            ctx.console->warn_of(
                fmt::format("units that package set {} enables, but the image does not have",
                            describe_package_set(set)),
                unit);
        }
    }
}

/// Throws unless `name` is one that a unit can have.
void require_name_of_unit(const RequestedState& request) {
    if (request.unit.starts_with('-') || request.unit.find('/') != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not the name of a unit", request.where,
                    request.unit);
    }
}

/// Throws for a unit that the image does not have, unless it is masked, which may be a precaution.
void require_unit(const Context& ctx, const Tree& tree, const RequestedState& request) {
    if (has_unit(tree, request.unit)) {
        return;
    }
    if (request.state == UnitState::masked) {
        ctx.console->warn_of("masked units that are not in the image", request.unit);
        return;
    }
    std::string hint = near_units(tree, request.unit);
    throw error(ErrorKind::usage, "{}: the image has no unit '{}'", request.where, request.unit)
        .hinted(hint.empty() ? "add the package that contains it" : std::move(hint));
}

/// Throws for all units that do not exist or have two states.
void check_states(const Context& ctx, const Tree& tree,
                  const std::vector<RequestedState>& requested) {
    Mistakes mistakes;
    std::map<std::string, UnitState> states;
    for (const RequestedState& request : requested) {
        mistakes.attempt([&] {
            require_name_of_unit(request);
            // Any other state overrides a preset.
            const auto [earlier, fresh] = states.emplace(request.unit, request.state);
            if (!fresh && earlier->second == UnitState::preset) {
                earlier->second = request.state;
            } else if (!fresh && request.state != UnitState::preset &&
                       earlier->second != request.state) {
                throw error(ErrorKind::usage, "{}: unit {} is both {} and {}", request.where,
                            request.unit, earlier->second, request.state);
            }
            require_unit(ctx, tree, request);
        });
    }
    mistakes.throw_any("");
}

void place_units(const Context& ctx, const std::vector<UnitRequest>& units, Tree& tree) {
    for (const UnitRequest& unit : units) {
        if (unit.contents) {
            if (has_unit(tree, unit.name)) {
                throw error_at(unit.location, "the image has a unit {} already", unit.name)
                    .hinted("change it with drop_ins, or replace it with an overlay");
            }
            put_entry(tree, fmt::format("{}/{}", own_directory, unit.name),
                      make_file_entry(ctx, *unit.contents, 0644));
        }
        for (const auto& [file, text] : unit.drop_ins) {
            const std::string path = fmt::format("{}/{}.d/{}", own_directory, unit.name, file);
            if (find_entry(tree, path) != nullptr) {
                throw error_at(unit.location, "the image has a drop-in {} already", path)
                    .hinted("give yours another name; the last in the order of names wins");
            }
            put_entry(tree, path, make_file_entry(ctx, text, 0644));
        }
    }
}

void run_systemctl(const Context& ctx, const Tree& tree, const char* verb,
                   const std::vector<std::string>& units) {
    std::vector<std::string> argv{"systemctl", "--root=/", verb};
    argv.insert(argv.end(), units.begin(), units.end());
    run_image_program(ctx, tree, argv);
}

/// Removes links from the tree that systemctl removed. Those that a scriptlet made exist in the
/// upper layer only, so that their removal leaves no whiteout for sync_tree.
void drop_removed_links(Tree& tree) {
    const ImageRoot root(tree.root);
    std::vector<std::string> gone;
    for (const auto& [path, entry] : entries_below(tree.entries, unit_directories.front())) {
        if (entry.type == EntryType::symlink && !root.status(path)) {
            gone.push_back(path);
        }
    }
    for (const std::string& path : gone) {
        tree.entries.erase(path);
    }
}

void mask_unit(Tree& tree, const std::string& unit) {
    put_entry(tree, "/etc/systemd/system/" + unit, link_to("/dev/null"));
}

/// Whether a unit's files say nothing of how it is enabled; not if drop-ins may.
bool is_static(const Tree& tree, const std::string& unit) {
    const std::vector<std::string> places = places_of_unit(unit);
    const auto found = std::ranges::find_if(places, [&](const std::string& path) {
        const Entry* entry = find_entry(tree, path);
        return entry != nullptr && entry->type == EntryType::file;
    });
    const bool has_drop_ins = std::ranges::any_of(
        places, [&](const std::string& path) { return tree.entries.contains(path + ".d"); });
    return found != places.end() && !has_drop_ins &&
           read_entry(tree, *found).find("[Install]") == std::string::npos;
}

/// systemctl says nothing of units that nothing can enable, and succeeds.
void warn_of_static(const Context& ctx, const std::vector<RequestedState>& requested,
                    const Tree& tree) {
    for (const RequestedState& request : requested) {
        if (request.state == UnitState::enabled && is_static(tree, request.unit)) {
            ctx.console->warn(fmt::format(
                "{}: {} has no [Install] section: enabling it does nothing, it starts only if "
                "another unit asks for it",
                request.where, request.unit));
        }
    }
}

/// What starts a unit, as its [Install] sections say.
std::vector<std::string> starters_of(const Tree& tree, const std::string& unit) {
    std::vector<std::string> files = places_of_unit(unit);
    for (const std::string& place : places_of_unit(unit)) {
        for (const auto& [path, entry] : entries_below(tree.entries, place + ".d")) {
            files.push_back(path);
        }
    }
    std::vector<std::string> starters;
    for (const std::string& path : files) {
        const Entry* entry = find_entry(tree, path);
        const std::string text =
            entry != nullptr && entry->type == EntryType::file ? read_entry(tree, path) : "";
        for (const std::string_view line : lines_of(text)) {
            const std::vector<std::string_view> words = words_of(line, " \t\r=");
            if (!words.empty() && (words[0] == "WantedBy" || words[0] == "RequiredBy")) {
                starters.insert(starters.end(), words.begin() + 1, words.end());
            }
        }
    }
    return starters;
}

/// systemctl links to units that are not there and succeeds; generators may make services.
void check_starters(const Context& ctx, const std::vector<UnitRequest>& own,
                    const std::vector<RequestedState>& requested, const Tree& tree) {
    Mistakes mistakes;
    for (const RequestedState& request : requested) {
        if (request.state != UnitState::enabled) {
            continue;
        }
        std::vector<std::string> starters = starters_of(tree, request.unit);
        const auto is_missing = [&](const std::string& starter) {
            return starter.find('%') == std::string::npos && !has_unit(tree, starter) &&
                   (starter.ends_with(".target") || starter.ends_with(".service"));
        };
        const bool never = std::ranges::all_of(starters, is_missing) &&
                           std::ranges::any_of(own, [&](const UnitRequest& unit) {
                               return unit.name == request.unit && unit.contents;
                           });
        std::erase_if(starters, std::not_fn(is_missing));
        for (const std::string& starter : starters) {
            const std::string hint = near_units(tree, starter);
            const std::string problem =
                fmt::format("{}: {} is to be started by {}, which the image does not have",
                            request.where, request.unit, starter);
            if (never && starter.ends_with(".target")) {
                mistakes.add(error(ErrorKind::usage, "{}", problem).hinted(hint));
            } else {
                ctx.console->warn(problem + (hint.empty() ? "" : ": " + hint));
            }
        }
    }
    mistakes.throw_any("");
}

/// `systemctl disable` leaves the links that packages have below /usr, and says nothing of them.
void warn_of_vendor_links(const Context& ctx, const std::vector<RequestedState>& requested,
                          const Tree& tree) {
    for (const RequestedState& request : requested) {
        if (request.state != UnitState::disabled) {
            continue;
        }
        for (const auto& [path, entry] : entries_below(tree.entries, own_directory)) {
            const std::string_view by = std::string_view(path).substr(0, path.rfind('/'));
            if (path.ends_with('/' + request.unit) &&
                (by.ends_with(".wants") || by.ends_with(".requires"))) {
                ctx.console->warn(fmt::format(
                    "{}: {} is disabled and starts all the same, as its package has {}; mask it "
                    "instead",
                    request.where, request.unit, path));
                break;
            }
        }
    }
}

/// systemd takes no notice of an order that names a unit which is not there. Mounts, devices and
/// scopes have no files; services may come of a generator (a quadlet's).
void warn_of_order(const Context& ctx, const std::vector<FirstbootScript>& scripts,
                   const Tree& tree) {
    constexpr std::array<std::string_view, 5> kinds{".service", ".socket", ".target", ".timer",
                                                    ".path"};
    for (const FirstbootScript& script : scripts) {
        std::vector<std::string> names = script.after;
        names.insert(names.end(), script.before.begin(), script.before.end());
        for (const std::string& name : names) {
            const std::string unit = full_unit_name(name);
            const bool has_file = std::ranges::any_of(
                kinds, [&](std::string_view kind) { return unit.ends_with(kind); });
            if (has_file && !has_unit(tree, unit)) {
                ctx.console->warn(fmt::format(
                    "{}: first boot script '{}' is ordered by {}, which is no unit of the image: "
                    "unless a generator makes it on the device, the script does not wait for it",
                    script.location.text(), script.name, unit));
            }
        }
    }
}

}  // namespace

std::string full_unit_name(const std::string& name) {
    static constexpr std::array<std::string_view, 11> suffixes{
        ".service",   ".socket", ".target", ".timer", ".path",  ".mount",
        ".automount", ".swap",   ".slice",  ".scope", ".device"};
    const bool full = std::any_of(suffixes.begin(), suffixes.end(),
                                  [&](std::string_view suffix) { return name.ends_with(suffix); });
    return full ? name : name + ".service";
}

void set_units(const Context& ctx, const UnitSettings& wanted, const PlacedPaths& placed,
               Tree& tree) {
    place_units(ctx, wanted.systemd.units, tree);
    std::vector<RequestedState> requested = gather_states(wanted.systemd, wanted.services);
    warn_of_static(ctx, requested, tree);
    warn_of_vendor_links(ctx, requested, tree);
    add_services_of_set(ctx, wanted.package_set, tree, requested);
    check_states(ctx, tree, requested);
    check_starters(ctx, wanted.systemd.units, requested, tree);
    check_units(ctx, wanted.systemd.units, placed, tree);
    bool changed = wanted.systemd.preset_all;
    if (changed) {
        run_systemctl(ctx, tree, "preset-all", {});
    }
    // Presets first, so that explicit states override them.
    for (const auto& [state, verb] :
         {std::pair<UnitState, const char*>{UnitState::preset, "preset"},
          {UnitState::disabled, "disable"},
          {UnitState::enabled, "enable"}}) {
        std::vector<std::string> units;
        for (const RequestedState& request : requested) {
            if (request.state == state) {
                units.push_back(request.unit);
            }
        }
        if (!units.empty()) {
            run_systemctl(ctx, tree, verb, units);
            changed = true;
        }
    }
    if (changed) {
        sync_tree(ctx, tree);
        drop_removed_links(tree);
    }
    for (const RequestedState& request : requested) {
        if (request.state == UnitState::masked) {
            mask_unit(tree, request.unit);
        }
    }
    warn_of_order(ctx, wanted.firstboot, tree);
}

}  // namespace edgegpu
