#include "disk/disk.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "disk/bios.hpp"
#include "disk/boot_loaders.hpp"
#include "disk/deployment.hpp"
#include "disk/esp.hpp"
#include "disk/ext4/ext4.hpp"
#include "disk/first_boot.hpp"
#include "disk/grub.hpp"
#include "disk/identity.hpp"
#include "disk/image_labels.hpp"
#include "disk/luks.hpp"
#include "disk/partitions.hpp"
#include "disk/volumes.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// /boot has three kernels while an upgrade is deployed beside a rollback, and is not to be too
/// small for those of later years.
constexpr std::uint64_t boot_least = 512 * mib;
/// Of the LUKS header, for DiskIdentity::uuid.
constexpr std::string_view luks_purpose = "encrypted root";
/// Beside the image: what a device writes before anybody looks after it.
constexpr std::uint64_t root_spare = 128 * mib;
constexpr std::uint64_t root_usual_spare = 1024 * mib;

/// Everything that a disk is made of, known before the first byte is written.
struct DiskContent {
    BootLoaders loaders;
    DeploymentPlan deployment;
    EspFiles esp;
    GrubModules modules;
};

DiskContent read_disk_content(const Context& ctx, const RepositoryView& repository,
                              const CommitView& commit, const DiskRequest& request,
                              const DiskIdentity& identity) {
    DiskContent content;
    // Cheap, and without it nothing else matters.
    content.loaders = find_boot_loaders(commit);
    check_volumes(request.volumes, commit, request.injection);
    content.deployment = plan_deployment(ctx, repository, commit, request);
    if (!content.loaders.efi.empty()) {
        content.esp = esp_files(commit, content.loaders, identity.uuid("file system boot"));
    }
    if (!content.loaders.bios_modules.empty()) {
        content.modules = read_grub_modules(commit, content.loaders.bios_modules);
    }
    return content;
}

DiskNeeds needs_of(const DiskContent& content, const DiskRequest& request) {
    const DiskSizes& least = request.least;
    std::uint64_t modules = 0;
    for (const auto& [name, bytes] : content.modules) {
        modules += bytes.size() + 4096;
    }
    DiskNeeds needs;
    needs.bios = !content.loaders.bios_modules.empty();
    needs.esp = content.loaders.efi.empty() ? 0 : std::max(esp_size(content.esp), least.esp);
    const DeploymentPlan& plan = content.deployment;
    needs.boot = std::max(
        {boot_least, least.boot, plan.boot_bytes + 2 * plan.boot_deployment_bytes + 2 * modules});
    const std::uint64_t header = request.encryption == Encryption::none ? 0 : luks_header_size;
    needs.root_least = std::max(plan.root_bytes + root_spare, least.rootfs) + header;
    needs.root_usual = std::max(2 * plan.root_bytes + root_usual_spare, least.rootfs) + header;
    needs.disk_least = least.disk;
    needs.volumes = request.volumes;
    return needs;
}

/// An update is written beside what the disk has: one of which everything is new needs as much
/// again, and ostree leaves 3 % of the file system free (core.min-free-space-percent).
void warn_of_no_room(const Context& ctx, const DiskContent& content, const DiskRequest& request,
                     const Disk& disk) {
    const std::uint64_t taken = content.deployment.root_bytes;
    const Partition& partition = disk.partitions.back();
    const std::uint64_t root =
        partition.size - (partition.luks_uuid.empty() ? 0 : luks_header_size);
    const std::uint64_t needed = 2 * taken * 100 / 97;
    if (request.size == 0 || request.size == smallest_size || root >= needed ||
        ctx.console == nullptr) {
        return;
    }
    ctx.console->warn(fmt::format(
        "the root file system has {}, of which the image takes {}: devices have no room for an "
        "update that is new as a whole, and refuse it, unless their disk is larger than this "
        "image; from --size {}M on there is",
        human_size(root), human_size(taken), (disk.size + needed - root + mib - 1) / mib));
}

