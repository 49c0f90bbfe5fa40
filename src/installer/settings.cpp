#include "installer/settings.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "disk/partitions.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
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

la_ssize_t append_cpio(struct archive* /*writer*/, void* out, const void* bytes,
                       std::size_t size) noexcept {
    try {
        static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return static_cast<la_ssize_t>(size);
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
    const Handle<archive, archive_write_free> writer(archive_write_new());
    const auto check = [&](la_ssize_t status) {
        if (status < ARCHIVE_OK) {
            throw error("cannot write an initramfs: {}",
                        text_of(archive_error_string(writer.get())));
        }
    };
    std::string out;
    check(archive_write_set_format_cpio_newc(writer.get()));
    check(archive_write_set_bytes_in_last_block(writer.get(), 1));
    check(archive_write_open(writer.get(), &out, nullptr, append_cpio, nullptr));
    std::int64_t inode = 0;
    const auto add = [&](const std::string& path, mode_t mode, std::string_view content) {
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), path.c_str());
        archive_entry_set_mode(entry.get(), mode);
        archive_entry_set_nlink(entry.get(), 1);
        archive_entry_set_ino64(entry.get(), ++inode);
        archive_entry_set_mtime(entry.get(), 0, 0);
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
        check(archive_write_header(writer.get(), entry.get()));
        check(archive_write_data(writer.get(), content.data(), content.size()));
    };
    for (const std::string& directory : directories_above(files)) {
        add(directory, S_IFDIR | 0755, {});
    }
    for (const auto& [path, file] : files) {
        add(path, S_IFREG | (file.executable ? 0755 : 0644), file.content);
    }
    check(archive_write_close(writer.get()));
    return out;
}

}  // namespace edgegpu
