#include "bundles/install/installed.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "yaml/yaml.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view each_directory = "/*";

/// Whether there is a kustomization at the top, or in the directory "NAME/".
bool has_kustomization(const BundleFiles& bundle, std::string_view directory = {}) {
    return std::ranges::any_of(bundle.files, [&](const auto& file) {
        return file.first.starts_with(directory) &&
               is_kustomization_name(std::string_view(file.first).substr(directory.size()));
    });
}

/// The files below a directory.
BundleFiles bundle_in(const ManifestFiles& manifests, const std::string& name,
                      const std::string& directory) {
    BundleFiles bundle{name, directory, {}, {}};
    const std::string prefix = directory + '/';
    for (auto file = manifests.lower_bound(prefix);
         file != manifests.end() && file->first.starts_with(prefix); ++file) {
        bundle.files[file->first.substr(prefix.size())] = file->second;
    }
    return bundle;
}

/// The names of the directories in a directory.
std::set<std::string> names_in(const ManifestFiles& manifests, const std::string& directory) {
    std::set<std::string> names;
    const std::string prefix = directory + '/';
    for (auto file = manifests.lower_bound(prefix);
         file != manifests.end() && file->first.starts_with(prefix); ++file) {
        const std::size_t end = file->first.find('/', prefix.size());
        if (end != std::string::npos) {
            names.insert(file->first.substr(prefix.size(), end - prefix.size()));
        }
    }
    return names;
}

/// The directories that a kustomization lists, if it does nothing but that.
std::optional<std::set<std::string>> only_lists(const BundleFiles& bundle) {
    std::vector<YamlNode> documents;
    Mistakes ignored;
    ignored.attempt([&] {
        const auto file = bundle.files.find("kustomization.yaml");
        documents = file == bundle.files.end() ? documents : read_yaml(file->first, file->second);
    });
    if (documents.size() != 1) {
        return std::nullopt;
    }
    // The list of a hostile parent may have one name a million times.
    std::set<std::string> names;
    for (const std::string& key : documents[0].keys) {
        if (key == "resources") {
            for (const YamlNode& name : documents[0].find(key)->items) {
                names.insert(name.text);
            }
        } else if (key != "apiVersion" && key != "kind") {
            return std::nullopt;
        }
    }
    const bool directories = std::ranges::all_of(names, [&](const std::string& name) {
        return name.find('/') == std::string::npos && has_kustomization(bundle, name + '/');
    });
    return directories && !names.empty() ? std::optional(names) : std::nullopt;
}

void add_installed(const BundleFiles& bundle, std::vector<BundleFiles>& found) {
    if (has_kustomization(bundle)) {
        found.push_back(bundle);
    }
}

/// Calls `visit` with each directory of which each directory is applied.
template <typename Visit>
void each_manifests_d(Visit visit) {
    for (const std::string& place : manifest_places()) {
        if (place.ends_with(each_directory)) {
            visit(place.substr(0, place.size() - each_directory.size()));
        }
    }
}

}  // namespace

const std::vector<std::string>& manifest_places() {
    static const std::vector<std::string> places{
        "/usr/lib/microshift/manifests", "/usr/lib/microshift/manifests.d/*",
        "/etc/microshift/manifests", "/etc/microshift/manifests.d/*"};
    return places;
}

std::vector<BundleFiles> installed_bundles(const ManifestFiles& manifests) {
    std::vector<BundleFiles> found;
    for (const std::string& place : manifest_places()) {
        if (place.ends_with(each_directory)) {
            continue;
        }
        const BundleFiles whole = bundle_in(manifests, "manifests", place);
        if (const auto names = only_lists(whole)) {
            for (const std::string& name : *names) {
                add_installed(bundle_in(manifests, name, place + '/' + name), found);
            }
        } else {
            add_installed(whole, found);
        }
    }
    each_manifests_d([&](const std::string& place) {
        for (const std::string& name : names_in(manifests, place)) {
            if (name != tombstones_directory) {
                add_installed(bundle_in(manifests, name, place + '/' + name), found);
            }
        }
    });
    return found;
}

std::vector<BundleFiles> installed_tombstones(const ManifestFiles& manifests) {
    std::vector<BundleFiles> found;
    each_manifests_d([&](const std::string& place) {
        const std::string directory = fmt::format("{}/{}", place, tombstones_directory);
        for (const std::string& name : names_in(manifests, directory)) {
            add_installed(bundle_in(manifests, name, directory + '/' + name), found);
        }
    });
    return found;
}

}  // namespace edgegpu
