#include "image_file/encryption_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "image_file/cloud_check.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using namespace std::literals;

constexpr std::uint64_t initramfs_file_limit = 1ULL << 30U;
constexpr std::uint64_t module_list_limit = 64U << 20U;

/// Something that the image needs, in one of several places.
struct NeededFile {
    std::string_view name;
    std::vector<std::string_view> places;
};

const std::vector<NeededFile>& needed_files() {
    static const std::vector<NeededFile> files{
        {"cryptsetup", {"/usr/sbin/cryptsetup", "/usr/bin/cryptsetup"}},
        {"systemd-cryptenroll", {"/usr/bin/systemd-cryptenroll"}},
        {"libcryptsetup-token-systemd-tpm2.so",
         {"/usr/lib64/cryptsetup/libcryptsetup-token-systemd-tpm2.so",
          "/usr/lib/x86_64-linux-gnu/cryptsetup/libcryptsetup-token-systemd-tpm2.so"}},
    };
    return files;
}

/// Ends of names in an archive, which have a zero behind them, or parts of names.
constexpr std::array initramfs_names{
    std::pair{"/systemd-cryptsetup\0"sv, "systemd-cryptsetup"sv},
    std::pair{"/libtss2-esys.so"sv, "libtss2-esys"sv},
    std::pair{"/libtss2-mu.so"sv, "libtss2-mu"sv},
    std::pair{"/libtss2-rc.so"sv, "libtss2-rc"sv},
    std::pair{"/libtss2-tcti-device.so"sv, "libtss2-tcti-device"sv},
};
/// TPMs are chips of their own (tpm_tis) or part of the firmware (tpm_crb).
constexpr std::array drivers{"dm-crypt"sv, "tpm_tis"sv, "tpm_crb"sv};

std::vector<std::string> missing_in_commit(const CommitView& commit) {
    std::vector<std::string> missing;
    for (const NeededFile& file : needed_files()) {
        if (std::ranges::none_of(file.places, [&](std::string_view path) {
                return commit.find(path).has_value();
            })) {
            missing.emplace_back(file.name);
        }
    }
    return missing;
}

std::vector<std::string> missing_in_initramfs(const CommitView& commit) {
    const std::string modules = "/usr/lib/modules/" + commit.info().kernel;
    const std::string built_in =
        commit.read(modules + "/modules.builtin", module_list_limit).value_or(std::string());
    const std::string initramfs =
        commit.read(modules + "/initramfs.img", initramfs_file_limit).value_or(std::string());
    std::vector<std::string> missing;
    for (const auto& [text, name] : initramfs_names) {
        if (!initramfs_contains(initramfs, text)) {
            missing.emplace_back(name);
        }
    }
    for (const std::string_view driver : drivers) {
        const std::string file = fmt::format("/{}.ko", driver);
        if (built_in.find(file) == std::string::npos && !initramfs_contains(initramfs, file)) {
            missing.push_back(fmt::format("driver {}", driver));
        }
    }
    return missing;
}

/// Whether the initramfs leaves every encrypted disk locked (systemd-cryptsetup-generator(8), whose
/// false values are parse_boolean's; dracut.cmdline(7) has "rd.luks=0").
bool turns_off_luks(std::string_view argument) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(0, equals);
    const std::string value = lower_case(argument.substr(std::min(equals + 1, argument.size())));
    constexpr std::array no{"0"sv, "no"sv, "n"sv, "false"sv, "f"sv, "off"sv};
    return (name == "rd.luks" || name == "luks") && std::ranges::find(no, value) != no.end();
}

void require_luks(const CommitView& commit, const std::vector<std::string>& requested) {
    constexpr const char* consequence =
        "the kernel argument \"{}\" would leave the encrypted disk locked, and the device would "
        "not "
        "boot";
    const std::vector<std::string> own =
        commit.info().kernel_arguments.value_or(std::vector<std::string>());
    if (const auto off = std::ranges::find_if(own, turns_off_luks); off != own.end()) {
        throw error("commit {}: {}", commit.info().name, fmt::format(consequence, *off))
            .hinted("build the commit without it: customizations.kernel.append");
    }
    if (const auto off = std::ranges::find_if(requested, turns_off_luks); off != requested.end()) {
        throw error(ErrorKind::usage, consequence, *off)
            .hinted("leave it out: --karg, or append of [image]");
    }
}

}  // namespace

void check_for_encryption(const CommitView& commit, const std::vector<std::string>& requested) {
    require_luks(commit, requested);
    const std::vector<std::string> files = missing_in_commit(commit);
    const std::vector<std::string> early = missing_in_initramfs(commit);
    std::vector<std::string> parts;
    if (!files.empty()) {
        parts.push_back(fmt::format("the image has no {}", fmt::join(files, ", ")));
    }
    if (!early.empty()) {
        parts.push_back(fmt::format("the initramfs has no {}", fmt::join(early, ", ")));
    }
    if (!parts.empty()) {
        throw error("commit {} cannot unlock an encrypted disk by a TPM: {}", commit.info().name,
                    fmt::join(parts, "; "))
            .hinted(
                "add the packages cryptsetup, tpm2-tools and tpm2-tss to the blueprint, and "
                "add_dracutmodules+=\" crypt tpm2-tss \" in a file of /etc/dracut.conf.d");
    }
}

}  // namespace edgegpu
