#include "commands/build/variants.hpp"

#include <map>

#include "blueprint/toml/mistakes.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

void refuse_shared_lockfile(const BuildCommand& command) {
    if (!command.lockfile.empty()) {
        throw error(ErrorKind::usage, "--lock names a single lockfile for {} blueprints",
                    command.blueprints.size())
            .hinted(
                "--lock-dir DIR: each build has its own lockfile, BLUEPRINT.lock in this "
                "directory");
    }
}

/// Throws if two have the same `key`, which must differ.
template <typename Key>
void refuse_twins(const std::vector<Variant>& variants, Key key, std::string_view what,
                  const char* hint) {
    std::map<std::string, const Variant*> seen;
    for (const Variant& variant : variants) {
        const auto [twin, is_new] = seen.emplace(key(variant), &variant);
        if (!is_new) {
            throw error(ErrorKind::usage, "{} and {} have the same {}, {}",
                        twin->second->blueprint.string(), variant.blueprint.string(), what,
                        key(variant))
                .hinted(hint);
        }
    }
}

}  // namespace

std::vector<Variant> read_variants(const BuildCommand& command) {
    refuse_shared_lockfile(command);
    std::vector<Variant> variants;
    Mistakes mistakes;
    for (const std::filesystem::path& path : command.blueprints) {
        mistakes.attempt([&] {
            const Blueprint blueprint = load_blueprint(path, command.inputs);
            variants.push_back({path, path.stem().string(), blueprint.ostree.ref});
        });
    }
    mistakes.throw_any(command.blueprints.front().string());
    refuse_twins(
        variants, [](const Variant& variant) { return variant.ref; }, "ref",
        "give each variant a ref of its own in [ostree]; otherwise one would update the other");
    refuse_twins(
        variants, [](const Variant& variant) { return variant.name; }, "name",
        "rename one of the files: lines of output and lockfiles are named after the blueprint");
    return variants;
}

std::vector<std::string> build_arguments(const BuildCommand& command, const Variant& variant,
                                         unsigned threads) {
    std::vector<std::string> argv{"edgegpu", "build"};
    argv.insert(argv.end(), command.given.begin(), command.given.end());
    for (const char* word :
         {"--json", "--quiet", "--color", "never", "--progress-fd", "@progress", "--jobs"}) {
        argv.emplace_back(word);
    }
    argv.push_back(std::to_string(threads));
    argv.emplace_back("--");
    argv.push_back(variant.blueprint.string());
    return argv;
}

}  // namespace edgegpu
