#include "disk/volumes.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/volume_group.hpp"
#include "blueprint/volume_mounts.hpp"
#include "disk/ext4/disk_write.hpp"
#include "disk/partitions.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Of a file system that grows: with a journal that does not.
constexpr std::uint64_t least_content = 128 * mib;

constexpr std::uint64_t largest_mount_file = mib;

/// Where the file system of a volume is mounted whose directories are mounted elsewhere.
std::string hidden_point(const Partition& partition) {
    return "/run/edgegpu/volumes/" + partition.uuid;
}

/// The directory at which a volume is mounted, in the root directory of a device.
FileTree& directory_for(const VolumeMount& mount, FileTree& top, const ImageLabels& labels,
                        std::int64_t time) {
    return directory_at(top, "", mount.point, "no file system can be mounted at " + mount.point,
                        labels, time);
}

}  // namespace

void shrink_volumes(const DiskRequest& request, const CommitView& commit,
                    std::vector<Partition>& partitions) {
    if (request.size != smallest_size) {
        return;
    }
    const auto growing = std::ranges::find(request.volumes, VolumeUse::file_system, &Volume::use);
    if (growing != request.volumes.end() && !commit.find("/usr/lib/systemd/systemd-growfs")) {
        throw error(
            "commit {}: the image has no /usr/lib/systemd/systemd-growfs, which grows the "
            "file system {} to the size of its partition",
            commit.info().name, growing->name());
    }
    const std::uint64_t injected = sum_of(
        request.injection, [&](const Injected& one) { return one.content.size() + swap_header; });
    const std::uint64_t least = (least_content + injected + mib - 1) / mib * mib;
    for (const Volume& volume : request.volumes) {
        const auto partition = std::ranges::find(partitions, volume.name(), &Partition::name);
        partition->content =
            std::min(partition->size, volume.use() == VolumeUse::file_system ? least : empty_group);
    }
}

std::vector<FstabLine> volume_fstab(const std::vector<Volume>& volumes,
                                    const std::vector<Partition>& partitions) {
    std::vector<FstabLine> lines;
    for (const Volume& volume : volumes) {
        const Partition& partition = *find_partition(partitions, volume.name());
        const std::string device = "PARTUUID=" + partition.uuid;
        if (volume.use() == VolumeUse::swap) {
            lines.push_back({"none", device + " none swap defaults 0 0\n"});
        }
        if (volume.use() != VolumeUse::file_system) {
            continue;
        }
        const bool whole = volume.mounts.front().directory.empty();
        const std::string point = whole ? volume.mounts.front().point : hidden_point(partition);
        const bool grows = partition.content < partition.size;
        lines.push_back({point, fmt::format("{} {} ext4 defaults{} 0 2\n", device, point,
                                            grows ? ",x-systemd.growfs" : "")});
        for (const VolumeMount& mount : volume.mounts) {
            if (!whole) {
                lines.push_back({mount.point, fmt::format("{}/{} {} none bind 0 0\n", point,
                                                          mount.directory, mount.point)});
            }
        }
    }
    return lines;
}

std::string missing_for(const Volume& volume, const CommitView& commit) {
    if (volume.use() == VolumeUse::group &&
        std::ranges::none_of(volume_group_programs, [&](std::string_view program) {
            return commit.find(program).has_value();
        })) {
        return fmt::format("vgcreate, which makes the {} on devices", volume.name());
    }
    for (const VolumeMount& mount : volume.mounts) {
        const std::optional<CommitPath> there =
            is_path_of_device(mount.point) ? std::nullopt : commit.describe(mount.point);
        if (!is_path_of_device(mount.point) && (!there || there->type != EntryType::directory)) {
            return fmt::format("directory {}, on which a file system would be mounted",
                               mount.point);
        }
    }
    return {};
}

