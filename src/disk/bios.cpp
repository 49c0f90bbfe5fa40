#include "disk/bios.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "disk/ext4/disk_write.hpp"
#include "disk/partitions.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

// GRUB, include/grub/i386/pc/boot.h: where boot.img and diskboot.img have the numbers that its
// installation program fills in.
constexpr std::size_t boot_code_size = 440;
constexpr std::size_t kernel_sector_at = 0x5c;
constexpr std::size_t drive_check_at = 0x66;
constexpr std::size_t block_list_at = 0x1f4;
/// real-mode segment that the second sector of a core image is loaded to
constexpr std::uint64_t core_segment = 0x820;
constexpr std::uint64_t nop_nop = 0x9090;

/// all modules together, generously: GRUB 2.06 has 3 MiB of them
constexpr std::uint64_t modules_limit = 128ULL << 20U;
constexpr std::size_t module_count_limit = 2000;
/// GRUB loads the core image below the end of the conventional memory.
constexpr std::size_t core_size_limit = 0x78000;

/// What the core image needs to read its configuration from the file system of /boot, and what that
/// uses. Those that an image's GRUB does not have are left out.
constexpr std::array<std::string_view, 26> core_modules{
    "biosdisk",     "part_gpt",   "part_msdos", "ext2",    "xfs",    "search",   "search_fs_uuid",
    "search_label", "configfile", "normal",     "loadenv", "serial", "terminal", "linux",
    "linux16",      "gzio",       "test",       "echo",    "sleep",  "regexp",   "blscfg",
    "increment",    "reboot",     "halt",       "true",    "minicmd"};

void put_number(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        bytes[at + i] = static_cast<char>((value >> (8 * i)) & 0xffU);
    }
}

std::string mkimage_program() {
    for (const char* name : {"grub-mkimage", "grub2-mkimage"}) {
        if (!tool_file(name).empty()) {
            return name;
        }
    }
    throw Error("grub-mkimage: program not found").hinted("install grub-common or grub2-tools");
}

}  // namespace

GrubModules read_grub_modules(const CommitView& commit, const std::string& directory) {
    GrubModules modules;
    const std::optional<CommitNode> node = commit.find(directory);
    if (!node || !node->directory) {
        throw error("commit {}: {} is not a directory", commit.info().name, directory);
    }
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : commit.list(*node, directory)) {
        const bool wanted =
            name.ends_with(".mod") || name.ends_with(".lst") || name.ends_with(".img");
        if (file.directory || !wanted) {
            continue;
        }
        if (std::optional<std::string> content =
                commit.read(directory + '/' + name, modules_limit - bytes)) {
            bytes += content->size();
            modules.emplace(name, std::move(*content));
        }
        if (modules.size() > module_count_limit) {
            throw error("commit {}: too many files in {}", commit.info().name, directory);
        }
    }
    return modules;
}

std::string make_grub_image(const Context& ctx, const GrubModules& modules,
                            const GrubImage& image) {
    const std::string directory = "i386-pc";
    ToolCommand command;
    command.argv = {mkimage_program(),
                    "-O",
                    image.format,
                    "-d",
                    fmt::format("{}/{}", tool_tree, directory),
                    "-o",
                    "core.img",
                    "-c",
                    "load.cfg",
                    "-p",
                    image.prefix};
    std::vector<std::string> wanted(core_modules.begin(), core_modules.end());
    wanted.insert(wanted.end(), image.more_modules.begin(), image.more_modules.end());
    for (const std::string& name : wanted) {
        if (modules.contains(name + ".mod")) {
            command.argv.push_back(name);
        }
    }
    command.inputs = {{"load.cfg", image.config}};
    for (const auto& [name, content] : modules) {
        command.tree.emplace(directory + '/' + name, content);
    }
    command.outputs = {"core.img"};
    const ToolResult result = run_tool(ctx, command);
    const auto core = result.files.find("core.img");
    if (result.status != 0 || core == result.files.end()) {
        throw error("{} cannot make a core image of the GRUB modules of the image: {}",
                    command.argv.front(), fmt::join(last_lines(result.output, 3), "; "));
    }
    return core->second;
}

std::string master_boot_code(std::string_view boot_image, std::uint64_t core_sector) {
    if (boot_image.size() != sector_size) {
        throw error("GRUB's boot.img of the image has {} bytes instead of {}", boot_image.size(),
                    sector_size);
    }
    std::string code(boot_image.substr(0, boot_code_size));
    put_number(code, kernel_sector_at, core_sector, 8);
    // In place of a jump: some BIOSes name the wrong drive, which this works around.
    put_number(code, drive_check_at, nop_nop, 2);
    return code;
}

std::string placed_core_image(std::string core, std::uint64_t first) {
    if (core.size() < 2 * sector_size || core.size() > core_size_limit) {
        throw error("GRUB's core image of the image has {} bytes", core.size());
    }
    core.resize((core.size() + sector_size - 1) / sector_size * sector_size, '\0');
    put_number(core, block_list_at, first + 1, 8);
    put_number(core, block_list_at + 8, core.size() / sector_size - 1, 2);
    put_number(core, block_list_at + 10, core_segment, 2);
    return core;
}

void write_bios_loader(const std::filesystem::path& disk, const Partition& bios,
                       std::string_view boot_image, const std::string& core) {
    const std::uint64_t first = bios.offset / sector_size;
    const std::string placed = placed_core_image(core, first);
    if (placed.size() > bios.size) {
        throw error("GRUB's core image is larger than the BIOS boot partition");
    }
    const Fd file = open_file(disk, O_WRONLY);
    write_to_disk(file.get(), master_boot_code(boot_image, first), 0, disk);
    write_to_disk(file.get(), placed, bios.offset, disk);
}

}  // namespace edgegpu
