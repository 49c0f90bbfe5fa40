#include "machine/accelerator.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "execution/background_process.hpp"
#include "execution/program_path.hpp"
#include "machine/line_channel.hpp"
#include "machine/qemu_command.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::seconds probe_limit{10};
constexpr std::chrono::milliseconds probe_pause{20};
constexpr const char* rhel_qemu = "/usr/libexec/qemu-kvm";
constexpr const char* emulation = "TCG (software emulation)";

/// The host's processor first. In a virtual machine, QEMU may abort as it sets a register that the
/// outer hypervisor does not have; EL 9 and 10 need x86-64-v2 and v3.
constexpr std::array processor_models{"host", "host,-arch-capabilities", "Haswell-noTSX"};

struct Unusable {
    std::string reason;
    std::string hint;
};

std::optional<Unusable> unusable(const std::string& device) {
    const Fd kvm(::open(device.c_str(), O_RDWR | O_CLOEXEC));
    if (kvm) {
        return std::nullopt;
    }
    const int code = errno;
    if (code == EACCES || code == EPERM) {
        return Unusable{"no permission to use " + device, "add yourself to the group kvm"};
    }
    if (code == ENOENT) {
        return Unusable{"there is no " + device,
                        "enable virtualisation in the firmware's setup, or nested virtualisation "
                        "where this is a virtual machine"};
    }
    return Unusable{device + ": " + std::strerror(code), ""};
}

/// The machine that is tried: nothing but firmware, which prints to the inherited socket.
std::vector<std::string> probe_command(const std::string& qemu, const std::string& cpu,
                                       const std::optional<UefiFirmware>& uefi, int socket) {
    std::vector<std::string> argv{qemu,
                                  "-no-user-config",
                                  "-nodefaults",
                                  "-display",
                                  "none",
                                  "-machine",
                                  machine_type(uefi),
                                  "-accel",
                                  "kvm",
                                  "-cpu",
                                  cpu,
                                  "-m",
                                  "128",
                                  "-chardev",
                                  fmt::format("socket,id=firmware,fd={}", socket)};
    if (uefi) {
        const std::vector<std::string> flash = flash_devices(*uefi);
        argv.insert(argv.end(), flash.begin(), flash.end());
        argv.insert(argv.end(), {"-serial", "chardev:firmware"});
    } else {
        argv.insert(argv.end(), {"-device", "isa-debugcon,iobase=0x402,chardev=firmware"});
    }
    return argv;
}

/// Why a machine with this processor does not work; nothing if it does.
std::optional<std::string> try_model(const Context& ctx, const std::string& qemu,
                                     const std::string& cpu,
                                     const std::optional<UefiFirmware>& uefi, bool& silent) {
    auto [printed, its_end] = make_channel();
    ProcessRequest request;
    request.argv = probe_command(qemu, cpu, uefi, its_end.get());
    request.descriptors = {its_end.get()};
    request.purpose = "does KVM work?";
    BackgroundProcess probe(ctx, request);
    its_end.reset();
    const auto deadline = std::chrono::steady_clock::now() + probe_limit;
    while (std::chrono::steady_clock::now() < deadline) {
        ctx.check_cancelled();
        char byte = 0;
        if (::recv(printed.get(), &byte, 1, MSG_DONTWAIT) == 1) {
            return std::nullopt;
        }
        // QEMU waits for somebody to look at the machine then.
        if (const std::size_t at = probe.output().find("KVM internal error");
            at != std::string::npos) {
            const std::vector<std::string_view> lines =
                lines_of(std::string_view(probe.output()).substr(at));
            return printable_line(lines.front()) +
                   (lines.size() > 1 ? " (" + printable_line(lines[1]) + ")" : "");
        }
        if (const std::optional<int> status = probe.status()) {
            const std::vector<std::string> lines = last_lines(probe.output(), 1);
            return lines.empty() ? fmt::format("QEMU ended with status {}", *status)
                                 : printable_line(lines.back());
        }
        std::this_thread::sleep_for(probe_pause);
    }
    silent = true;
    return fmt::format("a guest executed nothing within {} seconds", probe_limit.count());
}

}  // namespace

std::string find_qemu() {
    if (const auto program = find_in_path("qemu-system-x86_64"); !program.empty()) {
        return program.string();
    }
    if (::access(rhel_qemu, X_OK) == 0) {
        return rhel_qemu;
    }
    throw error("qemu-system-x86_64: program not found")
        .hinted(
            "install QEMU (Debian: qemu-system-x86, Fedora: qemu-system-x86-core, RHEL: "
            "qemu-kvm)");
}

Execution choose_execution(const Context& ctx, const std::string& qemu, Accelerator wanted,
                           const std::optional<UefiFirmware>& uefi, const std::string& device) {
    if (wanted == Accelerator::tcg) {
        return {Accelerator::tcg, "max", emulation};
    }
    Unusable why;
    if (std::optional<Unusable> closed = unusable(device)) {
        why = std::move(*closed);
    } else {
        bool silent = false;
        for (const char* cpu : processor_models) {
            const std::optional<std::string> failure = try_model(ctx, qemu, cpu, uefi, silent);
            if (!failure) {
                return {Accelerator::kvm, cpu,
                        std::string_view(cpu) == "host" ? "KVM"
                                                        : fmt::format("KVM (processor {})", cpu)};
            }
            why.reason = *failure;
            // Another processor would not make it execute anything.
            if (silent) {
                break;
            }
        }
    }
    if (wanted == Accelerator::kvm) {
        throw error("KVM does not work: {}", why.reason).hinted(why.hint);
    }
    return {Accelerator::tcg, "max", fmt::format("{}: KVM: {}", emulation, why.reason)};
}

}  // namespace edgegpu
