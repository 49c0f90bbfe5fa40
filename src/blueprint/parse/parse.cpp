#include "blueprint/parse/parse.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/distro/edge_package_set.hpp"
#include "blueprint/distro/host.hpp"
#include "blueprint/parse/check.hpp"
#include "blueprint/repositories/repositories.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/text/deployed_path.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Placeholder for an invalid distro.
const DistroName unread_distro{"unread", "0", "0"};

/// The distribution of the command line, else of the blueprint, else of the build machine.
std::optional<DistroName> choose_distro(const TableReader& root, const BlueprintOptions& options,
                                        std::vector<std::string>& notes) {
    const std::string own = root.string("distro");
    if (!options.distro.empty()) {
        return split_distro({"--distro", 0, 0}, options.distro);
    }
    if (!own.empty()) {
        return split_distro(root.location("distro"), own);
    }
    std::optional<DistroName> host = host_distro();
    if (host) {
        notes.push_back(fmt::format(
            "distro {} is taken from this machine: neither the blueprint nor --distro names one",
            host->text()));
    }
    return host;
}

/// Any name is accepted, since distributions are rebuilt under names of their own; one that is
/// nearly that of a known one is noted.
void note_unknown_distro(const DistroName& distro, std::vector<std::string>& notes) {
    const std::vector<std::string> known = known_distros();
    if (std::ranges::find(known, distro.name) != known.end()) {
        return;
    }
    const std::string hint = near_names_hint(distro.name, known);
    if (!hint.empty()) {
        notes.push_back(fmt::format("edgegpu knows no distribution '{}': {}", distro.name, hint));
    }
}

void read_identity(const TableReader& root, const BlueprintOptions& options, Blueprint& blueprint) {
    blueprint.name = root.string("name");
    blueprint.description = root.text("description");
    blueprint.version = root.string("version", "0.0.0");
    // Image builder requires x.y.z, but "1.0" and "" occur in practice.
    if (blueprint.version.empty()) {
        blueprint.version = "0.0.0";
    }
    if (!is_plain_name(blueprint.version, "_.-+~")) {
        root.note(error_at(root, "version", "invalid version \"{}\"", blueprint.version)
                      .hinted("as in \"1.0.0\""));
    }
    blueprint.architecture = root.choice("architecture", "x86_64", {"x86_64", "aarch64"});
    blueprint.releasever = root.string("releasever");
    std::optional<DistroName> distro;
    const bool judged =
        root.attempt([&] { distro = choose_distro(root, options, blueprint.notes); });
    if (!judged) {
        // Avoids consequential errors about a missing ref or $releasever.
        distro = unread_distro;
    }
    if (distro) {
        if (judged) {
            note_unknown_distro(*distro, blueprint.notes);
        }
        blueprint.distro = distro->text();
        if (distro->is_suse()) {
            blueprint.kernel.name = "kernel-default";
        }
        if (blueprint.releasever.empty()) {
            // SUSE's repositories are those of a service pack, all others' of a major version.
            blueprint.releasever = distro->is_suse() ? distro->version : distro->major;
        }
    }
    if (!blueprint.releasever.empty() && !is_plain_name(blueprint.releasever, "_.-")) {
        root.note(error_at(root, "releasever", "invalid releasever \"{}\"", blueprint.releasever));
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

/// The name of a .repo file in messages: relative to the path of the file that names it, as the
/// user gave that.
std::string displayed_path(const LocatedString& file) {
    return (fs::path(file.location.file).parent_path() / file.value).string();
}

/// Runs `read`. If it fails, adds a placeholder, so that the blueprint is not reported to lack
/// repositories as well.
template <typename Read>
void attempt_repository(const TableReader& root, Blueprint& blueprint, Read read) {
    if (!root.attempt(read)) {
        Repository unread;
        unread.gpgcheck = unread.repo_gpgcheck = false;
        blueprint.repositories.push_back(std::move(unread));
    }
}

/// Adds the repositories of a file that is `named` somewhere; messages call it `shown`. Throws if
/// it has none: those of this machine would be used instead.
void add_named_file(const LocatedString& named, const std::string& shown, const fs::path& path,
                    const ParseScope& scope, Blueprint& blueprint) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        throw error_at(named.location, "no such file: {}", named.value);
    }
    RepoFile content = read_repo_file(shown, path, scope);
    if (content.repositories.empty()) {
        Error problem = error_at(named.location, "the file has no repository: {}", named.value);
        if (path.filename() == "redhat.repo") {
            problem.hinted(
                "subscription-manager leaves it empty on a machine that is not registered");
        }
        throw problem;
    }
    add_repo_file(std::move(content), blueprint);
}

/// `--repository-file`: paths are relative to the current directory.
void read_repository_options(const TableReader& root, const BlueprintOptions& options,
                             const ParseScope& scope, Blueprint& blueprint) {
    for (const fs::path& file : options.repository_files) {
        attempt_repository(root, blueprint, [&] {
            add_named_file({file.string(), {"--repository-file", 0, 0}}, file.string(),
                           resolve_path(fs::current_path(), file.string()), scope, blueprint);
        });
    }
}

