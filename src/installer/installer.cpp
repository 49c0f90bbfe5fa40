#include "installer/installer.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "disk/bios.hpp"
#include "disk/boot_loaders.hpp"
#include "disk/esp.hpp"
#include "disk/ext4/disk_write.hpp"
#include "disk/identity.hpp"
#include "disk/partitions.hpp"
#include "embedded_installer.hpp"
#include "installer/commit_signature.hpp"
#include "installer/medium.hpp"
#include "installer/settings.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t boot_file_limit = 1ULL << 30U;
constexpr std::string_view disk_name = "edgegpu/disk.raw";

/// The SHA-256 of a file.
std::string digest_of_disk(const Context& ctx, const fs::path& path) {
    const Fd file = open_to_read(path);
    Sha256 digest;
    each_piece(file.get(), path.string(), [&](std::string_view piece) {
        ctx.check_cancelled();
        digest.update(piece);
    });
    return digest.hex();
}

std::string required_file(const CommitView& commit, const std::string& path) {
    std::optional<std::string> content = commit.read(path, boot_file_limit);
    if (!content) {
        throw error("commit {}: there is no {}", commit.info().name, path)
            .hinted("an installation medium starts the commit's own kernel and initramfs");
    }
    return std::move(*content);
}

/// The directory of the only kernel.
std::string kernel_path(const CommitView& commit) {
    const std::string modules = "/usr/lib/modules";
    if (const std::optional<CommitNode> node = commit.find(modules)) {
        for (const auto& [name, entry] : commit.list(*node, modules)) {
            std::string path = modules + '/' + name;
            if (entry.directory && commit.find(path + "/vmlinuz")) {
                return path;
            }
        }
    }
    throw error("commit {}: there is no kernel in {}", commit.info().name, modules);
}

/// What the installer runs of the image.
void require_programs(const CommitView& commit) {
    for (const char* name : {"chroot", "lsblk", "blockdev", "wipefs", "sfdisk", "dd", "dmesg",
                             "sha256sum", "ostree"}) {
        if (!commit.find(fmt::format("/usr/bin/{}", name)) &&
            !commit.find(fmt::format("/usr/sbin/{}", name))) {
            throw error("commit {}: the image has no program {}, which the installer needs",
                        commit.info().name, name)
                .hinted("add the packages coreutils, util-linux and ostree to the image");
        }
    }
}

/// chroot(1) of the image, which its initramfs may not have, but the libraries that it needs.
std::string chroot_program(const CommitView& commit) {
    for (const char* path : {"/usr/sbin/chroot", "/usr/bin/chroot"}) {
        const std::optional<CommitPath> found = commit.describe(path);
        if (found && found->type == EntryType::file) {
            return required_file(commit, path);
        }
    }
    throw error("commit {}: there is no program chroot, which the installer needs",
                commit.info().name)
        .hinted("add the package coreutils to the image");
}

std::string initramfs_of(const CommitView& commit, const InstallerSettings& settings,
                         const Disk& disk, const TargetRule& rule) {
    std::string initramfs = required_file(commit, kernel_path(commit) + "/initramfs.img");
    std::map<std::string, InitramfsFile> files;
    files["edgegpu/install"] = {std::string(embedded::install), true};
    files["edgegpu/chroot"] = {chroot_program(commit), true};
    for (auto& [path, content] : installer_files(settings, disk, rule)) {
        files[path] = {content, false};
    }
    // The kernel looks for the next archive at a multiple of four bytes.
    initramfs.resize((initramfs.size() + 3) / 4 * 4, '\0');
    return initramfs + make_cpio(files);
}

/// Adds what a BIOS starts to the medium.
void add_bios(const Context& ctx, const GrubModules& modules, const MediumBoot& boot,
              const TemporaryDirectory& work, IsoContent& iso) {
    const auto hybrid = modules.find("boot_hybrid.img");
    const auto cdboot = modules.find("cdboot.img");
    if (hybrid == modules.end() || cdboot == modules.end()) {
        return;
    }
    GrubImage image;
    image.format = "i386-pc-eltorito";
    image.prefix = "/boot/grub2";
    image.config = fmt::format(
        "search --no-floppy --label --set=root {}\n"
        "set prefix=($root)/boot/grub2\nconfigfile $prefix/grub.cfg\n",
        iso.label);
    image.more_modules = {"iso9660"};
    write_file(work / "eltorito.img", make_grub_image(ctx, modules, image));
    write_file(work / "hybrid.img", hybrid->second);
    write_file(work / "grub.cfg", medium_grub_cfg(boot));
    write_file(work / "vmlinuz", boot.kernel);
    write_file(work / "initramfs.img", boot.initramfs);
    iso.eltorito = "boot/grub2/eltorito.img";
    iso.hybrid = work / "hybrid.img";
    iso.files = {{iso.eltorito, work / "eltorito.img"},
                 {"boot/grub2/grub.cfg", work / "grub.cfg"},
                 {"edgegpu/vmlinuz", work / "vmlinuz"},
                 {"edgegpu/initramfs.img", work / "initramfs.img"}};
}

