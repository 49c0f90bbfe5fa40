#include "customise/units/unit_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "blueprint/sources/policy_source.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    });
}

/// Whether a message is about the unit: "…/systemd/system/x.service:5: …",
/// "…/x.service.d/a.conf:5:", "x.service: …", "Unit x.service …".
bool is_about(std::string_view line, const std::string& unit) {
    return line.starts_with(unit + ": ") || line.starts_with("Unit " + unit + " ") ||
           contains_any(line, {"/systemd/system/" + unit + ":", "/systemd/system/" + unit + ".d/"});
}

/// Replaces instances with their template, which systemd-analyze verifies as an instance:
/// "x@test_instance.service" → "x@.service".
std::string without_instance(std::string_view line) {
    std::string text(line);
    for (const std::string_view instance : {"@test_instance.", "@i."}) {
        for (std::size_t at = text.find(instance); at != std::string::npos;
             at = text.find(instance)) {
            text.replace(at, instance.size(), "@.");
        }
    }
    return text;
}

/// Whether the message is about a missing program in a place that only the device fills.
bool is_missing_on_device_only(std::string_view line) {
    return contains_any(line, {" is not executable"}) &&
           contains_any(line,
                        {"Command /var/", "Command /usr/local/", "Command /run/", "Command /home/",
                         "Command /root/", "Command /srv/", "Command /mnt/"});
}

bool is_advice(std::string_view line) {
    return contains_any(
        line, {"lease use", "lease update", "lease consider", "legacy", "obsolete", "deprecated",
               "will be removed", "is configured to", "marked exec", "marked world"});
}

}  // namespace

std::string shown_place(const PlacedFile& file) {
    return file.is_file ? display_path(file.place) : file.place;
}

std::string unit_of_path(std::string_view path) {
    for (const std::string_view top : {"/usr/lib/systemd/system/", "/etc/systemd/system/"}) {
        if (!path.starts_with(top)) {
            continue;
        }
        const std::string_view name = path.substr(top.size());
        const std::size_t slash = name.find('/');
        if (slash == std::string_view::npos) {
            return name.rfind('.') == std::string_view::npos || name.ends_with(".d") ||
                           name.ends_with(".wants") || name.ends_with(".requires")
                       ? std::string()
                       : std::string(name);
        }
        const std::string_view directory = name.substr(0, slash);
        if (directory.ends_with(".d") && name.ends_with(".conf")) {
            return std::string(directory.substr(0, directory.size() - 2));
        }
    }
    return {};
}

UnitFindings findings_of(const std::string& unit, const std::string& output) {
    UnitFindings findings;
    for (const std::string_view part : lines_of(output)) {
        const std::string line = without_instance(part);
        if (is_about(line, unit)) {
            const bool harmless = is_advice(line) || is_missing_on_device_only(line);
            (harmless ? findings.warnings : findings.errors).push_back(line);
        }
    }
    return findings;
}

std::vector<std::vector<std::string>> ordering_cycles(const std::string& output) {
    static const std::regex link(
        R"((\S+): Found (ordering cycle|dependency) on (\S+)/(?:start|verify-active))");
    std::vector<std::vector<std::string>> cycles;
    for (const std::string_view part : lines_of(output)) {
        const std::string line(part);
        std::smatch match;
        if (!std::regex_search(line, match, link)) {
            continue;
        }
        if (match[2] == "ordering cycle") {
            cycles.push_back({match[1].str()});
        }
        const std::string unit = match[3].str();
        // The last line is the first unit again.
        if (!cycles.empty() && std::ranges::find(cycles.back(), unit) == cycles.back().end()) {
            cycles.back().push_back(unit);
        }
    }
    std::set<std::set<std::string>> seen;
    std::erase_if(cycles, [&](const std::vector<std::string>& cycle) {
        return !seen.insert({cycle.begin(), cycle.end()}).second;
    });
    return cycles;
}

std::string placed_finding(const std::string& unit, const std::string& finding,
                           const PlacedPaths& placed, const std::string& where) {
    static const std::regex at_line(R"((/\S+):(\d+): (.*))");
    std::smatch match;
    if (!std::regex_match(finding, match, at_line)) {
        const std::string about = unit + ": ";
        return fmt::format("{}: unit {}: {}", where, unit,
                           finding.starts_with(about) ? finding.substr(about.size()) : finding);
    }
    const std::string path = (match[1].str().starts_with("/lib/") ? "/usr" : "") + match[1].str();
    const auto file = placed.find(path);
    if (file != placed.end() && file->second.is_file) {
        return fmt::format("{}:{}: unit {}: {}", shown_place(file->second), match[2].str(), unit,
                           match[3].str());
    }
    return fmt::format("{}: unit {}, line {} of its text{}: {}",
                       file == placed.end() ? where : file->second.place, unit, match[2].str(),
                       path.ends_with(".conf")
                           ? fmt::format(" in {}", path.substr(path.rfind('/') + 1))
                           : std::string(),
                       match[3].str());
}

void check_units(const Context& ctx, const std::vector<UnitRequest>& units,
                 const PlacedPaths& placed, const Tree& tree) {
    // unit → the place that messages name
    std::map<std::string, std::string> places;
    for (const auto& [path, file] : placed) {
        const std::string unit = unit_of_path(path);
        const Entry* entry = find_entry(tree, path);
        if (!unit.empty() && entry != nullptr && entry->type == EntryType::file) {
            places.emplace(unit, shown_place(file));
        }
    }
    for (const UnitRequest& unit : units) {
        if (unit.contents || !unit.drop_ins.empty()) {
            places[unit.name] = unit.location.text();
        }
    }
    if (places.empty()) {
        return;
    }
    if (find_entry(tree, "/usr/bin/systemd-analyze") == nullptr) {
        ctx.console->warn("units are not verified: the image has no systemd-analyze");
        return;
    }
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    command.argv = {"systemd-analyze", "--man=no", "verify"};
    for (const auto& [unit, where] : places) {
        command.argv.push_back(unit);
    }
    const ProcessResult result = run_in_sandbox(ctx, command);
    bool explained = result.status == 0;
    Mistakes mistakes;
    for (const auto& [unit, where] : places) {
        const UnitFindings findings = findings_of(unit, result.output);
        for (const std::string& warning : findings.warnings) {
            ctx.console->warn(placed_finding(unit, warning, placed, where));
        }
        explained = explained || !findings.warnings.empty();
        for (const std::string& finding : findings.errors) {
            mistakes.add(Error(ErrorKind::usage, placed_finding(unit, finding, placed, where)));
        }
    }
    mistakes.throw_any("");
    if (!explained) {
        ctx.console->warn(fmt::format("systemd-analyze verify ended with status {}: {}",
                                      result.status,
                                      result.output.substr(0, result.output.find('\n'))));
    }
}

}  // namespace edgegpu
