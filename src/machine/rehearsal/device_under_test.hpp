#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "machine/machine.hpp"
#include "machine/rehearsal/checks.hpp"
#include "machine/rehearsal/commit_facts.hpp"
#include "machine/rehearsal/rehearsal.hpp"
#include "machine/rehearsal/ssh_login.hpp"

namespace edgegpu {

/// A machine with a disk of its own that was installed with a commit. What goes wrong with the
/// machine itself becomes a failed check of the phase, and the phase ends there.
class DeviceUnderTest {
public:
    /// Writes the disk and starts the machine; `name` is that of its files in `request.work`,
    /// `users` are those that will log in. Throws Error.
    DeviceUnderTest(const Context& ctx, const RehearsalRequest& request, const std::string& name,
                    const std::string& ref, const RepositoryView& repository,
                    const CommitView& commit, const TestCredential& credential);
    DeviceUnderTest(const DeviceUnderTest&) = delete;
    DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;
    /// Keeps console and screen, and ends the machine.
    ~DeviceUnderTest();

    [[nodiscard]] Machine& machine() noexcept { return *machine_; }
    [[nodiscard]] const Disk& disk() const noexcept { return disk_; }
    [[nodiscard]] const CommitFacts& facts() const noexcept { return facts_; }

    /// Runs a phase: `work` adds results by the functions below. `phases` gets it even if `work`
    /// throws ErrorKind::interrupted. Returns whether nothing failed.
    bool phase(const std::string& name, const std::string& commit, std::vector<Phase>& phases,
               const std::function<void(Phase&)>& work);
    /// Waits until the machine answers for the first time.
    void start(Phase& phase);
    /// Has it restart, as the result "restart".
    void restart(Phase& phase);
    /// Runs a check of the guest. Returns whether it did not fail.
    bool check(Phase& phase, const Check& check);
    /// Runs all checks of a commit: those of the image, logins, the user's own, and what any of
    /// them may have shown. `before`: as of image_checks.
    void check_everything(Phase& phase, const CommitFacts& facts, const CommitFacts* before);
    /// Runs those of the user's own that belong to the phase.
    void run_user_checks(Phase& phase);
    /// Adds what was found without the guest.
    static void add(Phase& phase, CheckResult result);
    /// Writes what is on the screen, and the console, to the work directory.
    std::vector<std::filesystem::path> records();
    /// Shuts it down in order.
    void power_off();

private:
    /// Adds what `work` finds as the result `name`; while it runs, the machine is lost in it.
    void run(Phase& phase, const std::string& name, Kind kind,
             const std::function<CheckResult()>& work);
    /// Adds to a failure what SELinux denied in that time, or with Kind::of_boot in this boot.
    void add_denials(CheckResult& failure, Kind kind);
    [[nodiscard]] std::size_t user_checks_in(const Phase& phase) const;
    [[nodiscard]] CheckResult lost(const Phase& phase, const Error& failure) const;
    void check_logins(Phase& phase, const CommitFacts& facts);

    const Context& ctx_;
    const RehearsalRequest& request_;
    const TestCredential& credential_;
    std::string name_;
    std::filesystem::path place_;
    CommitFacts facts_;
    Disk disk_;
    std::uint16_t ssh_port_ = 0;
    /// with stand-ins for GPUs
    std::vector<GuestNode> nodes_;
    /// how many results the phase will have, as far as is known
    std::size_t planned_ = 0;
    /// the check that runs; empty between them
    std::string current_;
    std::unique_ptr<Machine> machine_;
};

}  // namespace edgegpu
