#include "bundles/generated.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view patch_name = "patch-";

constexpr std::string_view components_directory = "components/";
/// Where components are added if config maps of theirs get values: kustomize generates config maps
/// before it adds the components of the same kustomization.
constexpr std::string_view with_components = "with-components";
constexpr const char* kustomization_name = "kustomization.yaml";

/// The value of a key of a kustomization, whose keys have no case.
const YamlNode* field_of(const YamlNode& node, std::string_view name) {
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        if (lower_case(node.keys[i]) == name) {
            return &node.items[i];
        }
    }
    return nullptr;
}

bool is_true(const YamlNode* node, std::string_view key) {
    const YamlNode* value = node == nullptr ? nullptr : field_of(*node, key);
    return value != nullptr && lower_case(value->text) == "true";
}

/// A config map of the bundle as kustomize identifies it.
struct FoundConfigMap {
    std::string name_space;
    /// its name ends in a hash of its content
    bool hashed = false;
};

/// Looks for config maps in the kustomizations of a bundle that are in use, and in their files.
class ConfigMaps {
public:
    explicit ConfigMaps(const BundleFiles& bundle) : bundle_(bundle) {}

    // NOLINTNEXTLINE(misc-no-recursion): each directory is visited once
    void visit(const std::string& directory) {
        if (!seen_.insert(directory).second) {
            return;
        }
        for (const char* name : {"kustomization.yaml", "kustomization.yml", "Kustomization"}) {
            const auto file = bundle_.files.find((fs::path(directory) / name).string());
            if (file == bundle_.files.end()) {
                continue;
            }
            for (const YamlNode& document : documents(file->first)) {
                visit_kustomization(directory, document);
            }
        }
    }

    [[nodiscard]] std::optional<FoundConfigMap> find(const std::string& name) const {
        const auto found = found_.find(name);
        return found == found_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    /// Files that are not YAML have none: kustomize says what is wrong with them.
    [[nodiscard]] std::vector<YamlNode> documents(const std::string& file) const {
        std::vector<YamlNode> all;
        Mistakes ignored;
        ignored.attempt([&] { all = read_yaml(file, bundle_.files.at(file)); });
        return all;
    }

    // NOLINTNEXTLINE(misc-no-recursion): each directory is visited once
    void visit_kustomization(const std::string& directory, const YamlNode& kustomization) {
        for (const std::string_view key : {"resources", "bases", "components"}) {
            const YamlNode* entries = field_of(kustomization, key);
            for (const YamlNode& entry : entries == nullptr ? no_nodes_ : entries->items) {
                const std::string path(
                    trim_end((fs::path(directory) / entry.text).lexically_normal().string(), "/"));
                if (bundle_.files.contains(path)) {
                    visit_manifests(path);
                } else {
                    visit(path == "." ? "" : path);
                }
            }
        }
        const YamlNode* generators = field_of(kustomization, "configmapgenerator");
        const bool none_hashed =
            is_true(field_of(kustomization, "generatoroptions"), "disablenamesuffixhash");
        for (const YamlNode& map : generators == nullptr ? no_nodes_ : generators->items) {
            const bool hashed =
                !none_hashed && !is_true(field_of(map, "options"), "disablenamesuffixhash");
            found_.insert_or_assign(map.text_at({"name"}),
                                    FoundConfigMap{map.text_at({"namespace"}), hashed});
        }
    }

    void visit_manifests(const std::string& file) {
        for (const YamlNode& document : documents(file)) {
            if (document.text_at({"kind"}) == "ConfigMap") {
                found_.insert_or_assign(
                    document.text_at({"metadata", "name"}),
                    FoundConfigMap{document.text_at({"metadata", "namespace"}), false});
            }
        }
    }

    const BundleFiles& bundle_;
    const std::vector<YamlNode> no_nodes_;
    std::set<std::string> seen_;
    std::map<std::string, FoundConfigMap> found_;
};

/// The names of the directories in `components`.
std::vector<std::string> components_of(const BundleFiles& bundle) {
    std::set<std::string> names;
    for (const auto& [file, content] : bundle.files) {
        const std::string_view path = file;
        const std::size_t end = path.rfind('/');
        if (path.starts_with(components_directory) && end >= components_directory.size() &&
            end != std::string_view::npos && is_kustomization_name(path.substr(end + 1))) {
            names.emplace(
                path.substr(components_directory.size(), end - components_directory.size()));
        }
    }
    return {names.begin(), names.end()};
}

/// Adds `key: "text"` unless the text is empty.
void add_text(YamlNode& mapping, const char* key, const std::string& text) {
    if (!text.empty()) {
        add_key(mapping, key, yaml_string(text));
    }
}

/// Makes the generated files of one bundle.
class Generating {
public:
    Generating(const BundleFiles& bundle, const BundleRequest& request) : request_(request) {
        result_.name = bundle.name;
        result_.source = bundle.source;
        result_.location = bundle.location;
        result_.moved_to = generated_base;
        for (const auto& [file, content] : bundle.files) {
            result_.files[fmt::format("{}/{}", generated_base, file)] = content;
        }
    }

