#include "disk/volumes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "disk/disk_write.hpp"
#include "disk/partitions.hpp"
#include "execution/process.hpp"
#include "support/deployed_path.hpp"
#include "support/directory.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Of a file system that grows: with a journal that does not.
constexpr std::uint64_t least_content = 128 * mib;

/// Where the file system of a volume is mounted whose directories are mounted elsewhere.
std::string hidden_point(const Partition& partition) {
    return "/run/edgegpu/volumes/" + partition.uuid;
}

unsigned mode_of(std::string_view point) {
    if (point == "/tmp" || point == "/var/tmp") {
        return 01777;
    }
    return point == "/var/roothome" ? 0700 : 0755;
}

/// A path that devices have, as "/var/log" → "var", "log".
std::vector<std::string> names_of(std::string_view path) {
    std::vector<std::string> names;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        names.emplace_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return names;
}

/// The directory at `path` below `top`, made with its parents where it is missing.
FileTree& directory_at(FileTree& top, std::string_view path, const ImageLabels& labels,
                       std::int64_t time) {
    FileTree* directory = &top;
    std::string here;
    for (const std::string& name : names_of(path)) {
        here += '/' + name;
        if (directory->files.contains(name)) {
            throw error(ErrorKind::usage, "no file system can be mounted at {}: {} is a file", path,
                        here);
        }
        const auto [found, added] = directory->directories.try_emplace(name);
        if (added) {
            found->second.attributes =
                labels.attributes(here, EntryType::directory, mode_of(here), time);
        }
        directory = &found->second;
    }
    return *directory;
}

}  // namespace

void shrink_volumes(const DiskRequest& request, const CommitView& commit,
                    std::vector<Partition>& partitions) {
    if (request.size != smallest_size || request.volumes.empty()) {
        return;
    }
    if (!commit.find("/usr/lib/systemd/systemd-growfs")) {
        throw error(
            "commit {}: the image has no /usr/lib/systemd/systemd-growfs, which grows the "
            "file system {} to the size of its partition",
            commit.info().name, request.volumes.front().name());
    }
    std::uint64_t injected = 0;
    for (const Injected& one : request.injection) {
        injected += one.content.size() + swap_header;
    }
    const std::uint64_t least = (least_content + injected + mib - 1) / mib * mib;
    for (const Volume& volume : request.volumes) {
        const auto partition = std::ranges::find(partitions, volume.name(), &Partition::name);
        partition->content = std::min(partition->size, volume.mounts.empty() ? mib : least);
    }
}

std::vector<FstabLine> volume_fstab(const std::vector<Volume>& volumes,
                                    const std::vector<Partition>& partitions) {
    std::vector<FstabLine> lines;
    for (const Volume& volume : volumes) {
        const Partition& partition = *find_partition(partitions, volume.name());
        const std::string device = "PARTUUID=" + partition.uuid;
        if (volume.mounts.empty()) {
            lines.push_back({"none", device + " none swap defaults 0 0\n"});
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

std::string missing_mount_point(const Volume& volume, const CommitView& commit) {
    for (const VolumeMount& mount : volume.mounts) {
        const std::optional<CommitPath> there =
            is_path_of_device(mount.point) ? std::nullopt : commit.describe(mount.point);
        if (!is_path_of_device(mount.point) && (!there || there->type != EntryType::directory)) {
            return mount.point;
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

void check_mount_points(const std::vector<Volume>& volumes, const CommitView& commit) {
    for (const Volume& volume : volumes) {
        if (const std::string missing = missing_mount_point(volume, commit); !missing.empty()) {
            throw error("commit {} has no directory {}, on which a file system would be mounted",
                        commit.info().name, missing)
                .hinted("build it with this blueprint: a build makes the directory");
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
            static_cast<void>(directory_at(top, mount.point, labels, time));
        }
    }
    for (auto at = points.rbegin(); at != points.rend(); ++at) {
        const auto& [point, place] = *at;
        FileTree& there = directory_at(top, point, labels, time);
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
    std::string header(swap_header, '\0');
    const Fd made(::open(area.c_str(), O_RDONLY | O_CLOEXEC));
    const Fd file(::open(disk.c_str(), O_WRONLY | O_CLOEXEC));
    if (!made || !file ||
        ::pread(made.get(), header.data(), header.size(), 0) !=
            static_cast<ssize_t>(header.size())) {
        throw errno_error(disk.string(), errno);
    }
    write_to_disk(file.get(), header, partition.offset, disk);
}

}  // namespace edgegpu
