#include "machine/accelerator.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "execution/background_process.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/terminal_text.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::seconds probe_limit{5};
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

/// Whether a machine with this processor starts; if not, why.
std::optional<std::string> try_model(const Context& ctx, const std::string& qemu,
                                     const std::string& cpu, bool& silent) {
    ProcessRequest request;
    request.argv = {qemu, "-no-user-config", "-nodefaults", "-display", "none", "-machine", "q35",
                    "-accel", "kvm", "-cpu", cpu, "-m", "64",
                    // SeaBIOS prints what it does.
                    "-chardev", "stdio,id=firmware,signal=off", "-device",
                    "isa-debugcon,iobase=0x402,chardev=firmware"};
    request.purpose = "does KVM work?";
    BackgroundProcess probe(ctx, request);
    const auto deadline = std::chrono::steady_clock::now() + probe_limit;
    while (std::chrono::steady_clock::now() < deadline) {
        ctx.check_cancelled();
        const std::optional<int> status = probe.status();
        if (probe.output().find("SeaBIOS") != std::string::npos) {
            return std::nullopt;
        }
        if (status) {
            const std::vector<std::string> lines = last_lines(probe.output(), 1);
            return lines.empty() ? fmt::format("QEMU ended with status {}", *status)
                                 : printable_line(lines.back());
        }
        std::this_thread::sleep_for(probe_pause);
    }
    silent = true;
    return "a guest executed nothing within 5 seconds";
}

}  // namespace

std::string find_qemu() {
    const char* path = std::getenv("PATH");
    const std::string_view directories = path == nullptr ? "/usr/bin:/bin" : path;
    for (const std::string_view directory : split(directories, ':')) {
        const std::string program = std::string(directory) + "/qemu-system-x86_64";
        if (!directory.empty() && ::access(program.c_str(), X_OK) == 0) {
            return program;
        }
    }
    if (::access(rhel_qemu, X_OK) == 0) {
        return rhel_qemu;
    }
    throw error("qemu-system-x86_64: program not found")
        .hinted("install QEMU (Debian: qemu-system-x86, Fedora: qemu-system-x86-core, RHEL: "
                "qemu-kvm)");
}

Execution choose_execution(const Context& ctx, const std::string& qemu, Accelerator wanted,
                           const std::string& device) {
    if (wanted == Accelerator::tcg) {
        return {Accelerator::tcg, "max", emulation};
    }
    Unusable why;
    if (std::optional<Unusable> closed = unusable(device)) {
        why = std::move(*closed);
    } else {
        bool silent = false;
        for (const char* cpu : processor_models) {
            const std::optional<std::string> failure = try_model(ctx, qemu, cpu, silent);
            if (!failure) {
                return {Accelerator::kvm, cpu, "KVM"};
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
