#include "machine/uefi_firmware.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A descriptor in an earlier directory hides one of the same name in a later.
constexpr std::array descriptor_directories{"etc/qemu/firmware", "usr/share/qemu/firmware"};
constexpr std::uint64_t descriptor_limit = 64ULL << 10U;

struct Place {
    const char* code;
    const char* variables;
    bool secure_boot;
};
constexpr std::array places{
    Place{"usr/share/OVMF/OVMF_CODE_4M.fd", "usr/share/OVMF/OVMF_VARS_4M.fd", false},
    Place{"usr/share/OVMF/OVMF_CODE_4M.ms.fd", "usr/share/OVMF/OVMF_VARS_4M.ms.fd", true},
    Place{"usr/share/edk2/ovmf/OVMF_CODE.fd", "usr/share/edk2/ovmf/OVMF_VARS.fd", false},
    Place{"usr/share/edk2/ovmf/OVMF_CODE.secboot.fd", "usr/share/edk2/ovmf/OVMF_VARS.secboot.fd",
          true},
    Place{"usr/share/OVMF/OVMF_CODE.fd", "usr/share/OVMF/OVMF_VARS.fd", false},
};

bool has(const json& list, std::string_view wanted) {
    return list.is_array() &&
           std::ranges::any_of(list, [&](const json& one) { return one == wanted; });
}

/// For x86_64 and a q35.
bool fits_machine(const json& targets) {
    return targets.is_array() && std::ranges::any_of(targets, [](const json& target) {
               const json machines = target.value("machines", json::array());
               return target.value("architecture", "") == "x86_64" && machines.is_array() &&
                      std::ranges::any_of(machines, [](const json& machine) {
                          return machine.is_string() &&
                                 machine.get<std::string>().starts_with("pc-q35-");
                      });
           });
}

/// Throws json::exception for what is no descriptor.
std::optional<UefiFirmware> read_descriptor(const json& descriptor, bool secure_boot,
                                            const fs::path& host) {
    const json& mapping = descriptor.at("mapping");
    const json features = descriptor.value("features", json::array());
    if (!has(descriptor.at("interface-types"), "uefi") || mapping.at("device") != "flash" ||
        mapping.value("mode", "split") != "split" || !fits_machine(descriptor.at("targets"))) {
        return std::nullopt;
    }
    const bool enrolled = has(features, "secure-boot") && has(features, "enrolled-keys");
    if (secure_boot ? !enrolled : has(features, "secure-boot")) {
        return std::nullopt;
    }
    const json& code = mapping.at("executable");
    const json& variables = mapping.at("nvram-template");
    UefiFirmware firmware;
    firmware.code = host / fs::path(code.at("filename").get<std::string>()).relative_path();
    firmware.variables =
        host / fs::path(variables.at("filename").get<std::string>()).relative_path();
    firmware.code_format = code.at("format").get<std::string>();
    firmware.variables_format = variables.at("format").get<std::string>();
    firmware.needs_smm = has(features, "requires-smm");
    return firmware;
}

bool is_there(const UefiFirmware& firmware) {
    std::error_code ignored;
    return fs::is_regular_file(firmware.code, ignored) &&
           fs::is_regular_file(firmware.variables, ignored);
}

}  // namespace

UefiFirmware find_uefi_firmware(bool secure_boot, const fs::path& host) {
    std::map<std::string, fs::path> descriptors;
    for (const char* directory : descriptor_directories) {
        for (const fs::directory_entry& entry : children_of(host / directory)) {
            if (entry.path().extension() == ".json") {
                descriptors.emplace(entry.path().filename().string(), entry.path());
            }
        }
    }
    for (const auto& [name, path] : descriptors) {
        try {
            // Something else in its place, such as an empty file, hides one as well.
            const std::optional<UefiFirmware> firmware =
                read_descriptor(json::parse(read_file(path, descriptor_limit)), secure_boot, host);
            if (firmware && is_there(*firmware)) {
                return *firmware;
            }
        } catch (const json::exception&) {
            continue;
        } catch (const Error&) {
            continue;
        }
    }
    for (const Place& place : places) {
        UefiFirmware firmware{host / place.code, host / place.variables, "raw", "raw",
                              place.secure_boot};
        if (place.secure_boot == secure_boot && is_there(firmware)) {
            return firmware;
        }
    }
    throw error("there is no UEFI firmware for virtual machines{}",
                secure_boot ? " with Secure Boot" : "")
        .hinted("install OVMF (Debian: ovmf, Fedora and RHEL: edk2-ovmf)");
}

UefiFirmware with_own_variables(UefiFirmware firmware, const fs::path& copy) {
    constexpr std::uint64_t limit = 64ULL << 20U;
    write_file(copy, read_file(firmware.variables, limit), 0600);
    firmware.variables = copy;
    return firmware;
}

}  // namespace edgegpu
