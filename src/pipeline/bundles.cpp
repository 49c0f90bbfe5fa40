#include "pipeline/bundles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bundles/image_pins.hpp"
#include "bundles/install/installed.hpp"
#include "bundles/install/parent_bundles.hpp"
#include "bundles/install/tombstones.hpp"
#include "bundles/wanted_images.hpp"
#include "customise/files/files.hpp"
#include "customise/microshift/config_drop_in.hpp"
#include "microshift/effective_config.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// The digests by which manifests refer to embedded images.
std::map<std::string, std::string> digests_to_pin(const std::vector<ImagePattern>& embedded,
                                                  const std::vector<ResolvedImage>& images) {
    std::map<std::string, std::string> digests;
    for (const ResolvedImage& image : images) {
        if (is_chosen(embedded, image.name)) {
            digests.emplace(image.name, image.digest);
        }
    }
    return digests;
}

/// The parent's manifests; nothing and a warning if they cannot be read.
ManifestFiles manifests_of_parent(const Context& ctx, const Repo& repo, const Parent& parent) {
    try {
        return read_manifests(repo, parent.checksum);
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        ctx.console->warn(fmt::format(
            "the parent commit's bundles cannot be read ({}): devices keep the objects of bundles "
            "that are gone",
            failure.message()));
        return {};
    }
}

/// Where MicroShift looks for manifests, unless it is configured otherwise.
constexpr std::array<const char*, 2> microshift_directories{"/etc/microshift",
                                                            "/usr/lib/microshift"};

bool is_manifests_path(std::string_view path) {
    return std::ranges::any_of(microshift_directories, [&](std::string_view top) {
        if (!path.starts_with(top)) {
            return false;
        }
        const std::string_view below = path.substr(top.size());
        const std::string_view name = below.substr(0, below.find('/', 1));
        return name.empty() || name == "/manifests" || name == "/manifests.d";
    });
}

/// Why it is not known which objects the image's MicroShift applies, or empty. What links lead to
/// is not read; what a bundle of the parent brought may be there.
std::string unknown_of_image(const Tree& tree) {
    for (const char* top : microshift_directories) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, top)) {
            if (entry.type == EntryType::symlink && is_manifests_path(path)) {
                return fmt::format(
                    "the image's {} is a link, and what it leads to is not looked at", path);
            }
        }
    }
    const nlohmann::json config = effective_config(config_files_of(tree)).values;
    const nlohmann::json::json_pointer paths("/manifests/kustomizePaths");
    if (config.contains(paths) && config.at(paths) != nlohmann::json(manifest_places())) {
        return "the image's configuration of MicroShift sets manifests.kustomizePaths, and only "
               "its default is known";
    }
    return {};
}

/// The manifests of an image, by their paths.
ManifestFiles manifests_in(const Tree& tree) {
    ManifestFiles manifests;
    for (const char* top : microshift_directories) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, top)) {
            if (entry.type == EntryType::file && is_manifests_path(path)) {
                manifests[path] = read_entry(tree, path);
            }
        }
    }
    return manifests;
}

/// A bundle of the parent that is gone from it has a tombstone there, which stays as it is.
void remove_those_of_parent(const ManifestFiles& image, Tombstones& made) {
    for (const BundleFiles& tombstone : installed_tombstones(image)) {
        const std::string directory = tombstone.source.string() + '/';
        std::erase_if(made.files,
                      [&](const auto& file) { return file.first.starts_with(directory); });
        std::erase(made.bundles, tombstone.name);
    }
}

}  // namespace

ImageFacts facts_of_image(const Blueprint& blueprint, const Resolution& resolution) {
    ImageFacts facts = facts_of(blueprint);
    facts.packages.clear();
    facts.resolved = true;
    for (const Nevra& package : packages_of_image(resolution)) {
        facts.packages.insert(package.name);
        if (package.name == "microshift") {
            facts.kubernetes = kubernetes_for(package.version);
        }
    }
    facts.driver = resolution.driver_version;
    facts.may_have_driver = facts.may_have_driver || may_bring_driver(facts.packages);
    return facts;
}

std::vector<RenderedBundle> pin_resolved_images(const Context& ctx,
                                                const MicroshiftRequest& request,
                                                const Resolution& resolution,
                                                std::vector<RenderedBundle> bundles) {
    return pin_bundles(ctx, request.bundles, std::move(bundles),
                       digests_to_pin(request.embed_images, images_of_image(resolution)));
}

void check_bundles_on_parent(const Context& ctx, const Blueprint& blueprint,
                             const std::vector<RenderedBundle>& bundles,
                             KubernetesVersion kubernetes, const Tree& tree) {
    if (blueprint.parent && !bundles.empty()) {
        check_beside_parent(ctx, bundles, manifests_in(tree), kubernetes);
    }
}

void add_tombstones(const Context& ctx, const Blueprint& blueprint,
                    const std::vector<RenderedBundle>& bundles, KubernetesVersion kubernetes,
                    const Repo& repo, const Parent& parent, Tree& tree) {
    const MicroshiftRequest& request = blueprint.microshift;
    const ManifestFiles before = manifests_of_parent(ctx, repo, parent);
    const ManifestFiles image = before.empty() ? ManifestFiles() : manifests_in(tree);
    Tombstones made = make_tombstones(ctx, request, bundles, image, before, kubernetes);
    if (blueprint.parent) {
        remove_those_of_parent(image, made);
    }
    const std::string unknown = made.files.empty() ? "" : unknown_of_image(tree);
    if (!unknown.empty()) {
        ctx.console->warn(
            fmt::format("{}: devices keep the objects of bundles that are gone", unknown));
        return;
    }
    for (const std::string& warning : made.warnings) {
        ctx.console->warn(warning);
    }
    for (const std::string& bundle : made.bundles) {
        ctx.console->note(
            fmt::format("bundle \"{}\" is gone: MicroShift deletes its objects", bundle));
    }
    add_manifests(ctx, request.location, made.files, tree);
}

}  // namespace edgegpu
