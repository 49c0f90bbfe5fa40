#include "machine/machine_state.hpp"

#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "machine/qemu_command.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds monitor_limit{60};
constexpr std::chrono::milliseconds end_patience{1000};
constexpr std::size_t shown_lines = 20;
/// Emulated by QEMU 7.2, UEFI sometimes hangs after a guest's restart, before it does anything; a
/// boot loader has not seen that start, so that another reset does not count as one.
constexpr std::chrono::seconds firmware_patience{90};
constexpr int most_helps = 4;

}  // namespace

RemovedFile::~RemovedFile() {
    if (!path_.empty()) {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
}

Machine::Impl::Impl(const Context& context, const MachineSettings& machine_settings)
    : ctx(context),
      settings(machine_settings),
      process_watch{ctx, [this] { check_running(); }},
      boot_watch{ctx, [this] { check_boot(); }} {
    // An empty file would otherwise be a disk with nothing to boot on it.
    std::error_code ignored;
    if (!fs::exists(settings.disk, ignored)) {
        throw error("{}: no such disk image", settings.disk.string());
    }
    if (settings.secure_boot && settings.firmware != Firmware::uefi) {
        throw error("there is no Secure Boot without UEFI");
    }
    start();
}

/// The variables of this machine begin as those of a new one.
UefiFirmware Machine::Impl::prepare_firmware() {
    const fs::path copy = settings.work / "firmware-variables";
    variables.emplace(copy);
    return with_own_variables(find_uefi_firmware(settings.secure_boot), copy);
}

/// What KVM is tried with: UEFI even for a machine with BIOS, if it is there. Nested virtualisation
/// that executes SeaBIOS may still fail with what the boot loader does.
std::optional<UefiFirmware> Machine::Impl::firmware_to_try() {
    try {
        return prepare_firmware();
    } catch (const Error&) {
        if (settings.firmware == Firmware::uefi) {
            throw;
        }
        return std::nullopt;
    }
}

void Machine::Impl::start() {
    const std::string program = find_qemu();
    execution = choose_execution(ctx, program, settings.accelerator, firmware_to_try());
    variables.reset();
    std::optional<UefiFirmware> firmware;
    if (settings.firmware == Firmware::uefi) {
        firmware = prepare_firmware();
    }
    std::pair<Fd, Fd> monitor = make_channel();
    auto [serial, its_serial] = make_channel();
    auto [answers, its_answers] = make_channel();
    auto [bios, its_bios] = make_channel();

    ProcessRequest request;
    request.argv =
        qemu_command(program, settings, execution, firmware,
                     {monitor.second.get(), its_serial.get(), its_answers.get(), its_bios.get()});
    request.descriptors = {monitor.second.get(), its_serial.get(), its_answers.get(),
                           its_bios.get()};
    request.purpose = "machine with " + settings.disk.filename().string();
    std::vector<Fd> consoles;
    consoles.push_back(std::move(serial));
    consoles.push_back(std::move(bios));
    console.emplace(std::move(consoles), settings.work / "console.log");
    qemu.emplace(ctx, std::move(request));
    // Whoever has them keeps the channels open.
    monitor.second.reset();
    its_serial.reset();
    its_answers.reset();
    its_bios.reset();
    ctx.log.info("machine started", {{"disk", settings.disk}, {"accelerator", execution.text}});
    guarded([&] { qmp.emplace(process_watch, std::move(monitor.first), monitor_limit); });
    agent.emplace(boot_watch, std::move(answers));
}

void Machine::Impl::check_running() {
    const std::optional<int> status = qemu->status();
    if (!status) {
        return;
    }
    if (*status == 0) {
        throw error("the machine is off: the guest has shut down");
    }
    throw ended(fmt::format("the machine ended: QEMU's exit status is {}", *status));
}

Error Machine::Impl::ended(const std::string& how) {
    Error failure(how);
    for (const std::string& line : last_lines(qemu->output(), shown_lines)) {
        failure.traced(printable_line(line));
    }
    return failure;
}

void Machine::Impl::explain_end() {
    // Its sockets are closed a little earlier than it ends.
    const auto deadline = std::chrono::steady_clock::now() + end_patience;
    const bool connected = qmp && !qmp->closed() && agent && agent->descriptor() >= 0;
    do {
        check_running();
        if (connected) {
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (std::chrono::steady_clock::now() < deadline);
}

void Machine::Impl::check_boot() {
    check_running();
    qmp->read();
    while (const std::optional<std::string> event = qmp->next_event()) {
        if (*event == "RESET") {
            ctx.log.debug("the guest was reset");
            if (own_resets > 0) {
                --own_resets;
            } else {
                ++restarts;
            }
            console->restart();
            agent->forget();
            firmware_began = std::chrono::steady_clock::now();
        } else if (*event == "STOP") {
            // Nobody asked for that: KVM met an instruction that it cannot execute, or the disk of
            // the host is full.
            throw ended("the machine stopped");
        }
    }
}

void Machine::Impl::pump() {
    // First what the agent said before a reset.
    agent->read();
    check_boot();
}

void Machine::Impl::help_firmware() {
    const auto now = std::chrono::steady_clock::now();
    if (console->progress().phase() != ConsoleProgress::Phase::firmware) {
        firmware_began = now;
        firmware_helped = 0;
    } else if (now - firmware_began > firmware_patience && firmware_helped < most_helps) {
        ++firmware_helped;
        firmware_began = now;
        ctx.log.info("the firmware hangs; the machine is reset",
                     {{"seconds", firmware_patience.count()}});
        if (ctx.console != nullptr) {
            ctx.console->note(fmt::format(
                "the machine's firmware did nothing for {} s; the machine was reset once more",
                firmware_patience.count()));
        }
        ++own_resets;
        qmp->execute("system_reset", monitor_limit);
    }
}

bool Machine::Impl::settled(const std::string& previous) const {
    const std::optional<AgentGreeting>& greeting = agent->greeting();
    return greeting && greeting->boot_id != previous && greeting->state != "initializing" &&
           greeting->state != "starting" && greeting->state != "stopping";
}

void Machine::Impl::show(const Wait& wait, std::chrono::seconds limit) {
    const ConsoleProgress progress = console->progress();
    if (!progress.failure().empty()) {
        throw error("the guest did not come up: {}", progress.failure());
    }
    if (ctx.console != nullptr) {
        const auto elapsed = static_cast<std::size_t>(wait.elapsed().count());
        const auto most = static_cast<std::size_t>(limit.count());
        const std::string summary = progress.summary();
        ctx.console->progress_in_words(
            elapsed, most, summary,
            fmt::format("{} s of at most {} s: {}", elapsed, most, summary));
    }
}

Error Machine::Impl::described(const Error& failure) {
    Error result = failure;
    if (agent && agent->greeting() && qmp && !qmp->closed()) {
        try {
            result.traced("units that are still being started or stopped:");
            const GuestResult jobs =
                agent->run("systemctl list-jobs --no-legend --no-pager", std::chrono::seconds(20));
            for (const std::string& line : last_lines(jobs.output, shown_lines)) {
                result.traced("  " + printable_line(line));
            }
        } catch (const Error& silent) {
            if (silent.kind() == ErrorKind::interrupted) {
                throw;
            }
            result.traced("  " + silent.message());
        }
    }
    result.traced("the end of its console:");
    for (const std::string& line : console->progress().last(shown_lines)) {
        result.traced("  " + clip(line, 160));
    }
    return result.hinted("the whole console is in " + (settings.work / "console.log").string());
}

void Machine::Impl::wait_settled(const std::string& what, const std::string& previous,
                                 std::chrono::seconds limit) {
    const Wait wait(process_watch, what, limit);
    try {
        guarded([&] {
            for (pump(); !settled(previous); pump()) {
                show(wait, limit);
                help_firmware();
                wait.readable(agent->descriptor());
            }
        });
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        throw described(failure);
    }
    boot_id = agent->greeting()->boot_id;
    ctx.log.info("the guest is up", {{"boot", boot_id},
                                     {"state", agent->greeting()->state},
                                     {"seconds", wait.elapsed().count()}});
}

void Machine::Impl::leave(const std::string& script) {
    GuestResult result;
    try {
        result = agent->run_once(script, std::chrono::seconds(60));
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        if (agent->greeting() && !qemu->status()) {
            throw;
        }
        return;
    }
    if (result.status != 0) {
        Error refused = error("the guest refused '{}'", script);
        for (const std::string& line : last_lines(result.output, shown_lines)) {
            refused.traced(printable_line(line));
        }
        throw refused;
    }
}

}  // namespace edgegpu