Ext4Format format_of(const Partition& partition, const DiskIdentity& identity, std::int64_t time) {
    Ext4Format format;
    const std::uint64_t header = partition.luks_uuid.empty() ? 0 : luks_header_size;
    format.offset = partition.offset + header;
    format.size = partition.content - header;
    format.uuid = partition.file_system_uuid;
    format.hash_seed = identity.uuid(fmt::format("hash seed {}", partition.name));
    format.label = partition.name;
    format.time = time;
    return format;
}

/// Adds files with the labels of their place in /boot.
class BootFiles {
public:
    BootFiles(Ext4Writer& boot, const ImageLabels& labels, std::int64_t time)
        : boot_(boot), labels_(labels), time_(time) {}

    Inode add_directory(Inode parent, const std::string& name, const std::string& path) {
        return boot_.add_directory(parent, name,
                                   labels_.attributes(path, EntryType::directory, 0755, time_));
    }
    void add_file(Inode parent, const std::string& name, const std::string& path,
                  std::string_view content) {
        std::size_t at = 0;
        boot_.add_file(
            parent, name, content.size(),
            [&](char* buffer, std::size_t size) {
                const std::size_t count = std::min(size, content.size() - at);
                std::memcpy(buffer, content.data() + at, count);
                at += count;
                return count;
            },
            labels_.attributes(path, EntryType::file, 0644, time_));
    }

private:
    Ext4Writer& boot_;
    const ImageLabels& labels_;
    std::int64_t time_;
};

/// /boot/grub2, and the first menu if it is not GRUB that reads the boot entries.
void add_grub(const DiskContent& content, const WrittenDeployment& written,
              const std::string& boot_uuid, const ImageLabels& labels, Ext4Writer& boot) {
    BootFiles files(boot, labels, content.deployment.time);
    const bool blscfg = content.loaders.blscfg;
    const Inode grub = files.add_directory(boot.root(), "grub2", "/boot/grub2");
    files.add_file(grub, "grub.cfg", "/boot/grub2/grub.cfg", boot_grub_cfg(boot_uuid, blscfg));
    files.add_file(grub, "grubenv", "/boot/grub2/grubenv", grub_environment());
    if (!content.modules.empty()) {
        const std::string path = "/boot/grub2/i386-pc";
        const Inode directory = files.add_directory(grub, "i386-pc", path);
        for (const auto& [name, bytes] : content.modules) {
            files.add_file(directory, name, path + '/' + name, bytes);
        }
    }
    if (!blscfg) {
        files.add_file(written.loader, "grub.cfg", "/boot/loader.1/grub.cfg",
                       loader_grub_cfg({content.deployment.title, written.linux, written.initrd,
                                        written.arguments},
                                       boot_uuid));
    }
}

std::string core_image(const Context& ctx, const DiskContent& content,
                       const std::string& boot_uuid) {
    GrubImage image;
    image.config = core_grub_cfg(boot_uuid);
    return make_grub_image(ctx, content.modules, image);
}

DeploymentTarget target_of(const std::vector<Partition>& partitions,
                           const std::vector<Volume>& volumes, bool blscfg) {
    DeploymentTarget target;
    const Partition& root = *find_partition(partitions, "root");
    target.root_uuid = root.file_system_uuid;
    if (!root.luks_uuid.empty()) {
        target.unlock = luks_arguments(root.luks_uuid);
    }
    target.boot_uuid = find_partition(partitions, "boot")->file_system_uuid;
    if (const Partition* esp = find_partition(partitions, "esp")) {
        target.esp_uuid = esp->file_system_uuid;
    }
    target.bootloader = blscfg ? "none" : "grub2";
    target.volumes = volume_fstab(volumes, partitions);
    return target;
}