    BundleFiles generate(const BundleFiles& bundle, const std::vector<BundleImage>& pins) {
        check_components(bundle);
        YamlNode top = started();
        const bool apart = !request_.components.empty() && !request_.values.empty();
        if (apart) {
            YamlNode inner = started();
            add_sources(inner, "../");
            result_.files[fmt::format("{}/{}", with_components, kustomization_name)] =
                write_yaml(inner);
            add_key(top, "resources", yaml_list({yaml_string(with_components)}));
        } else {
            add_sources(top, "");
        }
        add_text(top, "namespace", request_.name_space);
        add_images(top, pins);
        add_replicas(top);
        add_patches(top);
        add_values(top, bundle);
        result_.files[kustomization_name] = write_yaml(top);
        return std::move(result_);
    }

private:
    static YamlNode started() {
        return yaml_map({{"apiVersion", yaml_plain("kustomize.config.k8s.io/v1beta1")},
                         {"kind", yaml_plain("Kustomization")}});
    }

    void check_components(const BundleFiles& bundle) const {
        const std::vector<std::string> known = components_of(bundle);
        Mistakes mistakes;
        for (const BundleComponent& component : request_.components) {
            if (std::ranges::find(known, component.name) == known.end()) {
                const std::string near = near_names_hint(component.name, known);
                mistakes.add(error_at(component.location, "bundle \"{}\" has no component \"{}\"",
                                      bundle.name, component.name)
                                 .hinted(!near.empty() ? near
                                         : known.empty()
                                             ? "a component is a directory of the bundle's "
                                               "directory components"
                                             : fmt::format("it has {}", fmt::join(known, ", "))));
            }
        }
        mistakes.throw_any(bundle.location.file);
    }

    /// The user's files and components; `up` leads to the top.
    void add_sources(YamlNode& kustomization, std::string_view up) {
        add_key(kustomization, "resources",
                yaml_list({yaml_string(fmt::format("{}{}", up, generated_base))}));
        YamlNode list = yaml_list();
        for (const BundleComponent& component : request_.components) {
            const std::string path =
                fmt::format("{}/{}{}", generated_base, components_directory, component.name);
            list.items.push_back(yaml_string(fmt::format("{}{}", up, path)));
            name_part(path, component.location);
        }
        if (!list.items.empty()) {
            add_key(kustomization, "components", std::move(list));
        }
    }

    void add_images(YamlNode& top, const std::vector<BundleImage>& pins) const {
        YamlNode list = yaml_list();
        for (const auto* images : {&request_.images, &pins}) {
            for (const BundleImage& image : *images) {
                YamlNode entry = yaml_map({{"name", yaml_string(image.name)}});
                add_text(entry, "newName", image.new_name);
                add_text(entry, "newTag", image.new_tag);
                add_text(entry, "digest", image.digest);
                list.items.push_back(std::move(entry));
            }
        }
        if (!list.items.empty()) {
            add_key(top, "images", std::move(list));
        }
    }

    void add_replicas(YamlNode& top) {
        YamlNode list = yaml_list();
        for (const BundleReplicas& replicas : request_.replicas) {
            list.items.push_back(yaml_map({{"name", yaml_string(replicas.name)},
                                           {"count", yaml_plain(std::to_string(replicas.count))}}));
            name_part(fmt::format("resource with name {} ", replicas.name), replicas.location);
        }
        if (!list.items.empty()) {
            add_key(top, "replicas", std::move(list));
        }
    }

