#include "image_file/cloud_check.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "support/error.hpp"
#include "support/files/decompress.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t initramfs_limit = 1ULL << 30U;
constexpr std::uint64_t unpacked_limit = 2ULL << 30U;
constexpr std::uint64_t list_limit = 64U << 20U;

bool has_line_with(const std::string& list, std::string_view module) {
    return list.find('/' + std::string(module) + ".ko") != std::string::npos;
}

}  // namespace

bool initramfs_contains(std::string_view initramfs, std::string_view text) {
    constexpr std::string_view plain_magic = "070701";
    constexpr std::string_view trailer = "TRAILER!!!";
    // Processor microcode comes first, as a plain archive of its own.
    while (initramfs.starts_with(plain_magic)) {
        const std::size_t end = std::min(initramfs.find(trailer), initramfs.size());
        if (initramfs.substr(0, end).find(text) != std::string_view::npos) {
            return true;
        }
        initramfs.remove_prefix(std::min(end + trailer.size(), initramfs.size()));
        initramfs.remove_prefix(std::min(initramfs.find_first_not_of('\0'), initramfs.size()));
    }
    try {
        return decompress(initramfs, unpacked_limit, "initramfs").find(text) != std::string::npos;
    } catch (const Error&) {
        return false;
    }
}

void check_for_ec2(const Context& ctx, const CommitView& commit, const DiskRequest& request) {
    const std::string modules = "/usr/lib/modules/" + commit.info().kernel;
    const std::string built_in =
        commit.read(modules + "/modules.builtin", list_limit).value_or(std::string());
    const std::string loadable =
        commit.read(modules + "/modules.dep", list_limit).value_or(std::string());
    const std::optional<std::string> initramfs =
        commit.read(modules + "/initramfs.img", initramfs_limit);
    if (!has_line_with(built_in, "nvme") &&
        !(initramfs && initramfs_contains(*initramfs, "/nvme.ko"))) {
        throw error(
            "commit {}: neither the kernel nor the initramfs has the driver nvme, without "
            "which it finds no disk on EC2",
            commit.info().name)
            .hinted(
                "add it to the initramfs: add_drivers+=\" nvme \" in a file of "
                "/etc/dracut.conf.d, by an overlay of the blueprint");
    }
    if (!has_line_with(built_in, "ena") && !has_line_with(loadable, "ena")) {
        throw error(
            "commit {}: the kernel has no driver ena, without which it has no network on "
            "EC2",
            commit.info().name)
            .hinted(
                "add the package of the kernel's modules to the blueprint "
                "(kernel-modules-core)");
    }
    std::vector<std::string> arguments =
        commit.info().kernel_arguments.value_or(std::vector<std::string>());
    arguments.insert(arguments.end(), request.kernel_arguments.begin(),
                     request.kernel_arguments.end());
    const bool has_console = std::ranges::any_of(arguments, [](const std::string& argument) {
        return argument == "console=ttyS0" || argument.starts_with("console=ttyS0,");
    });
    if (!has_console && ctx.console != nullptr) {
        ctx.console->warn(
            "EC2 shows the serial console alone, and console=ttyS0 is not among the "
            "kernel arguments: add --karg console=ttyS0");
    }
}

}  // namespace edgegpu