/// The empty file systems of the volumes; swap is complete, and volume groups are made by devices.
std::vector<std::unique_ptr<Ext4Writer>> make_volumes(const Context& ctx, const fs::path& path,
                                                      const Disk& disk, const DiskRequest& request,
                                                      const DiskIdentity& identity,
                                                      std::int64_t time) {
    std::vector<std::unique_ptr<Ext4Writer>> writers;
    for (const Volume& volume : request.volumes) {
        const Partition& partition = *find_partition(disk.partitions, volume.name());
        writers.emplace_back();
        if (partition.use == VolumeUse::swap) {
            write_swap(ctx, path, partition, volume.label);
        } else if (partition.use == VolumeUse::file_system) {
            Ext4Format format = format_of(partition, identity, time);
            format.label = volume.label;
            writers.back() = std::make_unique<Ext4Writer>(ctx, path, format);
        }
    }
    return writers;
}

/// The request with what the device does at its first boot.
DiskRequest with_first_boot(const DiskRequest& request, const DiskIdentity& identity) {
    DiskRequest complete = request;
    Injection files = grow_root_files();
    const auto add = [&](const Injection& more) {
        files.insert(files.end(), more.begin(), more.end());
    };
    add(volume_group_files(request.volumes, identity));
    if (request.encryption != Encryption::none) {
        add(encrypt_root_files());
    }
    // First, so that the request can replace them.
    complete.injection.insert(complete.injection.begin(), files.begin(), files.end());
    return complete;
}

}  // namespace

Disk write_disk(const Context& ctx, const RepositoryView& repository, const CommitView& commit,
                const DiskRequest& request, const fs::path& path) {
    const DiskIdentity identity(commit.info().checksum, request);
    const DiskRequest complete = with_first_boot(request, identity);
    const DiskContent content = read_disk_content(ctx, repository, commit, complete, identity);
    const DeploymentPlan& plan = content.deployment;
    Disk disk;
    disk.partitions = plan_partitions(needs_of(content, request), identity, request.size);
    shrink_volumes(request, commit, disk.partitions);
    if (request.encryption != Encryption::none) {
        disk.partitions.back().luks_uuid = identity.uuid(luks_purpose);
    }
    disk.size = disk_size(disk.partitions);
    warn_of_no_room(ctx, content, request, disk);
    disk.commit = plan.commit;
    disk.stateroot = plan.stateroot;
    disk.refspec = plan.refspec;
    disk.firmware = content.loaders.firmware();

    make_sparse_file(path, disk.size);
    write_partition_table(ctx, path, disk.partitions, identity);
    if (const Partition* esp = find_partition(disk.partitions, "esp")) {
        write_esp(ctx, path, *esp, content.esp, plan.time);
    }
    const DeploymentTarget target =
        target_of(disk.partitions, request.volumes, content.loaders.blscfg);
    if (const Partition* bios = find_partition(disk.partitions, "bios")) {
        write_bios_loader(path, *bios, content.modules.at("boot.img"),
                          core_image(ctx, content, target.boot_uuid));
    }
    const ImageLabels labels(ctx, commit);
    const Partition& root_partition = *find_partition(disk.partitions, "root");
    const Ext4Format root_format = format_of(root_partition, identity, plan.time);
    Ext4Writer root(ctx, path, root_format);
    Ext4Writer boot(ctx, path,
                    format_of(*find_partition(disk.partitions, "boot"), identity, plan.time));
    DeploymentFileSystems systems{root, boot,
                                  make_volumes(ctx, path, disk, request, identity, plan.time)};
    const WrittenDeployment written =
        write_deployment(ctx, repository, commit, plan, complete, target, labels, systems);
    add_grub(content, written, target.boot_uuid, labels, boot);
    for (const std::unique_ptr<Ext4Writer>& volume : systems.volumes) {
        if (volume) {
            volume->finish();
        }
    }
    boot.finish();
    root.finish();
    if (!root_partition.luks_uuid.empty()) {
        encrypt_ext4(ctx, path, root_format, root_partition.luks_uuid);
    }
    disk.kernel_arguments = written.arguments;
    return disk;
}

}  // namespace edgegpu