    void add_patches(YamlNode& top) {
        YamlNode list = yaml_list();
        for (const BundlePatch& patch : request_.patches) {
            const std::string file = fmt::format("{}{}.yaml", patch_name, list.items.size() + 1);
            result_.files[file] = patch.text;
            YamlNode entry = yaml_map({{"path", yaml_string(file)}});
            if (patch.target) {
                add_key(entry, "target", target_of(*patch.target));
            }
            list.items.push_back(std::move(entry));
            name_patch(file, patch);
        }
        if (!list.items.empty()) {
            add_key(top, "patches", std::move(list));
        }
    }

    static YamlNode target_of(const PatchTarget& target) {
        YamlNode node = yaml_map();
        add_text(node, "group", target.group);
        add_text(node, "version", target.version);
        add_text(node, "kind", target.kind);
        add_text(node, "name", target.name);
        add_text(node, "namespace", target.name_space);
        add_text(node, "labelSelector", target.label_selector);
        add_text(node, "annotationSelector", target.annotation_selector);
        return node;
    }

    /// What kustomize says of a patch: its file, its object, its first line or what of its target
    /// is no regular expression.
    void name_patch(const std::string& file, const BundlePatch& patch) {
        name_part(file, patch.location);
        Mistakes ignored;
        ignored.attempt([&] {
            for (const YamlNode& document : read_yaml(file, patch.text)) {
                const std::string name = document.text_at({"metadata", "name"});
                if (!name.empty()) {
                    name_part(fmt::format("/{}.[", name), patch.location);
                }
            }
        });
        std::string_view rest = patch.text;
        name_part(fmt::format("for patch {}", trim(take_line(rest))), patch.location);
        if (patch.target) {
            const PatchTarget& target = *patch.target;
            for (const std::string* text :
                 {&target.group, &target.version, &target.kind, &target.name, &target.name_space}) {
                if (!text->empty()) {
                    name_part(fmt::format("^(?:{})$", *text), patch.location);
                }
            }
        }
    }

    void add_values(YamlNode& top, const BundleFiles& bundle) {
        if (request_.values.empty()) {
            return;
        }
        ConfigMaps existing(bundle);
        existing.visit("");
        for (const BundleComponent& component : request_.components) {
            existing.visit(std::string(components_directory) + component.name);
        }
        YamlNode list = yaml_list();
        for (const BundleValues& values : request_.values) {
            list.items.push_back(config_map_of(values, existing.find(values.name)));
            name_part(fmt::format("Name:\"{}\"", values.name), values.location);
        }
        add_key(top, "configMapGenerator", std::move(list));
    }

    YamlNode config_map_of(const BundleValues& values,
                           const std::optional<FoundConfigMap>& existing) {
        YamlNode entry = yaml_map({{"name", yaml_string(values.name)}});
        if (existing) {
            add_text(entry, "namespace", existing->name_space);
            add_key(entry, "behavior", yaml_plain("merge"));
        }
        // Of literals kustomize would remove quotes at both ends.
        YamlNode files = yaml_list();
        for (const auto& [key, value] : values.entries) {
            const std::string path = fmt::format("values/{}/{}", values.name, key);
            result_.files[path] = value;
            files.items.push_back(yaml_string(fmt::format("{}={}", key, path)));
            name_part(path, values.location);
        }
        add_key(entry, "files", std::move(files));
        if (!existing || !existing->hashed) {
            add_key(entry, "options", yaml_map({{"disableNameSuffixHash", yaml_plain("true")}}));
        }
        return entry;
    }

    void name_part(std::string called, const SourceLocation& location) {
        result_.parts.push_back({std::move(called), location});
    }

    const BundleRequest& request_;
    BundleFiles result_;
};

}  // namespace

bool is_generated_patch(std::string_view file) {
    return file.starts_with(patch_name) && file.find('/') == std::string_view::npos;
}

bool is_customised(const BundleRequest& request) {
    return !request.name_space.empty() || !request.components.empty() || !request.images.empty() ||
           !request.replicas.empty() || !request.patches.empty() || !request.values.empty();
}

BundleFiles generate_bundle(const BundleFiles& bundle, const BundleRequest& request,
                            const std::vector<BundleImage>& pins) {
    if (!is_customised(request) && pins.empty()) {
        return bundle;
    }
    return Generating(bundle, request).generate(bundle, pins);
}

}  // namespace edgegpu
