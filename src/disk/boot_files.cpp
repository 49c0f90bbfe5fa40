#include "disk/boot_files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "disk/file_tree.hpp"

namespace edgegpu {

namespace {

std::string kernel_directory_name(const DeploymentPlan& plan) {
    return fmt::format("{}-{}", plan.stateroot, plan.boot_checksum);
}

/// Device trees: copies with all attributes, as ostree makes them.
void copy_directory(const CommitObjects& objects, const CommitTree& tree,
                    const DeploymentPlan& plan, Inode parent, std::string_view name,
                    Ext4Writer& boot) {
    const FileTree copy = copy_of(objects, tree, plan.time);
    write_tree(boot, boot.add_directory(parent, name, copy.attributes), copy, objects);
}

/// In FIPS mode, the initramfs verifies the kernel in /boot, and finds that file system by nothing
/// else (fips.sh of dracut).
bool needs_boot_argument(const std::vector<std::string>& arguments) {
    return std::ranges::find(arguments, "fips=1") != arguments.end() &&
           std::ranges::none_of(arguments, [](const std::string& argument) {
               return argument.starts_with("boot=");
           });
}

WrittenDeployment paths_and_arguments(const DeploymentPlan& plan, const KernelLayout& layout,
                                      const DeploymentTarget& target) {
    const std::string place =
        fmt::format("/ostree/boot.1/{}/{}/0", plan.stateroot, plan.boot_checksum);
    WrittenDeployment written;
    written.arguments = {"root=UUID=" + target.root_uuid, "rw"};
    for (const std::string& argument : plan.kernel_arguments) {
        if (argument != "rw") {
            written.arguments.push_back(argument);
        }
    }
    if (needs_boot_argument(plan.kernel_arguments)) {
        written.arguments.push_back("boot=UUID=" + target.boot_uuid);
    }
    written.arguments.insert(written.arguments.end(), target.unlock.begin(), target.unlock.end());
    if (!layout.initramfs) {
        written.arguments.push_back(
            fmt::format("init={}/usr/lib/ostree/ostree-prepare-root", place));
    }
    written.arguments.push_back("ostree=" + place);
    const std::string files = "/ostree/" + kernel_directory_name(plan);
    written.linux = fmt::format("{}/vmlinuz-{}", files, plan.kernel);
    if (layout.initramfs) {
        written.initrd = fmt::format("{}/initramfs-{}.img", files, plan.kernel);
    }
    return written;
}

}  // namespace

std::string boot_entry(const DeploymentPlan& plan, const KernelLayout& layout,
                       const DeploymentTarget& target) {
    const WrittenDeployment written = paths_and_arguments(plan, layout, target);
    const std::string files = "/ostree/" + kernel_directory_name(plan);
    std::string entry = fmt::format("title {}\nversion 1\noptions {}\n", plan.title,
                                    fmt::join(written.arguments, " "));
    if (layout.device_tree) {
        entry += fmt::format("devicetree {}/devicetree-{}\n", files, plan.kernel);
    }
    entry += fmt::format("linux {}\n", written.linux);
    if (layout.initramfs) {
        entry += fmt::format("initrd {}\n", written.initrd);
    }
    if (layout.device_trees != nullptr) {
        entry += fmt::format("fdtdir {}/dtb\n", files);
    }
    return entry;
}

WrittenDeployment write_boot_files(const CommitObjects& objects, const KernelLayout& layout,
                                   const DeploymentPlan& plan, const DeploymentTarget& target,
                                   const ImageLabels& labels, Ext4Writer& boot) {
    const auto labelled = [&](const std::string& path, EntryType type, unsigned mode) {
        return labels.attributes(path, type, mode, plan.time);
    };
    const auto directory = [&](Inode parent, const std::string& path) {
        return boot.add_directory(parent, path.substr(path.rfind('/') + 1),
                                  labelled(path, EntryType::directory, 0755));
    };
    boot.set_attributes(boot.root(), labelled("/boot", EntryType::directory, 0755));
    boot.set_attributes(boot.lost_and_found(),
                        labelled("/boot/lost+found", EntryType::directory, 0700));
    const std::string path = "/boot/ostree/" + kernel_directory_name(plan);
    const Inode kernels = directory(directory(boot.root(), "/boot/ostree"), path);
    for (const auto& [name, file] : layout.files) {
        // As ostree copies them: with owner and mode of the original, and a label of /boot.
        NodeAttributes attributes =
            labelled("/boot/" + name, EntryType::file, file->attributes.mode);
        attributes.uid = file->attributes.uid;
        attributes.gid = file->attributes.gid;
        boot.add_file(kernels, name, file->size, objects.open(*file), attributes);
    }
    if (layout.device_trees != nullptr) {
        copy_directory(objects, *layout.device_trees, plan, kernels, "dtb", boot);
    }
    WrittenDeployment written = paths_and_arguments(plan, layout, target);
    written.loader = directory(boot.root(), "/boot/loader.1");
    const Inode entries = directory(written.loader, "/boot/loader.1/entries");
    const std::string entry = boot_entry(plan, layout, target);
    const std::string entry_name = fmt::format("ostree-1-{}.conf", plan.stateroot);
    boot.add_file(entries, entry_name, entry.size(), reader_of(entry),
                  labelled("/boot/loader.1/entries/" + entry_name, EntryType::file, 0644));
    boot.add_symlink(boot.root(), "loader", "loader.1",
                     labelled("/boot/loader", EntryType::symlink, 0777));
    boot.add_symlink(boot.root(), "boot", ".", labelled("/boot/boot", EntryType::symlink, 0777));
    if (!target.esp_uuid.empty()) {
        directory(boot.root(), "/boot/efi");
    }
    return written;
}

}  // namespace edgegpu