/// Adds the repositories of the build machine if none are specified and its distribution is that of
/// the image.
void read_host_repositories(const TableReader& root, ParseScope scope, Blueprint& blueprint) {
    const std::optional<DistroName> host = host_distro();
    if (!blueprint.repositories.empty() || !host || blueprint.distro.empty()) {
        return;
    }
    const DistroName image = split_distro({}, blueprint.distro);
    if (image.name != host->name || image.major != host->major) {
        blueprint.notes.push_back(fmt::format(
            "the repositories of this machine are for {}, not for {}: they are not used",
            host->text(), image.text()));
        return;
    }
    auto variables = host_variables();
    if (root.has("releasever")) {
        variables.erase("releasever");
    }
    variables.merge(scope.variables);
    scope.variables = std::move(variables);
    for (const fs::path& file : host_repository_files()) {
        attempt_repository(root, blueprint, [&] {
            add_repo_file(read_repo_file(file.string(), file, scope), blueprint);
        });
    }
    if (!blueprint.repositories.empty()) {
        blueprint.notes.push_back(
            fmt::format("using the repositories of this machine ({}), since neither blueprint nor "
                        "--repository-file specifies any",
                        (host_root() / "etc/yum.repos.d").string()));
    }
}

void read_repositories(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    for (const TableReader& table : root.tables("repositories")) {
        attempt_repository(root, blueprint, [&] {
            add_repository(blueprint.repositories, read_repository(table, scope));
        });
    }
    for (const LocatedString& file : root.strings("repository_files")) {
        attempt_repository(root, blueprint, [&] {
            add_named_file(file, displayed_path(file), path_at(scope, file.location, file.value),
                           scope, blueprint);
        });
    }
}

ReadBlueprint read_blueprint(const fs::path& path, const BlueprintOptions& options,
                             Mistakes& mistakes) {
    ReadBlueprint read;
    read.document = read_document(path, options.parameters);
    const TableReader root = TableReader::of(read.document.values, mistakes);
    Blueprint& blueprint = read.blueprint;
    blueprint.path = resolve_path(fs::current_path(), path.string());
    blueprint.warnings = read.document.warnings;
    read_identity(root, options, blueprint);
    ParseScope scope{blueprint.releasever, blueprint.architecture};
    scope.paths = &read.paths;
    if (blueprint.distro.starts_with("centos-")) {
        // Used by the .repo files of CentOS Stream, which define it in /etc/dnf/vars.
        scope.variables["stream"] = split_distro({}, blueprint.distro).major + "-stream";
    }
    read_repositories(root, scope, blueprint);
    read_repository_options(root, options, scope, blueprint);
    read_host_repositories(root, scope, blueprint);
    read_package_sets(root, blueprint);
    read_containers(root, scope, blueprint);
    if (blueprint.distro != unread_distro.text() || !root.has("image")) {
        root.attempt([&] { read_package_set(root, blueprint); });
    }
    root.attempt([&] { read_image_table(root, scope, blueprint); });
    read_excludes(root, blueprint);
    root.with_table("customizations", read_customizations, blueprint);
    if (!blueprint.containers.empty() &&
        is_path_of_device(deployed_path(blueprint.container_store))) {
        root.note(
            error_at(blueprint.container_store_location,
                     "[[containers]] cannot be in {}: that is the device's, and a commit has "
                     "nothing there",
                     blueprint.container_store)
                .hinted("use a directory below /usr, as in \"/usr/share/containers/storage\""));
    }
    read_own_tables(root, scope, blueprint);
    root.finish();
    return read;
}

}  // namespace

Blueprint parse_blueprint(const fs::path& path, const BlueprintOptions& options) {
    Mistakes mistakes;
    ReadBlueprint read = read_blueprint(path, options, mistakes);
    mistakes.throw_any(path.string());
    return std::move(read.blueprint);
}

ReadBlueprint parse_image_settings(const fs::path& path, const GivenParameters& parameters) {
    Mistakes mistakes;
    ReadBlueprint read;
    read.document = read_document(path, parameters);
    const TableReader root = TableReader::of(read.document.values, mistakes);
    Blueprint& blueprint = read.blueprint;
    blueprint.path = resolve_path(fs::current_path(), path.string());
    blueprint.version = root.string("version", "0.0.0");
    ParseScope scope{{}, blueprint.architecture};
    scope.paths = &read.paths;
    read_ostree_table(root, scope, blueprint);
    root.attempt([&] { read_image_table(root, scope, blueprint); });
    root.with_table("customizations", read_disk_customizations, blueprint);
    if (const auto nvidia = root.table("nvidia")) {
        blueprint.nvidia = read_nvidia_cards(*nvidia);
    }
    mistakes.throw_any(path.string());
    return read;
}

ReadBlueprint load_with_document(const fs::path& path, const BlueprintOptions& options) {
    Mistakes mistakes;
    ReadBlueprint read = read_blueprint(path, options, mistakes);
    std::ranges::move(check_blueprint(read.blueprint, mistakes),
                      std::back_inserter(read.blueprint.warnings));
    mistakes.throw_any(path.string());
    return read;
}

Blueprint load_blueprint(const fs::path& path, const BlueprintOptions& options) {
    return load_with_document(path, options).blueprint;
}

}  // namespace edgegpu