/// Adds what UEFI starts.
void add_uefi(const Context& ctx, const CommitView& commit, const BootLoaders& loaders,
              const MediumBoot& boot, const TemporaryDirectory& work, IsoContent& iso) {
    const EspFiles files = medium_esp_files(commit, loaders, boot);
    Partition esp;
    esp.name = "esp";
    esp.size = esp_size(files);
    esp.file_system_uuid = boot.esp_uuid;
    iso.esp = work / "esp.img";
    make_sparse_file(iso.esp, esp.size);
    write_esp(ctx, iso.esp, esp, files, iso.time);
}

/// The label of the medium, of letters that ISO 9660 has: another one for another commit, disk or
/// rule, as a machine may have several media.
std::string label_of(const DiskIdentity& identity, const InstallerRequest& request) {
    constexpr std::size_t digits = 16;
    std::string name =
        identity.uuid(fmt::format("medium {} {}", request.unsigned_commit, request.target.text));
    std::erase(name, '-');
    name.resize(digits);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return "EDGEGPU_" + name;
}

/// Name and version, as people see them: nothing that a shell or a menu could take for its own.
std::string title_of(const CommitInfo& info) {
    std::string title = info.version.empty() ? info.name : info.name + ' ' + info.version;
    std::ranges::replace_if(
        title,
        [](unsigned char c) {
            return std::isalnum(c) == 0 &&
                   std::string_view(" ./:_+-^").find(static_cast<char>(c)) ==
                       std::string_view::npos;
        },
        '_');
    return title;
}

std::string remote_of(const std::string& refspec) {
    const std::size_t colon = refspec.find(':');
    return colon == std::string::npos ? std::string() : refspec.substr(0, colon);
}

/// The disk image of the medium: disk.raw without what lies between its pieces.
fs::path pack_disk(const Context& ctx, const Disk& disk, const TemporaryDirectory& work) {
    const std::vector<DiskPiece> pieces = disk_pieces(disk);
    fs::path raw = work / "disk.raw";
    if (pieces.size() == 1) {
        return raw;
    }
    fs::path packed = work / "disk.packed";
    const DiskPiece& last = pieces.back();
    const std::uint64_t end = last.on_medium + last.size;
    make_sparse_file(packed, end + mib);
    const Fd from = open_to_read(raw);
    const Fd to = open_file(packed, O_WRONLY);
    const auto copy = [&](std::uint64_t position, std::uint64_t target, std::uint64_t size) {
        each_piece(from.get(), raw.string(),
                   [&](std::string_view piece) {
                       ctx.check_cancelled();
                       // Holes stay holes.
                       if (piece.find_first_not_of('\0') != std::string_view::npos) {
                           write_to_disk(to.get(), piece, target, packed);
                       }
                       target += piece.size();
                   },
                   {position, size});
    };
    copy(0, 0, mib);
    for (const DiskPiece& piece : pieces) {
        copy(piece.position, piece.on_medium, piece.size);
    }
    copy(disk.size - mib, end, mib);
    fs::remove(raw);
    return packed;
}

}  // namespace

Installer write_installer(const Context& ctx, const RepositoryView& repository,
                          const CommitView& commit, const InstallerRequest& request,
                          const fs::path& path) {
    const BootLoaders loaders = find_boot_loaders(commit);
    const std::string kernel = kernel_path(commit);
    require_programs(commit);
    const TemporaryDirectory work(path.string() + ".parts");
    DiskRequest smallest = request.disk;
    smallest.size = smallest_size;
    Installer installer;
    installer.disk = write_disk(ctx, repository, commit, smallest, work / "disk.raw");
    const DiskIdentity identity(installer.disk.commit, smallest);
    installer.label = label_of(identity, request);
    const std::string remote = remote_of(installer.disk.refspec);
    if (!request.unsigned_commit) {
        check_commit_signature(ctx, commit, commit, remote, smallest.injection);
    }

    InstallerSettings settings;
    settings.title = title_of(commit.info());
    settings.label = installer.label;
    settings.disk_file = disk_name;
    settings.remote = request.unsigned_commit ? "" : remote;
    settings.volumes = smallest.volumes;
    const fs::path packed = pack_disk(ctx, installer.disk, work);
    settings.digest = digest_of_disk(ctx, packed);

    MediumBoot boot;
    boot.title = settings.title;
    boot.boot_uuid = find_partition(installer.disk.partitions, "boot")->file_system_uuid;
    boot.esp_uuid = fat_volume_name(identity.fat_volume_id("medium"));
    boot.arguments = medium_kernel_arguments(installer.disk.kernel_arguments);
    boot.kernel = required_file(commit, kernel + "/vmlinuz");
    boot.initramfs = initramfs_of(commit, settings, installer.disk, request.target);

    IsoContent iso;
    iso.label = installer.label;
    iso.time = commit.info().time;
    if (!loaders.bios_modules.empty()) {
        add_bios(ctx, read_grub_modules(commit, loaders.bios_modules), boot, work, iso);
    }
    if (!loaders.efi.empty()) {
        add_uefi(ctx, commit, loaders, boot, work, iso);
    }
    iso.files.emplace(disk_name, packed);
    write_iso(ctx, iso, path);
    return installer;
}

}  // namespace edgegpu
