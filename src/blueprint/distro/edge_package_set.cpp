#include "blueprint/distro/edge_package_set.hpp"

#include <algorithm>

#include "blueprint/toml/mistakes.hpp"
#include "embedded_edge_package_set.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

bool holds(const std::vector<std::string>& list, const std::string& item) {
    return std::ranges::find(list, item) != list.end();
}

/// The version for comparisons: CentOS Stream is newer than every minor release of its major
/// version.
std::string comparable(const DistroName& distro) {
    return distro.name == "centos" ? distro.major : distro.version;
}

/// Whether a [[part]] or [[services]] of the table applies to this set and version.
bool fits(const TableReader& entry, const std::string& set, const std::string& version) {
    const std::string from = entry.string("from");
    const std::string before = entry.string("before");
    return holds(values_of(entry.strings("of")), set) &&
           (from.empty() || !is_older_version(version, from)) &&
           (before.empty() || is_older_version(version, before));
}

void add_words(std::vector<std::string>& list, const std::string& text) {
    for (const std::string_view word : words_of(text)) {
        list.emplace_back(word);
    }
}

PackageSet assemble(const TableReader& table, const TableReader& set, const std::string& version,
                    const std::string& architecture) {
    PackageSet result;
    result.name = set.string("name");
    result.weak_dependencies = set.boolean("weak_dependencies", false);
    const std::string id = set.string("id");
    for (const TableReader& part : table.tables("part")) {
        const std::string only = part.string("architecture", architecture);
        if (fits(part, id, version) && only == architecture) {
            add_words(result.packages, part.text("packages"));
            add_words(result.excludes, part.text("excludes"));
        }
    }
    std::ranges::sort(result.packages);
    for (const TableReader& services : table.tables("services")) {
        if (fits(services, id, version)) {
            result.services = values_of(services.strings("units"));
        }
    }
    return result;
}

/// Whether the blueprint itself requests a package, by its name, or by name and version.
bool asks_for(const std::vector<PackageRequest>& packages, const std::string& name) {
    return std::ranges::any_of(packages, [&](const PackageRequest& request) {
        return request.spec == name || request.spec.starts_with(name + '-');
    });
}

}  // namespace

std::optional<PackageSet> find_package_set(const DistroName& distro,
                                           const std::string& architecture) {
    // The table is embedded in the program: tests find mistakes in it.
    Mistakes mistakes;
    const TableReader table =
        TableReader::parse("edge_package_sets.toml", embedded::edge_package_sets_toml, mistakes);
    for (const TableReader& set : table.tables("set")) {
        if (holds(values_of(set.strings("distros")), distro.name) &&
            set.string("major", distro.major) == distro.major) {
            return assemble(table, set, comparable(distro), architecture);
        }
    }
    return std::nullopt;
}

void read_package_set(const TableReader& root, Blueprint& blueprint) {
    const std::optional<TableReader> image = root.table("image");
    std::string wanted;
    SourceLocation location = root.location("distro");
    if (image && image->has("package_set")) {
        wanted = image->choice("package_set", "", {"edge-commit", "iot-commit", "none"});
        location = image->location("package_set");
    }
    // A parent has the packages of its own set.
    if (wanted == "none" || (wanted.empty() && root.has("parent"))) {
        return;
    }
    std::optional<PackageSet> found;
    std::optional<DistroName> distro;
    if (!blueprint.distro.empty()) {
        distro = split_distro(location, blueprint.distro);
        found = find_package_set(*distro, blueprint.architecture);
    }
    // Fedora's edge commit is the IoT one.
    const bool other_name = found && wanted == "iot-commit" && found->name != wanted;
    if (!wanted.empty() && (!found || other_name)) {
        throw error_at(location, "no package set \"{}\" is known for {}", wanted,
                       distro ? distro->text() : "a blueprint without distro")
            .hinted(R"("edge-commit" is for rhel and centos 8 and 9 and for fedora; "none" for )"
                    "others, with all packages in the blueprint");
    }
    if (!found) {
        if (distro && (distro->name == "rhel" || distro->name == "centos")) {
            blueprint.notes.push_back(fmt::format(
                "no package set is known for {}: the image gets only what the blueprint requests",
                distro->text()));
        }
        return;
    }
    // The set does not exclude packages that the blueprint requests by name.
    std::erase_if(found->excludes,
                  [&](const std::string& name) { return asks_for(blueprint.packages, name); });
    found->distro = blueprint.distro;
    found->location = location;
    blueprint.package_set = std::move(*found);
}

std::string describe_package_set(const PackageSet& set) {
    return set.name.empty() ? "none" : fmt::format("{} of {}", set.name, set.distro);
}

}  // namespace edgegpu
