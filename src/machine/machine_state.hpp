#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "execution/background_process.hpp"
#include "machine/accelerator.hpp"
#include "machine/agent_channel.hpp"
#include "machine/console_log.hpp"
#include "machine/machine.hpp"
#include "machine/qmp.hpp"
#include "machine/uefi_firmware.hpp"
#include "machine/wait.hpp"

namespace edgegpu {

/// A file that is removed with the object.
class RemovedFile {
public:
    explicit RemovedFile(std::filesystem::path path) : path_(std::move(path)) {}
    RemovedFile(const RemovedFile&) = delete;
    RemovedFile& operator=(const RemovedFile&) = delete;
    ~RemovedFile();

private:
    std::filesystem::path path_;
};

/// A machine that runs: QEMU, and what is connected to it.
struct Machine::Impl {
    Impl(const Context& context, const MachineSettings& machine_settings);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// Throws Error with what QEMU printed if it has ended.
    void check_running();
    /// The same, and takes note of resets.
    void check_boot();
    /// Reads everything that has come.
    void pump();
    /// Waits until the guest has settled in another boot than `previous` (empty: in any), and makes
    /// that the current one.
    void wait_settled(const std::string& what, const std::string& previous,
                      std::chrono::seconds limit);
    /// Has the agent run a script after which the guest goes down, which may well happen before it
    /// answers.
    void leave(const std::string& script);
    /// Runs `call`; if it fails because QEMU has ended, throws the Error that says so.
    template <typename Call>
    auto guarded(Call&& call) {
        try {
            return std::forward<Call>(call)();
        } catch (const Error& failure) {
            if (failure.kind() != ErrorKind::interrupted) {
                explain_end();
            }
            throw;
        }
    }

    Context ctx;
    MachineSettings settings;
    Execution execution;
    std::optional<RemovedFile> variables;
    std::optional<ConsoleLog> console;
    std::optional<BackgroundProcess> qemu;
    Watch process_watch;
    Watch boot_watch;
    std::optional<Qmp> qmp;
    std::optional<AgentChannel> agent;
    /// of the boot that was last waited for
    std::string boot_id;
    /// when the firmware began, and how often it has been helped since it last started a boot
    /// loader
    std::chrono::steady_clock::time_point firmware_began = std::chrono::steady_clock::now();
    int firmware_helped = 0;
    /// of the guest, and those of this class that QEMU has not told of yet
    int restarts = 0;
    int own_resets = 0;

private:
    void start();
    [[nodiscard]] UefiFirmware prepare_firmware();
    [[nodiscard]] std::optional<UefiFirmware> firmware_to_try();
    void explain_end();
    /// The Error of a machine that does not run any more, with what QEMU printed.
    [[nodiscard]] Error ended(const std::string& how);
    void show(const Wait& wait, std::chrono::seconds limit);
    /// Resets the machine once more if its firmware has not come to the boot loader in time.
    void help_firmware();
    [[nodiscard]] bool settled(const std::string& previous) const;
    [[nodiscard]] Error described(const Error& failure);
};

}  // namespace edgegpu
