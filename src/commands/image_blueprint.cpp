#include "commands/image_blueprint.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "commands/build_paths.hpp"
#include "resolve/resolution.hpp"
#include "support/files/digest.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

SourceFile source_file(const fs::path& path) {
    return {path.filename().string(), sha256_file(path)};
}

/// Whether the commit can have been built from the lockfile: it has all its packages. It has others
/// if the build compiled kernel modules.
bool is_lockfile_of(const fs::path& lockfile, const CommitInfo& commit) {
    if (!commit.packages) {
        return false;
    }
    const std::set<Nevra> there(commit.packages->begin(), commit.packages->end());
    const Resolution locked = read_lockfile(lockfile);
    return std::ranges::all_of(locked.packages, [&](const ResolvedPackage& package) {
        return there.contains(package.nevra);
    });
}

void add_lockfile(const ImageCommand& command, const std::string& ref, const CommitInfo& commit,
                  Console& console, ImageSources& sources) {
    fs::path path = command.lockfile;
    if (path.empty()) {
        if (command.blueprint.empty()) {
            return;
        }
        path = usual_lockfile(command.blueprint, command.parameters, ref);
        std::error_code ignored;
        if (!fs::is_regular_file(path, ignored)) {
            return;
        }
    }
    if (is_lockfile_of(path, commit)) {
        sources.lockfile = source_file(path);
    } else if (command.lockfile.empty()) {
        console.warn(fmt::format(
            "{} has other packages than the commit: the provenance does not name it; --lock names "
            "the lockfile of the commit",
            path.string()));
    } else {
        throw error(ErrorKind::usage, "{} has other packages than commit {}", path.string(),
                    commit.name)
            .hinted("--lock takes the lockfile that the commit was built with");
    }
}

void add_blueprint_sources(const ImageCommand& command, const ReadBlueprint& read,
                           const CommitInfo& commit, Console& console, ImageSources& sources) {
    const Blueprint& blueprint = read.blueprint;
    for (const BlueprintFile& file : read.document.files) {
        SourceFile source{fs::path(file.name).filename().string(), file.sha256};
        if (sources.blueprint) {
            sources.bases.push_back(std::move(source));
        } else {
            sources.blueprint = std::move(source);
        }
    }
    sources.blueprint_values = values_digest(read.document);
    if (!commit.version.empty() && blueprint.version != commit.version) {
        console.warn(
            fmt::format("{} has version {}, the commit {}: the provenance names a blueprint that "
                        "was changed after the build",
                        command.blueprint.string(), blueprint.version, commit.version));
    }
}

/// Options take precedence.
void apply_options(const ImageCommand& command, ImageSettings& settings) {
    const auto replace = [](auto& setting, const auto& option) {
        if (!option.empty()) {
            setting = option;
        }
    };
    if (!command.size.empty()) {
        settings.size = parse_size(command.size).value();
    }
    replace(settings.stateroot, command.stateroot);
    replace(settings.remote, command.remote);
    replace(settings.compress, command.compress);
    replace(settings.injection, command.injection);
    replace(settings.target_rule, command.target_rule);
    settings.kernel_arguments.insert(settings.kernel_arguments.end(),
                                     command.kernel_arguments.begin(),
                                     command.kernel_arguments.end());
}

}  // namespace

void check_image_settings(const Blueprint& blueprint) {
    const ImageSettings& settings = blueprint.image;
    if (settings.sign && blueprint.ostree.sign.empty()) {
        throw error_at(settings.sign_location,
                       "[image] sign = true needs a key: [ostree] has no sign")
            .hinted("set sign in [ostree], or use --sign of edgegpu image");
    }
    if (settings.target_rule.empty()) {
        return;
    }
    try {
        static_cast<void>(parse_target_rule(settings.target_rule));
    } catch (const Error& failure) {
        throw error_at(settings.target_rule_location, "{}", failure.message())
            .hinted(failure.hint());
    }
}

ImageChoices choose_image(const ImageCommand& command, const CommitView& commit, Console& console) {
    ImageChoices choices;
    std::string ref;
    if (!command.blueprint.empty()) {
        const ReadBlueprint read = parse_image_settings(command.blueprint, command.parameters);
        const Blueprint& blueprint = read.blueprint;
        ref = blueprint.ostree.ref;
        check_image_settings(blueprint);
        for (const std::string& warning : blueprint.warnings) {
            console.warn(warning);
        }
        choices.settings = blueprint.image;
        if (blueprint.nvidia) {
            choices.cards = blueprint.nvidia->devices;
            choices.cards.resize(
                std::max<std::size_t>(choices.cards.size(), blueprint.nvidia->gpus.value_or(0)),
                choices.cards.empty() ? "" : choices.cards.front());
            choices.virtual_gpus = blueprint.nvidia->vgpu.has_value();
            choices.secure_boot = blueprint.nvidia->secure_boot.has_value();
        }
        if (blueprint.image.sign) {
            choices.key = ImageKey{blueprint.ostree.sign, blueprint.ostree.gpg_homedir};
        }
        add_blueprint_sources(command, read, commit.info(), console, choices.sources);
    }
    add_lockfile(command, ref, commit.info(), console, choices.sources);
    apply_options(command, choices.settings);
    if (!command.sign.empty()) {
        choices.key = ImageKey{command.sign, {}};
    }
    if (!command.gpg_homedir.empty()) {
        if (!choices.key) {
            throw error(ErrorKind::usage, "--gpg-homedir applies to images that are signed")
                .hinted("--sign KEY, or sign = true in [image]");
        }
        choices.key->homedir = command.gpg_homedir;
    }
    return choices;
}

}  // namespace edgegpu
