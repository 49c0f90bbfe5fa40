#include "bundles/install/tombstones.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/validate.hpp"
#include "bundles/install/cluster_namespace.hpp"
#include "bundles/install/installed.hpp"
#include "bundles/install/system_objects.hpp"
#include "schema/kind_problem.hpp"
#include "schema/kubernetes_schemas.hpp"
#include "support/error.hpp"
#include "support/text/number.hpp"
#include "yaml/yaml_writer.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view commits_left = "edgegpu/commits-left";
constexpr const char* objects_name = "objects.yaml";
/// More bundles of a parent, which each take a run of a program, are not looked at.
constexpr std::ptrdiff_t most_bundles = 256;
/// Names of objects have no others besides letters and digits (roles may have colons).
constexpr std::string_view name_characters = "_.-:";

/// What a tombstone needs of an object.
struct DeletedObject {
    std::string api_version;
    std::string kind;
    std::string name_space;
    std::string name;

    /// Objects of all versions of an API group are the same.
    [[nodiscard]] std::tuple<std::string, std::string, std::string, std::string> identity() const {
        return {std::string(group_of(api_version)), kind, name_space, name};
    }
    bool operator<(const DeletedObject& other) const { return identity() < other.identity(); }
};

using DeletedObjects = std::set<DeletedObject>;

/// Deleting one of these loses data, or takes with it what others have made in it.
bool holds_data(const DeletedObject& object) {
    static constexpr std::array<std::string_view, 4> kinds{
        "Namespace", "PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition"};
    return std::ranges::find(kinds, object.kind) != kinds.end();
}

/// Kinds of OpenShift that MicroShift always serves.
bool is_of_openshift(const DeletedObject& object) {
    return (object.api_version == "route.openshift.io/v1" && object.kind == "Route") ||
           (object.api_version == "security.openshift.io/v1" &&
            object.kind == "SecurityContextConstraints");
}

/// The bundles of an image that deletes, by name.
struct Dropped {
    DeletedObjects objects;
    std::int64_t left = 0;
};

/// Makes the tombstones of one image.
class Burying {
public:
    Burying(const Context& ctx, const MicroshiftRequest& request, KubernetesVersion kubernetes,
            Renderer renderer)
        : ctx_(ctx), request_(request), schemas_(kubernetes), renderer_(std::move(renderer)) {}

    /// What the image has; nothing is deleted unless all of it is known.
    bool add_image(const std::vector<RenderedBundle>& bundles, const ManifestFiles& image) {
        for (const RenderedBundle& bundle : bundles) {
            names_.insert(bundle.name);
            add_present(bundle.objects);
        }
        const std::set<std::string> own = names_;
        for (const BundleFiles& other : installed_bundles(image)) {
            if (own.contains(other.name) &&
                other.source == fmt::format("{}/{}", request_.manifests, other.name)) {
                continue;
            }
            names_.insert(other.name);
            const auto objects = rendered(other, "no bundle of the parent is deleted");
            if (!objects) {
                return false;
            }
            add_present(*objects);
        }
        return true;
    }

    void add_parent(const ManifestFiles& parent) {
        for (const BundleFiles& tombstone : limited(installed_tombstones(parent), "tombstones")) {
            add_earlier(tombstone);
        }
        std::vector<BundleFiles> gone = installed_bundles(parent);
        std::erase_if(gone, [&](const BundleFiles& bundle) {
            return names_.contains(bundle.name) || !usable_name(bundle);
        });
        for (const BundleFiles& bundle : limited(std::move(gone), "bundles that are gone")) {
            if (const auto objects = rendered(bundle, "its objects are left on the devices")) {
                for (const KubeObject& object : *objects) {
                    add_object(bundle.name,
                               {object.api_version, object.kind, object.name_space, object.name});
                }
            }
        }
    }

    Tombstones result() {
        for (auto& [name, dropped] : dropped_) {
            if (!dropped.objects.empty()) {
                write(name, dropped);
            }
        }
        for (const auto& [name, titles] : kept_) {
            result_.warnings.push_back(
                fmt::format("bundle \"{}\" is gone, but devices keep what holds data: {}", name,
                            fmt::join(titles, ", ")));
        }
        for (const auto& [name, titles] : system_) {
            result_.warnings.push_back(
                fmt::format("bundle \"{}\" is gone, but devices keep what MicroShift or Kubernetes "
                            "need, as the "
                            "bundle left it: {}",
                            name, fmt::join(titles, ", ")));
        }
        for (const auto& [name, titles] : custom_) {
            result_.warnings.push_back(fmt::format(
                "bundle \"{}\" is gone, but devices keep objects of kinds that not every "
                "MicroShift has: {}",
                name, fmt::join(titles, ", ")));
        }
        return std::move(result_);
    }

private:
    void add_present(const std::vector<KubeObject>& objects) {
        for (const KubeObject& object : objects) {
            DeletedObject present =
                normal({object.api_version, object.kind, object.name_space, object.name});
            used_namespaces_.insert(present.name_space);
            present_.insert(std::move(present));
        }
    }

