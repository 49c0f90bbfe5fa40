#include "customise/files/packaged_secrets.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "customise/files/package_owner.hpp"
#include "support/error.hpp"
#include "support/path_glob.hpp"
#include "support/written_secrets.hpp"

namespace edgegpu {

namespace {

/// A login or token is a few kilobytes.
constexpr std::uint64_t largest_secret = 1U << 20U;

/// Where podman, skopeo, CRI-O, the kubelet, ostree and docker look for logins; packages have
/// examples elsewhere.
constexpr std::array places{
    "/etc/**auth.json",          "/root/**auth.json",
    "/home/**auth.json",         "/var/**auth.json",
    "/run/**auth.json",          "/usr/etc/**auth.json",
    "/usr/lib/ostree/auth.json", "/etc/crio/*pull-secret*",
    "/**/.dockerconfigjson",     "/**/.dockercfg",
    "/**/.docker/config.json",   "/var/lib/kubelet/config.json",
    "/**/openshift-pull-secret", "/**.tok",
};

bool is_place(std::string_view path) {
    static const std::vector<PathGlob> globs = [] {
        std::vector<PathGlob> made;
        made.reserve(places.size());
        for (const char* place : places) {
            made.emplace_back(place);
        }
        return made;
    }();
    return std::any_of(globs.begin(), globs.end(),
                       [&](const PathGlob& glob) { return glob.matches(path); });
}

/// Most paths are none, and a glob costs more than this.
bool may_be_place(std::string_view path) {
    return path.ends_with(".tok") || path.ends_with("json") || path.ends_with(".dockercfg") ||
           path.find("pull-secret") != std::string_view::npos;
}

}  // namespace

void refuse_packaged_secrets(const Context& ctx, const PlacedPaths& placed, const Tree& tree) {
    Mistakes mistakes;
    for (const auto& [path, entry] : tree.entries) {
        if (entry.type != EntryType::file || entry.size > largest_secret || !may_be_place(path) ||
            !is_place(path) || placed.contains(path)) {
            continue;
        }
        const std::vector<WrittenSecret> secrets =
            find_written_secrets(path, read_entry(tree, path));
        if (secrets.empty()) {
            continue;
        }
        const std::string package = package_of(ctx, tree, path);
        mistakes.add(
            error("{} has {}{}: everybody who can read the repository or a device gets it", path,
                  secrets.front().kind, package.empty() ? "" : " (of package " + package + ")")
                .hinted("take it out of the package, and give it to each machine when its image is "
                        "made (edgegpu image --inject) or on the device"));
    }
    mistakes.throw_any("the image");
}

}  // namespace edgegpu
