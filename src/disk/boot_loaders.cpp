#include "disk/boot_loaders.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view efi_tree = "/usr/lib/ostree-boot/efi";
constexpr std::string_view bios_tree = "/usr/lib/grub/i386-pc";
/// A GRUB has some MiB.
constexpr std::uint64_t loader_limit = 64ULL << 20U;

/// "grubx64.efi"; UEFI ignores case.
bool is_grub(const std::string& name) {
    const std::string lower = lower_case(name);
    return lower.starts_with("grubx64") && lower.ends_with(".efi");
}

bool is_file(const CommitView& commit, const std::string& path) {
    const std::optional<CommitPath> found = commit.describe(path);
    return found && found->type == EntryType::file;
}

}  // namespace

std::vector<Firmware> BootLoaders::firmware() const {
    std::vector<Firmware> all;
    if (!efi.empty()) {
        all.push_back(Firmware::uefi);
    }
    if (!bios_modules.empty()) {
        all.push_back(Firmware::bios);
    }
    return all;
}

BootLoaders find_boot_loaders(const CommitView& commit) {
    BootLoaders found;
    bool all_read_entries = true;
    const std::string top = std::string(efi_tree) + "/EFI";
    const std::optional<CommitNode> vendors = commit.find(top);
    if (vendors && vendors->directory) {
        for (const auto& [vendor, node] : commit.list(*vendors, top)) {
            if (!node.directory) {
                continue;
            }
            const std::string path = top + '/' + vendor;
            bool has_grub = false;
            for (const auto& [name, file] : commit.list(node, path)) {
                if (!file.directory && is_grub(name)) {
                    const std::optional<std::string> content =
                        commit.read(path + '/' + name, loader_limit);
                    // FAT has no links: what is one is not on the disk.
                    has_grub = has_grub || content.has_value();
                    all_read_entries = all_read_entries &&
                                       (!content || content->find("blscfg") != std::string::npos);
                }
            }
            if (has_grub) {
                found.grub_directories.push_back("EFI/" + vendor);
            }
        }
    }
    if (!found.grub_directories.empty()) {
        found.efi = efi_tree;
    }
    const std::string modules(bios_tree);
    // Both are needed to make what a BIOS starts; a package with modules alone has other purposes.
    if (is_file(commit, modules + "/kernel.img") && is_file(commit, modules + "/boot.img")) {
        found.bios_modules = modules;
        all_read_entries = all_read_entries && commit.find(modules + "/blscfg.mod").has_value();
    }
    if (found.firmware().empty()) {
        throw error("commit {} has no boot loader: neither a GRUB in {} nor GRUB's modules in {}",
                    commit.info().name, top, bios_tree)
            .hinted(
                "add packages to the blueprint: grub2-efi-x64 and shim-x64 for UEFI, grub2-pc "
                "for a BIOS");
    }
    found.blscfg = all_read_entries;
    return found;
}

}  // namespace edgegpu
