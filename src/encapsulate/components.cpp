#include "encapsulate/components.hpp"

#include <algorithm>
#include <string_view>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t large_file = 1U << 20U;
constexpr std::string_view container_layers = "/usr/share/containers/storage/overlay/";
/// Enough of a layer's id.
constexpr std::size_t id_digits = 16;
/// Without packages: "/usr/lib/modules".
constexpr std::size_t directory_levels = 3;

/// The component of a path that no package has; empty if there is no rule for it.
std::string generated(std::string_view path) {
    if (path.starts_with("/usr/lib/modules/") && path.ends_with("/initramfs.img")) {
        return "initramfs";
    }
    if (is_below(path, "/usr/share/rpm") || is_below(path, "/usr/lib/sysimage/rpm") ||
        is_below(path, "/usr/lib/sysimage/rpm-ostree-base-db")) {
        return "rpmdb";
    }
    if (is_below(path, "/usr/etc/selinux")) {
        return "selinux-policy";
    }
    if (path.starts_with(container_layers)) {
        const std::string_view id = path.substr(container_layers.size());
        return "container-layer:" + std::string(id.substr(0, std::min(id.find('/'), id_digits)));
    }
    return {};
}

std::string top_directories(std::string_view path) {
    std::size_t end = 0;
    for (std::size_t level = 0; level < directory_levels; ++level) {
        const std::size_t next = path.find('/', end + 1);
        if (next == std::string_view::npos) {
            break;
        }
        end = next;
    }
    return end == 0 ? "/" : std::string(path.substr(0, end));
}

std::string component_of(const std::string& path, const ContentObject& object,
                         const FileOwners& packages) {
    if (const std::string_view owner = packages.owner(path); !owner.empty()) {
        return std::string(owner);
    }
    if (std::string name = generated(path); !name.empty()) {
        return name;
    }
    if (packages.empty()) {
        return top_directories(path);
    }
    return object.size >= large_file ? path : unpackaged_component;
}

}  // namespace

std::map<std::string, Component> divide(const ContainerTree& tree, const FileOwners& packages) {
    std::map<std::string, Component> components;
    for (const auto& [checksum, object] : tree.objects) {
        // Of equal files of several packages, the first by name has the object.
        std::string best;
        for (const std::string& path : object.paths) {
            std::string name = component_of(path, object, packages);
            // What nobody owns yields to a package that has the same file.
            if (best.empty() || best == unpackaged_component ||
                (name < best && name != unpackaged_component)) {
                best = std::move(name);
            }
        }
        // The separator of the annotation with the names.
        std::replace(best.begin(), best.end(), ',', '_');
        Component& component = components[best];
        component.size += object.size;
        component.objects.push_back(checksum);
    }
    return components;
}

}  // namespace edgegpu