    std::optional<std::vector<KubeObject>> rendered(const BundleFiles& bundle,
                                                    std::string_view consequence) {
        std::optional<std::vector<KubeObject>> objects;
        try {
            objects = render_bundle(ctx_, renderer_, bundle).objects;
        } catch (const Error& failure) {
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            ctx_.log.info("does not render",
                          {{"directory", bundle.source.string()}, {"error", failure.message()}});
            result_.warnings.push_back(
                fmt::format("{} does not render: {}", bundle.source.string(), consequence));
        }
        return objects;
    }

    /// The first ones, and a warning if there are more.
    std::vector<BundleFiles> limited(std::vector<BundleFiles> bundles, std::string_view what) {
        if (std::ssize(bundles) > most_bundles) {
            result_.warnings.push_back(fmt::format(
                "the parent commit has {} {}: the objects of all but {} are left on the devices",
                bundles.size(), what, most_bundles));
            bundles.erase(bundles.begin() + most_bundles, bundles.end());
        }
        return bundles;
    }

    bool usable_name(const BundleFiles& bundle) {
        const bool usable = is_plain_name(bundle.name, "_.-");
        if (!usable) {
            result_.warnings.push_back(
                fmt::format("{}: a bundle with an unusual name, whose objects are left on the "
                            "devices",
                            bundle.source.string()));
        }
        return usable;
    }

    [[nodiscard]] DeletedObject normal(DeletedObject object) const {
        object.name_space =
            namespace_in_cluster(schemas_, object.api_version, object.kind, object.name_space);
        return object;
    }

    static std::string title_of(const DeletedObject& object) {
        return object.name_space.empty()
                   ? fmt::format("{} {}", object.kind, object.name)
                   : fmt::format("{} {}/{}", object.kind, object.name_space, object.name);
    }

    /// Whether it is a namespace in which the image has objects.
    [[nodiscard]] bool is_inhabited(const DeletedObject& object) const {
        return object.kind == "Namespace" && used_namespaces_.contains(object.name);
    }

    static bool is_of_system(const DeletedObject& object) {
        const std::string group = std::get<0>(object.identity());
        return belongs_to_system(group, object.kind, object.name_space, object.name);
    }

    void add_object(const std::string& bundle, const DeletedObject& given) {
        const DeletedObject object = normal(given);
        if (present_.contains(object) || !is_plain_name(object.name, name_characters)) {
            return;
        }
        if (is_of_system(object)) {
            system_[bundle].push_back(title_of(object));
            return;
        }
        if (!schemas_.scope_of(object.api_version, object.kind) && !is_of_openshift(object)) {
            custom_[bundle].push_back(title_of(object));
            return;
        }
        if (is_inhabited(object)) {
            return;
        }
        if (holds_data(object) && !request_.delete_data) {
            kept_[bundle].push_back(title_of(object));
            return;
        }
        Dropped& dropped = dropped_[bundle];
        dropped.left = request_.tombstones;
        dropped.objects.insert(object);
    }

    /// A tombstone of the parent, for one commit less.
    void add_earlier(const BundleFiles& tombstone) {
        Mistakes mistakes;
        std::int64_t left = 0;
        std::vector<YamlNode> objects;
        const bool read = mistakes.attempt([&] {
            left = left_in(tombstone);
            const auto file = tombstone.files.find(objects_name);
            objects =
                file == tombstone.files.end() ? objects : read_yaml(file->first, file->second);
        });
        if (!read || !is_plain_name(tombstone.name, "_.-")) {
            result_.warnings.push_back(
                fmt::format("{}: a tombstone of the parent that cannot be "
                            "read",
                            tombstone.source.string()));
            return;
        }
        left = std::min(left - 1, request_.tombstones - 1);
        if (left <= 0) {
            return;
        }
        for (const YamlNode& node : objects) {
            const DeletedObject object = normal(
                {node.text_at({"apiVersion"}), node.text_at({"kind"}),
                 node.text_at({"metadata", "namespace"}), node.text_at({"metadata", "name"})});
            const bool known =
                schemas_.scope_of(object.api_version, object.kind) || is_of_openshift(object);
            if (is_plain_name(object.name, name_characters) && known &&
                !present_.contains(object) && !is_inhabited(object) && !is_of_system(object) &&
                (request_.delete_data || !holds_data(object))) {
                Dropped& dropped = dropped_[tombstone.name];
                dropped.left = left;
                dropped.objects.insert(object);
            }
        }
    }

