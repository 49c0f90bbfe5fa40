#include <algorithm>

#include "blueprint/mistakes.hpp"
#include "blueprint/repositories.hpp"
#include "blueprint/tables.hpp"
#include "blueprint/toml_reader.hpp"
#include "blueprint/validate.hpp"
#include "blueprint/variables.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_blueprint = 16U << 20U;

std::string read_blueprint_text(const fs::path& path) {
    try {
        return read_file(path, largest_blueprint);
    } catch (const Error& failure) {
        throw Error(ErrorKind::usage, failure.message());
    }
}

void read_identity(const TableReader& root, Blueprint& blueprint) {
    blueprint.name = root.string("name");
    blueprint.description = root.text("description");
    blueprint.version = root.string("version", "0.0.0");
    // Image builder wants x.y.z; "1.0" and "" occur in the wild.
    if (blueprint.version.empty()) {
        blueprint.version = "0.0.0";
    }
    if (!is_plain_name(blueprint.version, "_.-+~")) {
        root.note(error_at(root.location("version"), "invalid version \"{}\"", blueprint.version)
                      .hinted("as in \"1.0.0\""));
    }
    blueprint.distro = root.string("distro");
    blueprint.architecture = root.choice("architecture", "x86_64", {"x86_64", "aarch64"});
    blueprint.releasever = root.string("releasever");
    if (!blueprint.distro.empty()) {
        root.attempt([&] {
            const DistroName distro = split_distro(root.location("distro"), blueprint.distro);
            if (blueprint.releasever.empty()) {
                blueprint.releasever = distro.major;
            }
        });
    }
    if (!blueprint.releasever.empty() && !is_plain_name(blueprint.releasever, "_.-")) {
        root.note(error_at(root.location("releasever"), "invalid releasever \"{}\"",
                           blueprint.releasever));
    }
    if (blueprint.releasever.empty() && !root.mistakes().empty()) {
        // What follows from a mistake is none: URLs with $releasever are not to be reported too.
        blueprint.releasever = "0";
    }
}

void read_excludes(const TableReader& root, Blueprint& blueprint) {
    for (const LocatedString& exclude : root.strings("excludes")) {
        if (!is_plain_name('a' + exclude.value, "_.-+*?[]:~^") || exclude.value.empty()) {
            root.note(error_at(exclude.location, "invalid package glob \"{}\"", exclude.value));
            continue;
        }
        blueprint.excludes.push_back(exclude.value);
    }
    blueprint.weak_dependencies = root.boolean("weak_dependencies", false);
}

void add_repository(std::vector<Repository>& repositories, Repository repository) {
    for (const Repository& earlier : repositories) {
        if (earlier.id == repository.id) {
            throw error_at(repository.location, "duplicate repository \"{}\" (first at {})",
                           repository.id, earlier.location.text());
        }
    }
    repositories.push_back(std::move(repository));
}

/// How messages name a .repo file: beside the blueprint as the user gave its name.
std::string displayed_path(const fs::path& blueprint, const std::string& file) {
    return fs::path(file).is_absolute() ? file : (blueprint.parent_path() / file).string();
}

/// Runs `read`. Where it fails, something stands for the repository: a blueprint of which one could
/// not be read does not lack repositories too.
template <typename Read>
void attempt_repository(const TableReader& root, Blueprint& blueprint, Read read) {
    if (!root.attempt(read)) {
        Repository unread;
        unread.gpgcheck = unread.repo_gpgcheck = false;
        blueprint.repositories.push_back(std::move(unread));
    }
}

void read_repositories(const TableReader& root, const fs::path& given, const ParseScope& scope,
                       Blueprint& blueprint) {
    for (const TableReader& table : root.tables("repositories")) {
        attempt_repository(root, blueprint, [&] {
            add_repository(blueprint.repositories, read_repository(table, scope));
        });
    }
    for (const LocatedString& file : root.strings("repository_files")) {
        attempt_repository(root, blueprint, [&] {
            const fs::path path = resolve_path(scope.directory, file.value);
            std::error_code failure;
            if (!fs::is_regular_file(path, failure)) {
                throw error_at(file.location, "no such file: {}", file.value);
            }
            add_repo_file(read_repo_file(displayed_path(given, file.value), path, scope),
                          blueprint);
        });
    }
}

Blueprint read_blueprint(const fs::path& path, [[maybe_unused]] const BlueprintOptions& options,
                         Mistakes& mistakes) {
    const TableReader root = TableReader::parse(path.string(), read_blueprint_text(path), mistakes);
    Blueprint blueprint;
    blueprint.path = resolve_path(fs::current_path(), path.string());
    read_identity(root, blueprint);
    const ParseScope scope{blueprint.path.parent_path(), blueprint.releasever,
                           blueprint.architecture};
    read_repositories(root, path, scope, blueprint);
    read_package_sets(root, blueprint);
    read_excludes(root, blueprint);
    if (const auto customizations = root.table("customizations")) {
        read_customizations(*customizations, blueprint);
    }
    read_own_tables(root, scope, blueprint);
    root.finish();
    return blueprint;
}

}  // namespace

std::string SourceLocation::text() const {
    return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column);
}

Blueprint parse_blueprint(const fs::path& path, const BlueprintOptions& options) {
    Mistakes mistakes;
    Blueprint blueprint = read_blueprint(path, options, mistakes);
    mistakes.throw_any(path.string());
    return blueprint;
}

Blueprint load_blueprint(const fs::path& path, const BlueprintOptions& options) {
    Mistakes mistakes;
    Blueprint blueprint = read_blueprint(path, options, mistakes);
    find_mistakes(blueprint, mistakes);
    mistakes.throw_any(path.string());
    return blueprint;
}

}  // namespace edgegpu
