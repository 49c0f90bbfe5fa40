#include "installer/settings.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "disk/partitions.hpp"
#include "support/error.hpp"
#include "support/files/cpio_archive.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Where a directory of the device is: bytes of the disk with its file system, and its path there.
struct DirectoryPlace {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::string path;
    /// `volume_label`; empty: in the root file system
    std::string volume;
};

/// `directory` is in /var.
DirectoryPlace place_of(const std::string& directory, const std::vector<Volume>& volumes,
                        const Disk& disk, const Partition& root) {
    DirectoryPlace place{root.offset,
                         root.content,
                         fmt::format("ostree/deploy/{}{}", disk.stateroot, directory),
                         {}};
    std::size_t longest = 0;
    for (const Volume& volume : volumes) {
        for (const VolumeMount& mount : volume.mounts) {
            if (mount.point.size() > longest && is_below(directory, mount.point)) {
                longest = mount.point.size();
                const Partition& partition = *find_partition(disk.partitions, volume.name());
                place = {partition.offset, partition.content,
                         mount.directory + directory.substr(longest), volume_label(volume.name())};
            }
        }
    }
    return place;
}

/// All directories above the paths, those above others first.
std::set<std::string> directories_above(const std::map<std::string, InitramfsFile>& files) {
    std::set<std::string> directories;
    for (const auto& [path, file] : files) {
        for (std::size_t at = path.find('/'); at != std::string::npos;
             at = path.find('/', at + 1)) {
            directories.insert(path.substr(0, at));
        }
    }
    return directories;
}

}  // namespace

std::vector<DiskPiece> disk_pieces(const Disk& disk) {
    std::vector<DiskPiece> pieces{{mib, 0, mib, {}}};
    const auto add = [&](std::uint64_t position, std::string volume) {
        const DiskPiece& last = pieces.back();
        pieces.push_back({position, 0, last.on_medium + last.size, std::move(volume)});
    };
    for (const Partition& partition : disk.partitions) {
        const std::string label =
            is_volume(partition.name) ? volume_label(partition.name) : std::string();
        const bool adjacent = pieces.back().position + pieces.back().size == partition.offset;
        if (!adjacent || pieces.back().volume != label) {
            add(partition.offset, label);
        }
        pieces.back().size += partition.content;
    }
    std::erase_if(pieces, [](const DiskPiece& piece) { return piece.size == 0; });
    return pieces;
}

std::map<std::string, std::string> installer_files(const InstallerSettings& settings,
                                                   const Disk& disk, const TargetRule& rule) {
    const Partition* found = find_partition(disk.partitions, "root");
    if (found == nullptr) {
        throw Error("the disk of the installer has no root partition");
    }
    const Partition& root = *found;
    const std::vector<DiskPiece> pieces = disk_pieces(disk);
    const DiskPiece& last = pieces.back();
    const DirectoryPlace log = place_of("/var/log", settings.volumes, disk, root);
    const DirectoryPlace state = place_of("/var/lib/edgegpu", settings.volumes, disk, root);
    const std::vector<std::pair<std::string_view, std::string>> values{
        {"NAME", settings.title},
        {"LABEL", settings.label},
        {"DISK", settings.disk_file},
        {"DISK_SIZE", std::to_string(disk.size)},
        {"ROOT_OFFSET", std::to_string(root.offset)},
        {"ROOT_SIZE", std::to_string(root.size)},
        {"ROOT_ON_MEDIUM", std::to_string(last.on_medium + root.offset - last.position)},
        {"END_ON_MEDIUM", std::to_string(last.on_medium + last.size)},
        {"LOG_OFFSET", std::to_string(log.offset)},
        {"LOG_SIZE", std::to_string(log.size)},
        {"LOG_PATH", log.path},
        {"LOG_VOLUME", log.volume},
        {"STATE_PATH", state.path},
        {"STATE_VOLUME", state.volume},
        {"DEPLOYMENT", fmt::format("ostree/deploy/{}/deploy/{}.0", disk.stateroot, disk.commit)},
        {"COMMIT", disk.commit},
        {"REMOTE", settings.remote},
        {"DIGEST", settings.digest},
        {"RULE", rule.text}};
    std::string text;
    for (const auto& [name, value] : values) {
        text += fmt::format("{}={}\n", name, shell_word(value));
    }
    std::string piece_lines;
    for (const DiskPiece& piece : pieces) {
        piece_lines +=
            fmt::format("{} {} {} {}\n", piece.on_medium, piece.position, piece.size, piece.volume);
    }
    std::string volume_lines;
    for (const Volume& volume : settings.volumes) {
        const Partition& partition = *find_partition(disk.partitions, volume.name());
        volume_lines += fmt::format("{} {} {}\n", partition.offset, partition.size,
                                    volume_label(volume.name()));
    }
    return {{"edgegpu/settings", text},
            {"edgegpu/rule", target_rule_lines(rule)},
            {"edgegpu/pieces", piece_lines},
            {"edgegpu/volumes", volume_lines}};
}

std::string make_cpio(const std::map<std::string, InitramfsFile>& files) {
    std::vector<CpioEntry> entries;
    for (const std::string& directory : directories_above(files)) {
        entries.push_back({directory, S_IFDIR | 0755, {}});
    }
    for (const auto& [path, file] : files) {
        entries.push_back({path, S_IFREG | (file.executable ? 0755U : 0644U), file.content});
    }
    return cpio_archive("an initramfs", entries, 0);
}

}  // namespace edgegpu