    /// 0 for a tombstone that edgegpu did not make.
    static std::int64_t left_in(const BundleFiles& tombstone) {
        const auto file = tombstone.files.find("kustomization.yaml");
        if (file == tombstone.files.end()) {
            return 0;
        }
        const std::vector<YamlNode> documents = read_yaml(file->first, file->second);
        const std::string text =
            documents.empty() ? ""
                              : documents[0].text_at({"metadata", "annotations", commits_left});
        return whole_number<std::int64_t>(text).value_or(0);
    }

    void write(const std::string& name, const Dropped& dropped) {
        std::string objects;
        for (const DeletedObject& object : dropped.objects) {
            YamlNode metadata = yaml_map({{"name", yaml_string(object.name)}});
            if (!object.name_space.empty()) {
                add_key(metadata, "namespace", yaml_string(object.name_space));
            }
            objects += objects.empty() ? "" : "---\n";
            objects += write_yaml(yaml_map({{"apiVersion", yaml_string(object.api_version)},
                                            {"kind", yaml_string(object.kind)},
                                            {"metadata", std::move(metadata)}}));
        }
        YamlNode annotations =
            yaml_map({{std::string(commits_left), yaml_string(std::to_string(dropped.left))}});
        const std::string kustomization =
            write_yaml(yaml_map({{"apiVersion", yaml_plain("kustomize.config.k8s.io/v1beta1")},
                                 {"kind", yaml_plain("Kustomization")},
                                 {"metadata", yaml_map({{"annotations", std::move(annotations)}})},
                                 {"resources", yaml_list({yaml_string(objects_name)})}}));
        const std::string directory = fmt::format(
            "{}/{}/{}",
            request_.manifests == ManifestsPlace::usr ? ManifestsPlace::usr : ManifestsPlace::etc,
            tombstones_directory, name);
        const BundleFiles made{
            name, directory, {}, {{"kustomization.yaml", kustomization}, {objects_name, objects}}};
        if (rendered(made, "its objects are left on the devices")) {
            for (const auto& [file, content] : made.files) {
                result_.files[directory + '/' + file] = content;
            }
            result_.bundles.push_back(name);
        }
    }

    const Context& ctx_;
    const MicroshiftRequest& request_;
    KubernetesSchemas schemas_;
    Renderer renderer_;
    std::set<std::string> names_;
    DeletedObjects present_;
    std::set<std::string> used_namespaces_;
    std::map<std::string, Dropped> dropped_;
    std::map<std::string, std::vector<std::string>> kept_;
    std::map<std::string, std::vector<std::string>> custom_;
    std::map<std::string, std::vector<std::string>> system_;
    Tombstones result_;
};

/// Nothing and a warning if there is none.
std::optional<Renderer> renderer_or_warning(const Context& ctx, Tombstones& result) {
    try {
        return find_renderer(ctx);
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        result.warnings.push_back(
            fmt::format("{} ({}): devices keep the objects of bundles that are gone",
                        failure.message(), failure.hint()));
        return std::nullopt;
    }
}

}  // namespace

Tombstones make_tombstones(const Context& ctx, const MicroshiftRequest& request,
                           const std::vector<RenderedBundle>& bundles, const ManifestFiles& image,
                           const ManifestFiles& parent, KubernetesVersion kubernetes) {
    if (request.tombstones == 0 ||
        (installed_bundles(parent).empty() && installed_tombstones(parent).empty())) {
        return {};
    }
    Tombstones none;
    std::optional<Renderer> renderer = renderer_or_warning(ctx, none);
    if (!renderer) {
        return none;
    }
    Burying burying(ctx, request, kubernetes, std::move(*renderer));
    if (burying.add_image(bundles, image)) {
        burying.add_parent(parent);
    }
    return burying.result();
}

}  // namespace edgegpu
