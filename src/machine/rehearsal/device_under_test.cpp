#include "machine/rehearsal/device_under_test.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "disk/volumes.hpp"
#include "machine/guest_agent.hpp"
#include "machine/rehearsal/guest_journal.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

/// Emulated on a busy machine, a boot takes some minutes.
constexpr seconds first_boot_limit{1200};
constexpr seconds power_off_limit{180};

Injection test_injection(const CommitFacts& facts, const TestCredential& credential) {
    Injection injection = guest_agent();
    std::ranges::move(trust_authority(facts, credential.authority()),
                      std::back_inserter(injection));
    return injection;
}

}  // namespace

DeviceUnderTest::DeviceUnderTest(const Context& ctx, const RehearsalRequest& request,
                                 const std::string& name, const std::string& ref,
                                 const RepositoryView& repository, const CommitView& commit,
                                 const TestCredential& credential)
    : ctx_(ctx),
      request_(request),
      credential_(credential),
      name_(name),
      place_(request.work / name),
      facts_(commit_facts(commit)) {
    make_directories(place_);
    DiskRequest wanted;
    wanted.ref = ref;
    // Emulated on a busy machine, the timer fails the kernel's test, which panics then.
    wanted.kernel_arguments = {"no_timer_check"};
    wanted.injection = test_injection(facts_, credential);
    for (const Volume& volume : request.volumes) {
        if (const std::string missing = missing_for(volume, commit); missing.empty()) {
            wanted.volumes.push_back(volume);
        } else if (ctx.console != nullptr) {
            ctx.console->note(fmt::format("the disk has no {}: commit {} has no {}", volume.name(),
                                          facts_.commit, missing));
        }
    }
    disk_ = write_disk(ctx, repository, commit, wanted, place_ / "disk.raw");
    MachineSettings settings;
    settings.disk = place_ / "disk.raw";
    settings.firmware = request.firmware;
    settings.accelerator = request.accelerator;
    if (!request.gpus.empty()) {
        // At least one for each node.
        settings.processors =
            std::max(settings.processors, static_cast<unsigned>(request.gpus.size()));
        nodes_ = guest_nodes(request.gpus, settings.memory_mib, settings.processors);
        settings.nodes = nodes_;
    }
    settings.ssh_port = ssh_port_ = free_port();
    settings.work = place_;
    machine_ = std::make_unique<Machine>(ctx, settings);
}

DeviceUnderTest::~DeviceUnderTest() = default;

bool DeviceUnderTest::phase(const std::string& name, const std::string& commit,
                            std::vector<Phase>& phases, const std::function<void(Phase&)>& work) {
    const auto began = std::chrono::steady_clock::now();
    phases.push_back({name, commit, {}, 0});
    Phase& phase = phases.back();
    planned_ = 0;
    current_.clear();
    try {
        work(phase);
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        add(phase, lost(phase, failure));
    }
    phase.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return std::ranges::none_of(
        phase.results, [](const CheckResult& result) { return result.verdict == Verdict::failed; });
}

CheckResult DeviceUnderTest::lost(const Phase& phase, const Error& failure) const {
    CheckResult result;
    result.name = "machine";
    result.verdict = Verdict::failed;
    result.text = current_.empty() ? failure.message()
                                   : fmt::format("during {}: {}", current_, failure.message());
    if (const std::size_t done = phase.results.size(); done < planned_) {
        result.notes.push_back(counted(planned_ - done, "check") + " could not be made");
    }
    for (const std::string& trace : failure.traces()) {
        for (const std::string_view line : lines_of(trace)) {
            result.details.emplace_back(line);
        }
    }
    return result;
}

void DeviceUnderTest::run(Phase& phase, const std::string& name, Kind kind,
                          const std::function<CheckResult()>& work) {
    ctx_.check_cancelled();
    const std::size_t done = phase.results.size();
    const std::size_t all = std::max(done + 1, planned_);
    ctx_.console->progress_in_words(done, all, name,
                                    fmt::format("check {} of {}: {}", done + 1, all, name));
    current_ = name;
    CheckResult result = timed_check(name, work);
    if (result.verdict == Verdict::failed && name != "selinux-denials") {
        add_denials(result, kind);
    }
    add(phase, std::move(result));
    current_.clear();
}

