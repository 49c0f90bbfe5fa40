#include "machine/qemu_command.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/virtual_machine.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Emulation, with 128 MiB for translated code instead of 1 GiB. QEMU keeps the translations of a
/// page over a reset. Each write to such a page looks at all of them, and a page of a library has
/// as many as processes have run it, each at another address: with 1 GiB, firmware that unpacks
/// itself over such pages after a restart can take minutes for one of them, and seems to hang.
constexpr const char* emulation_options = "tcg,thread=multi,tb-size=128";

/// As JSON: in QEMU's own syntax a comma of a path would have to be doubled. Nothing is synced:
/// what is written need not survive a crash of the host, and firmware writes its variables word by
/// word.
std::string block_device(const char* name, const std::filesystem::path& file,
                         std::string_view format, bool read_only) {
    const json cache{{"no-flush", true}, {"direct", false}};
    return json{{"driver", format},
                {"node-name", name},
                {"read-only", read_only},
                {"discard", "unmap"},
                {"cache", cache},
                {"file",
                 {{"driver", "file"},
                  {"filename", file.string()},
                  {"read-only", read_only},
                  {"discard", "unmap"},
                  {"cache", cache}}}}
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string network(const MachineSettings& settings) {
    std::string text = "user,id=net";
    if (settings.ssh_port != 0) {
        text += fmt::format(",hostfwd=tcp:127.0.0.1:{}-:22", settings.ssh_port);
    }
    return text;
}

/// What there is beside the disk.
void add_drives(const MachineSettings& settings, std::vector<std::string>& argv) {
    for (std::size_t i = 0; i < settings.more_disks.size(); ++i) {
        const std::string name = fmt::format("disk{}", i + 2);
        argv.insert(argv.end(),
                    {"-blockdev", block_device(name.c_str(), settings.more_disks[i], "raw", false),
                     "-device", fmt::format("virtio-blk-pci,drive={}", name)});
    }
    if (!settings.medium.empty()) {
        const bool cd = settings.medium_drive == Drive::cd;
        argv.insert(argv.end(), {"-blockdev", block_device("medium", settings.medium, "raw", cd)});
        const int order = settings.medium_first ? 0 : 2;
        if (!cd) {
            argv.insert(argv.end(), {"-device", "qemu-xhci"});
        }
        argv.insert(argv.end(), {"-device", fmt::format("{},drive=medium,bootindex={}",
                                                        cd ? "ide-cd" : "usb-storage", order)});
    }
}

}  // namespace

std::string machine_type(const std::optional<UefiFirmware>& uefi) {
    std::string type = "q35";
    if (uefi) {
        type += ",pflash0=code,pflash1=variables";
        type += uefi->needs_smm ? ",smm=on" : "";
    }
    return type;
}

std::vector<std::string> flash_devices(const UefiFirmware& uefi) {
    std::vector<std::string> argv{
        "-blockdev", block_device("code", uefi.code, uefi.code_format, true), "-blockdev",
        block_device("variables", uefi.variables, uefi.variables_format, false)};
    if (uefi.needs_smm) {
        argv.insert(argv.end(), {"-global", "driver=cfi.pflash01,property=secure,value=on"});
    }
    return argv;
}

std::vector<std::string> qemu_command(const std::string& qemu, const MachineSettings& settings,
                                      const Execution& execution,
                                      const std::optional<UefiFirmware>& uefi,
                                      const QemuSockets& sockets) {
    const auto socket = [](const char* name, int number) {
        return fmt::format("socket,id={},fd={}", name, number);
    };
    std::vector<std::string> argv{
        qemu, "-name", "edgegpu", "-no-user-config", "-nodefaults", "-display", "none",
        // The guest is untrusted: a QEMU that it has taken over starts no programs.
        "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        "-machine", machine_type(uefi), "-accel",
        execution.accelerator == Accelerator::kvm ? "kvm" : emulation_options, "-cpu",
        execution.cpu, "-smp", std::to_string(settings.processors), "-m",
        std::to_string(settings.memory_mib), "-rtc", "base=utc",
        // For screenshots.
        "-vga", "std", "-chardev", socket("monitor", sockets.monitor), "-mon",
        "chardev=monitor,mode=control", "-chardev", socket("console", sockets.console), "-serial",
        "chardev:console", "-chardev", socket("agent", sockets.agent), "-serial", "chardev:agent",
        "-object", "rng-builtin,id=rng", "-device", "virtio-rng-pci,rng=rng", "-netdev",
        network(settings),
        // No ROM: nothing is to be booted from the network.
        "-device", "virtio-net-pci,netdev=net,romfile=", "-blockdev",
        block_device("disk", settings.disk, "raw", false), "-device",
        "virtio-blk-pci,drive=disk,bootindex=1"};
    add_drives(settings, argv);
    const std::vector<std::string> cards = stand_in_devices(settings.nodes);
    argv.insert(argv.end(), cards.begin(), cards.end());
    if (uefi) {
        const std::vector<std::string> flash = flash_devices(*uefi);
        argv.insert(argv.end(), flash.begin(), flash.end());
    } else if (sockets.firmware >= 0) {
        argv.insert(argv.end(), {"-chardev", socket("firmware", sockets.firmware), "-device",
                                 "isa-debugcon,iobase=0x402,chardev=firmware"});
    }
    return argv;
}

}  // namespace edgegpu
