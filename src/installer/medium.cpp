#include "installer/medium.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "disk/grub.hpp"
#include "embedded_medium.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/text/boot_arguments.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view fallback_directory = "EFI/BOOT/";

/// Copies what shim starts, GRUB and its own programs, beside the shim in EFI/BOOT.
void complete_fallback(EspFiles& files, const std::vector<std::string>& grub_directories) {
    for (const std::string& directory : grub_directories) {
        std::vector<std::pair<std::string, std::string>> programs;
        for (const auto& [path, content] : files) {
            const std::string name = lower_case(path.substr(path.rfind('/') + 1));
            if (path.starts_with(directory + '/') &&
                (name.starts_with("grub") || name.starts_with("mm")) && name.ends_with(".efi")) {
                programs.emplace_back(
                    std::string(fallback_directory) + path.substr(path.rfind('/') + 1), content);
            }
        }
        for (auto& [path, content] : programs) {
            files.try_emplace(path, std::move(content));
        }
    }
}

/// Whether an argument is about the root of the installed system, or about less on the console.
bool only_installed(std::string_view argument) {
    const std::string_view name = argument.substr(0, argument.find('='));
    constexpr std::array names{"rootflags", "rootfstype", "rw",     "rdinit",
                               "resume",    "quiet",      "splash", "rhgb"};
    return !boot_argument_reason(argument).empty() || std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string medium_kernel_arguments(const std::vector<std::string>& image) {
    std::string arguments = "rdinit=/edgegpu/install";
    bool console = false;
    for (const std::string& argument : image) {
        if (!only_installed(argument)) {
            console = console || argument.starts_with("console=");
            arguments += ' ' + grub_argument(argument);
        }
    }
    return console ? arguments : arguments + " console=ttyS0,115200n8 console=tty0";
}

std::string medium_grub_cfg(const MediumBoot& boot) {
    return fill_in(
        embedded::medium_cfg,
        {{"BOOT_UUID", boot.boot_uuid}, {"TITLE", boot.title}, {"ARGUMENTS", boot.arguments}});
}

EspFiles medium_esp_files(const CommitView& commit, const BootLoaders& loaders,
                          const MediumBoot& boot) {
    EspFiles files = esp_files(commit, loaders, boot.boot_uuid);
    complete_fallback(files, loaders.grub_directories);
    std::erase_if(files, [](const auto& file) {
        return lower_case(file.first).starts_with("efi/boot/fb") ||
               file.first.ends_with("/grub.cfg");
    });
    std::vector<std::string> directories = loaders.grub_directories;
    directories.emplace_back("EFI/BOOT");
    for (const std::string& directory : directories) {
        files[directory + "/grub.cfg"] = medium_grub_cfg(boot);
    }
    files["edgegpu/vmlinuz"] = boot.kernel;
    files["edgegpu/initramfs.img"] = boot.initramfs;
    return files;
}

void write_iso(const Context& ctx, const IsoContent& content, const std::filesystem::path& path) {
    ProcessRequest request;
    request.purpose = "installation medium";
    // xorriso interprets names ("=", "\\", "stdio:"): it gets none but edgegpu's own.
    request.cwd = path.parent_path();
    const auto name_of = [&](const std::filesystem::path& file) {
        return file.lexically_relative(request.cwd).string();
    };
    request.argv = {"xorriso", "-no_rc", "-as", "mkisofs", "-quiet", "-o", name_of(path), "-V",
                    content.label,
                    // Level 3: files of more than 4 GiB; Rock Ridge, with everything root's.
                    "-iso-level", "3", "-r",
                    // Directories have no file whose time they could take.
                    "--set_all_file_dates", fmt::format("={}", content.time), "-graft-points"};
    const auto add = [&request](std::initializer_list<std::string> options) {
        request.argv.insert(request.argv.end(), options);
    };
    if (!content.eltorito.empty()) {
        add({"-b", content.eltorito, "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table",
             "--grub2-boot-info", "--grub2-mbr", name_of(content.hybrid)});
    }
    if (!content.esp.empty()) {
        add({"-append_partition", "2", "0xef", name_of(content.esp), "-appended_part_as_gpt",
             "-eltorito-alt-boot", "-e", "--interval:appended_partition_2:all::", "-no-emul-boot"});
    }
    for (const auto& [name, file] : content.files) {
        add({fmt::format("{}={}", name, name_of(file))});
    }
    // All times but those, and the numbers of the partition table, come from it.
    request.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC",
                   fmt::format("SOURCE_DATE_EPOCH={}", content.time)};
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("xorriso cannot write {}: {}", path.string(),
                    fmt::join(last_lines(result.output, 3), "; "));
    }
}

}  // namespace edgegpu
