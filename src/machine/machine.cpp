#include "machine/machine.hpp"

#include <string_view>
#include <system_error>
#include <thread>

#include "machine/accelerator.hpp"
#include "machine/machine_state.hpp"
#include "machine/uefi_firmware.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::chrono::seconds monitor_answer{30};
constexpr std::uint64_t largest_screenshot = 64ULL << 20U;

/// As the format demands: signature, header first, end last.
bool is_png(std::string_view file) {
    return file.starts_with("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"sv) &&
           file.ends_with("\0\0\0\0IEND\xae\x42\x60\x82"sv);
}

}  // namespace

void require_programs(Firmware firmware, bool secure_boot) {
    static_cast<void>(find_qemu());
    if (firmware == Firmware::uefi) {
        static_cast<void>(find_uefi_firmware(secure_boot));
    }
}

Machine::Machine(const Context& ctx, const MachineSettings& settings)
    : impl_(std::make_unique<Impl>(ctx, settings)) {}

Machine::~Machine() = default;

std::string Machine::accelerator() const {
    return impl_->execution.text;
}

void Machine::wait_until_up(std::chrono::seconds limit) {
    impl_->wait_settled("the guest did not come up", "", limit);
}

GuestResult Machine::run(std::string_view script, std::chrono::seconds limit) {
    return impl_->guarded([&] {
        impl_->pump();
        if (const auto& greeting = impl_->agent->greeting();
            greeting && !impl_->boot_id.empty() && greeting->boot_id != impl_->boot_id) {
            throw error("the guest has restarted since it was last waited for");
        }
        return impl_->agent->run(script, limit);
    });
}

void Machine::wait_for_restart(std::chrono::seconds limit) {
    impl_->wait_settled("the guest did not come up again", impl_->boot_id, limit);
}

void Machine::reboot(std::chrono::seconds limit) {
    impl_->guarded([&] { impl_->pump(); });
    const int before = impl_->restarts;
    impl_->guarded([&] { impl_->leave("systemctl --no-block reboot"); });
    wait_for_restart(limit);
    // What the guest says of itself is not enough: neither firmware nor boot loader were at work.
    if (impl_->restarts == before) {
        throw error("the guest says that it has restarted, but its machine was not reset");
    }
}

int Machine::restarts() const noexcept {
    return impl_->restarts;
}

void Machine::screenshot(const fs::path& png) {
    const fs::path partial = fs::absolute(png).string() + ".part";
    const RemovedFile remove(partial);
    impl_->guarded([&] {
        impl_->qmp->execute("screendump", {{"filename", partial.string()}, {"format", "png"}},
                            monitor_answer);
    });
    if (!is_png(read_file(partial, largest_screenshot))) {
        throw error("{}: QEMU wrote something that is not a PNG", png.string());
    }
    std::error_code failure;
    fs::rename(partial, png, failure);
    if (failure) {
        throw error("{}: {}", png.string(), failure.message());
    }
}

void Machine::power_off(std::chrono::seconds limit) {
    const Watch watch{impl_->ctx, {}};
    const Wait wait(watch, "the guest did not shut down", limit);
    bool asked = false;
    while (!impl_->qemu->status() && !wait.over()) {
        try {
            impl_->pump();
            if (!asked && impl_->agent->greeting()) {
                asked = true;
                impl_->leave("systemctl --no-block poweroff");
            } else if (!asked || wait.left() < limit / 2) {
                // As the button of a computer; pressed again, in case nobody saw it.
                impl_->qmp->execute("system_powerdown", monitor_answer);
                asked = true;
            }
            const Wait step(watch, "", std::chrono::seconds(2));
            while (!impl_->qemu->status() && !step.over() && !wait.over()) {
                impl_->agent->read();
                step.readable(impl_->agent->descriptor());
            }
        } catch (const Error& failure) {
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            // It may have ended on the way; if it has not, force will do.
            impl_->ctx.check_cancelled();
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    if (!impl_->qemu->status()) {
        if (impl_->ctx.console != nullptr) {
            impl_->ctx.console->note(
                "the guest did not shut down in time; its machine was stopped");
        }
        impl_->qemu->kill();
    }
}

}  // namespace edgegpu
