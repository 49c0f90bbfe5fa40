#include "report/diff_units.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace edgegpu {

namespace {

/// The first directory that has a name wins.
constexpr std::array unit_directories{"/usr/etc/systemd/system", "/etc/systemd/system",
                                      "/usr/lib/systemd/system"};

/// The parts of a path below a directory of units.
struct UnitPath {
    /// "sshd.service", "sshd.service.d/x.conf", "multi-user.target.wants/sshd.service"
    std::string name;
    /// of "multi-user.target.wants": "multi-user.target"; empty for a unit
    std::string owner;
    /// "wants", "requires" or "d"; empty for a unit
    std::string relation;
    /// file name
    std::string base;
};

/// Nothing for deeper paths, and for directories that systemd does not use.
std::optional<UnitPath> take_apart(std::string_view name) {
    UnitPath path{std::string(name), "", "", std::string(name)};
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) {
        return path;
    }
    const std::string_view directory = name.substr(0, slash);
    path.base = name.substr(slash + 1);
    const std::size_t dot = directory.rfind('.');
    if (dot == std::string_view::npos || path.base.find('/') != std::string::npos) {
        return std::nullopt;
    }
    path.owner = directory.substr(0, dot);
    path.relation = directory.substr(dot + 1);
    if (path.relation != "d" && path.relation != "wants" && path.relation != "requires") {
        return std::nullopt;
    }
    return path;
}

bool masks(const CommitPath& path) {
    return path.type == EntryType::symlink ? path.target == "/dev/null"
                                           : path.type == EntryType::file && path.size == 0;
}

/// The file that systemd uses for a name.
std::optional<CommitPath> effective(const CommitView& commit, const std::string& name) {
    for (const char* directory : unit_directories) {
        if (auto found = commit.describe(std::string(directory) + '/' + name)) {
            return found;
        }
    }
    return std::nullopt;
}

bool is_masked(const CommitView& commit, const std::string& name) {
    const std::optional<CommitPath> found = effective(commit, name);
    return found && masks(*found);
}

bool is_enabled(const CommitView& commit, const std::string& name) {
    const std::optional<CommitPath> found = effective(commit, name);
    return found && !masks(*found);
}

/// Whether this side of a change is a file or link that is not a mask.
bool counts(const std::optional<CommitPath>& side) {
    return side && side->type != EntryType::directory && !masks(*side);
}

std::optional<UnitFileChange> file_change(const UnitPath& name, const std::string& path,
                                          const PathChange& change) {
    const bool before = counts(change.before);
    const bool after = counts(change.after);
    // Labels and owners are not changes of the unit; they are in other parts of the report.
    if ((!before && !after) || (before && after && !change.content)) {
        return std::nullopt;
    }
    const CommitPath& side = after ? *change.after : *change.before;
    const char* type = name.relation == "d"              ? "drop-in"
                       : side.type == EntryType::symlink ? "alias"
                                                         : "unit";
    return UnitFileChange{name.name, path, type,
                          before && after ? "changed"
                          : after         ? "added"
                                          : "removed"};
}

}  // namespace

bool UnitChanges::empty() const {
    return files.empty() && enabled.empty() && disabled.empty() && masked.empty() &&
           unmasked.empty();
}

UnitChanges compare_units(const CommitPair& pair, const TreeChanges& changes) {
    UnitChanges units;
    std::set<std::string> touched;
    std::set<std::string> links;
    for (const char* directory : unit_directories) {
        for (const auto& [path, change] : changes_below(changes, directory)) {
            const auto name =
                take_apart(std::string_view(path).substr(std::string_view(directory).size() + 1));
            if (!name) {
                continue;
            }
            if (name->relation == "wants" || name->relation == "requires") {
                links.insert(name->name);
                continue;
            }
            if (name->relation.empty()) {
                touched.insert(name->name);
            }
            if (auto file = file_change(*name, path, change)) {
                units.files.push_back(std::move(*file));
            }
        }
    }
    for (const std::string& name : touched) {
        const bool before = is_masked(pair.before, name);
        const bool after = is_masked(pair.after, name);
        if (before != after) {
            (after ? units.masked : units.unmasked).push_back(name);
        }
    }
    for (const std::string& link : links) {
        const bool before = is_enabled(pair.before, link);
        const bool after = is_enabled(pair.after, link);
        if (before != after) {
            const auto name = take_apart(link);
            (after ? units.enabled : units.disabled)
                .push_back({name->base, name->owner, name->relation});
        }
    }
    std::ranges::sort(units.files, {}, &UnitFileChange::path);
    std::ranges::sort(units.enabled);
    std::ranges::sort(units.disabled);
    return units;
}

}  // namespace edgegpu