std::vector<std::string> unused_mount_points(const std::vector<Volume>& volumes,
                                             const CommitView& commit) {
    static const std::set<std::string, std::less<>> known{
        "bin",  "boot", "dev", "etc",  "home", "lib", "lib64",   "media", "mnt", "opt", "ostree",
        "proc", "root", "run", "sbin", "srv",  "sys", "sysroot", "tmp",   "usr", "var"};
    std::vector<std::string> unused;
    const std::optional<CommitNode> top = commit.find("/");
    if (!top) {
        return unused;
    }
    for (const auto& [name, entry] : commit.list(*top, "/")) {
        const std::string path = '/' + name;
        const bool used = std::ranges::any_of(volumes, [&](const Volume& volume) {
            return std::ranges::any_of(volume.mounts, [&](const VolumeMount& mount) {
                return is_below(mount.point, path);
            });
        });
        if (entry.directory && !used && !known.contains(name)) {
            unused.push_back(path);
        }
    }
    return unused;
}

void check_volumes(const std::vector<Volume>& volumes, const CommitView& commit,
                   const Injection& injection) {
    MountFiles files;
    const auto see = [&](const std::string& path) {
        if (const auto text = commit.read("/usr" + path, largest_mount_file)) {
            files[path] = {fmt::format("commit {}: {}", commit.info().name, path), false, *text};
        }
    };
    std::vector<std::string> points = mount_points_of(volumes);
    points.insert(points.end(), {"/", "/boot"});
    see("/etc/fstab");
    for (const std::string& point : points) {
        see("/etc/systemd/system/" + mount_unit_of(point));
    }
    for (const Injected& one : injection) {
        if (is_mount_file(one.path)) {
            files[one.path] = {one.path + ", which is injected", false, one.content};
        }
    }
    for (const std::string& refused : refused_mounts(points, files)) {
        throw error("{}", refused).hinted(std::string(refused_mounts_hint));
    }
    for (const Volume& volume : volumes) {
        if (const std::string missing = missing_for(volume, commit); !missing.empty()) {
            throw error("commit {} has no {}", commit.info().name, missing)
                .hinted(volume.use() == VolumeUse::group
                            ? R"(add package "lvm2" to the blueprint)"
                            : "build it with this blueprint: a build makes the directory");
        }
    }
}

std::vector<FileTree> take_volume_trees(const std::vector<Volume>& volumes,
                                        const ImageLabels& labels, std::int64_t time,
                                        FileTree& var) {
    FileTree top;
    top.directories["var"] = std::move(var);
    // Position of the volume, by mount point: those below others come last.
    std::map<std::string, std::pair<std::size_t, const VolumeMount*>> points;
    std::vector<FileTree> trees(volumes.size());
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        for (const VolumeMount& mount : volumes[i].mounts) {
            points[mount.point] = {i, &mount};
            static_cast<void>(directory_for(mount, top, labels, time));
        }
    }
    for (auto at = points.rbegin(); at != points.rend(); ++at) {
        const auto& place = at->second;
        FileTree& there = directory_for(*place.second, top, labels, time);
        FileTree taken;
        taken.attributes = there.attributes;
        std::swap(taken.directories, there.directories);
        std::swap(taken.files, there.files);
        FileTree& tree = trees[place.first];
        if (place.second->directory.empty()) {
            tree = std::move(taken);
        } else {
            tree.attributes = labels.attributes("/var", EntryType::directory, 0755, time);
            tree.directories[place.second->directory] = std::move(taken);
        }
    }
    var = std::move(top.directories["var"]);
    return trees;
}

void write_swap(const Context& ctx, const fs::path& disk, const Partition& partition,
                const std::string& label) {
    const TemporaryDirectory scratch(fs::path(disk).concat(".swap"));
    const fs::path area = scratch / "area";
    make_sparse_file(area, partition.size);
    ProcessRequest request;
    request.argv = {"mkswap", "--uuid", partition.file_system_uuid};
    if (!label.empty()) {
        request.argv.insert(request.argv.end(), {"--label", label});
    }
    request.argv.push_back(area.string());
    request.purpose = "swap";
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("cannot make a swap area of {} bytes: {}", partition.size,
                    fmt::join(last_lines(result.output, 3), "; "));
    }
    const Fd file = open_file(disk, O_WRONLY);
    each_piece(
        open_to_read(area).get(), area.string(),
        [&](std::string_view header) { write_to_disk(file.get(), header, partition.offset, disk); },
        {0, swap_header});
}

}  // namespace edgegpu