void DeviceUnderTest::add_denials(CheckResult& failure, Kind kind) {
    if (facts_.selinux.empty() || facts_.selinux == "disabled") {
        return;
    }
    std::optional<long> ago;
    if (kind != Kind::of_boot) {
        // What is denied late in a second has the time of its beginning.
        ago = static_cast<long>(failure.seconds) + 2;
    }
    try {
        const CheckResult denied = run_check(*machine_, denials_beside_check(ago));
        failure.details.push_back((ago ? "during the check: " : "in this boot: ") + denied.text);
        for (const std::string& line : denied.details) {
            failure.details.push_back("  " + line);
        }
    } catch (const Error& lost) {
        if (lost.kind() == ErrorKind::interrupted) {
            throw;
        }
        failure.details.push_back("what SELinux denied is not known: " + lost.message());
    }
}

void DeviceUnderTest::add(Phase& phase, CheckResult result) {
    phase.results.push_back(std::move(result));
}

void DeviceUnderTest::start(Phase& phase) {
    add(phase, timed_check("start", [&] {
            machine_->wait_until_up(first_boot_limit);
            CheckResult result;
            result.text = fmt::format("the firmware ({}) started the disk, and the machine answers",
                                      request_.firmware == Firmware::uefi ? "UEFI" : "BIOS");
            return result;
        }));
}

void DeviceUnderTest::restart(Phase& phase) {
    add(phase, timed_check("restart", [&] {
            machine_->reboot(first_boot_limit);
            CheckResult result;
            result.text = "the machine restarted and answers";
            return result;
        }));
}

bool DeviceUnderTest::check(Phase& phase, const Check& check) {
    run(phase, check.name, check.kind, [&] { return run_check(*machine_, check); });
    return phase.results.back().verdict != Verdict::failed;
}

void DeviceUnderTest::check_logins(Phase& phase, const CommitFacts& facts) {
    if (facts.users.empty() || !facts.sshd_config) {
        CheckResult none;
        none.name = "ssh-login";
        none.verdict = Verdict::skipped;
        none.text =
            facts.sshd_config ? "the image has no user with an SSH key" : "the image has no sshd";
        add(phase, std::move(none));
        return;
    }
    for (const KeyedUser& user : facts.users) {
        check(phase, authorized_key_check(user));
        // Whoever cannot log in by design need not.
        if (phase.results.back().verdict == Verdict::skipped) {
            continue;
        }
        run(phase, "ssh-login " + user.name, Kind::demand, [&] {
            CheckResult result = credential_.log_in(ctx_, user, ssh_port_);
            if (result.verdict == Verdict::failed) {
                add_journal(*machine_, "-u sshd.service -u ssh.service", result.details);
            }
            return result;
        });
    }
}

std::size_t DeviceUnderTest::user_checks_in(const Phase& phase) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(request_.user_checks, [&](const UserCheck& one) {
            return std::ranges::find(one.phases, phase.name) != one.phases.end();
        }));
}

void DeviceUnderTest::run_user_checks(Phase& phase) {
    planned_ = std::max(planned_, phase.results.size() + user_checks_in(phase));
    const UserCheckPlace place{phase.name, request_.firmware == Firmware::uefi ? "uefi" : "bios",
                               phase.commit};
    for (const UserCheck& one : request_.user_checks) {
        if (std::ranges::find(one.phases, phase.name) != one.phases.end()) {
            run(phase, one.name, Kind::demand,
                [&] { return run_user_check(*machine_, one, place); });
        }
    }
}

void DeviceUnderTest::check_everything(Phase& phase, const CommitFacts& facts,
                                       const CommitFacts* before) {
    std::vector<Check> checks = image_checks(facts, before);
    if (!nodes_.empty()) {
        checks.push_back(gpu_nodes_check(nodes_));
    }
    const std::vector<Check> last = final_checks(facts, request_.allowed);
    const std::size_t own = checks.size() + 2 * facts.users.size() + last.size();
    planned_ = phase.results.size() + own + user_checks_in(phase);
    for (const Check& one : checks) {
        check(phase, one);
    }
    check_logins(phase, facts);
    run_user_checks(phase);
    for (const Check& one : last) {
        check(phase, one);
    }
}

std::vector<std::filesystem::path> DeviceUnderTest::records() {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path screen = request_.work / fmt::format("{}-screen.png", name_);
    try {
        machine_->screenshot(screen);
        files.push_back(screen);
    } catch (const Error& failure) {
        // A machine that has ended has no screen any more; its console says why.
        ctx_.log.info("no screenshot", {{"why", failure.message()}});
    }
    const std::filesystem::path console = request_.work / fmt::format("{}-console.log", name_);
    std::error_code failed;
    std::filesystem::copy_file(place_ / "console.log", console,
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (!failed) {
        files.push_back(console);
    }
    return files;
}

void DeviceUnderTest::power_off() {
    machine_->power_off(power_off_limit);
}

}  // namespace edgegpu
