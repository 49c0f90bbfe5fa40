#include "pipeline/image_mounts.hpp"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/volume_mounts.hpp"
#include "support/error.hpp"

namespace edgegpu {

void check_image_mounts(const Context& ctx, const Blueprint& blueprint, const Tree& tree) {
    MountFiles files;
    for (const auto& [path, entry] : tree.entries) {
        if (entry.type == EntryType::file && is_mount_file(path)) {
            files[path] = {path + " of the image", false, read_entry(tree, path)};
        }
    }
    const std::vector<std::string> refused =
        refused_mounts(mount_points_of(blueprint.image.volumes), files);
    if (!refused.empty()) {
        throw error(ErrorKind::usage, "{}", fmt::join(refused, "\n"))
            .hinted(std::string(refused_mounts_hint));
    }
    if (tree.update_system != UpdateSystem::ostree) {
        return;
    }
    std::optional<std::vector<std::string>> directories;
    if (!blueprint.parent) {
        directories = blueprint.mount_points;
    }
    for (const MisplacedMount& mount : misplaced_mounts(directories, files)) {
        ctx.console->warn(fmt::format("{}: {}", mount.problem, mount.hint));
    }
}

}  // namespace edgegpu
