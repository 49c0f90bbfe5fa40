#include "machine/rehearsal/rehearsal.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "delta/static_delta.hpp"
#include "execution/stage.hpp"
#include "machine/file_server.hpp"
#include "machine/rehearsal/device_under_test.hpp"
#include "machine/rehearsal/upgrade_steps.hpp"
#include "repository/commit_view.hpp"
#include "repository/followed_ref.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

/// The host, as a guest of QEMU's user network sees it.
constexpr const char* host_in_guest = "10.0.2.2";
constexpr seconds restart_limit{1200};
/// greenboot counts to three by default; a machine that restarts more often never comes back.
constexpr int most_restarts = 10;

CommitView open_deployable(const RepositoryView& repository, const std::string& ref) {
    CommitView commit = repository.open(ref);
    require_deployable(commit.info());
    return commit;
}

/// A rehearsal that is under way.
class Scenario {
public:
    Scenario(const Context& ctx, const RehearsalRequest& request, Rehearsal& result)
        : ctx_(ctx),
          request_(request),
          result_(result),
          repository_(request.repo),
          commit_(open_deployable(repository_, request.ref)),
          facts_(commit_facts(commit_)),
          stages_(ctx, request.ref) {
        result.repository = std::filesystem::absolute(request.repo).lexically_normal().string();
        result.ref = request.ref;
        result.commit = facts_.commit;
        result.firmware = request.firmware;
        ref_ = followed_ref(repository_, commit_);
        if (!request.from.empty()) {
            old_.emplace(open_deployable(repository_, request.from));
            result.from = old_->info().checksum;
            check_upgrade();
        }
        require_programs(request.firmware, false);
    }

    void run() {
        stages_.run([&] {
            const std::filesystem::path keys = request_.work / "keys";
            make_directories(keys);
            const TestCredential credential(ctx_, keys, all_users());
            if (!old_) {
                boot(credential);
                return;
            }
            if (request_.upgrade) {
                upgrade(credential);
            }
            if (request_.rollback) {
                roll_back(credential);
            }
        });
    }

private:
    /// What cannot be upgraded is refused before anything is booted.
    void check_upgrade() const {
        if (ref_.empty()) {
            throw error(ErrorKind::usage, "no ref has commit {}, so that no device follows it",
                        facts_.commit)
                .hinted("give a ref as the first argument");
        }
        if (const std::string newest = repository_.open(ref_).info().checksum;
            newest != facts_.commit) {
            throw error(ErrorKind::usage, "devices that follow {} get commit {}, not {}", ref_,
                        newest, facts_.commit)
                .hinted("test the newest commit of the ref");
        }
        if (result_.from == facts_.commit) {
            throw error(ErrorKind::usage, "{} and {} are the same commit: there is no upgrade",
                        request_.from, request_.ref);
        }
        if (read_file(request_.repo / "config").find("mode=archive") == std::string::npos) {
            throw error(ErrorKind::usage,
                        "{}: devices can upgrade from a repository in mode archive only",
                        result_.repository);
        }
    }

    std::vector<KeyedUser> all_users() const {
        std::vector<KeyedUser> users = facts_.users;
        if (old_) {
            const CommitFacts old = commit_facts(*old_);
            users.insert(users.end(), old.users.begin(), old.users.end());
        }
        return users;
    }

    void boot(const TestCredential& credential) {
        begin("boot", "booting");
        DeviceUnderTest device(ctx_, request_, "boot", ref_, repository_, commit_, credential);
        note_accelerator(device);
        device.phase("boot", facts_.commit, result_.phases, [&](Phase& phase) {
            device.start(phase);
            device.check_everything(phase, facts_, nullptr);
        });
        end(device);
    }

    /// Starts the machine with the older commit, and leads it to this repository. Returns whether
    /// it can be upgraded.
    bool prepare(DeviceUnderTest& device, FileServer& server, const char* name) {
        return device.phase(name, result_.from, result_.phases, [&](Phase& phase) {
            device.start(phase);
            for (const Check& check : basic_checks(device.facts())) {
                device.check(phase, check);
            }
            const ImageRemote* remote = remote_of(device);
            if (remote == nullptr) {
                CheckResult none;
                none.name = "remote";
                none.verdict = Verdict::failed;
                none.text = "the image configures no remote to upgrade from";
                DeviceUnderTest::add(phase, std::move(none));
                return;
            }
            DeviceUnderTest::add(phase, verification_check(*remote));
            make_change(device.machine());
            device.run_user_checks(phase);
            redirect_remote(device.machine(), *remote,
                            fmt::format("https://{}:{}", host_in_guest, server.port()),
                            server.certificate());
        });
    }

    static const ImageRemote* remote_of(const DeviceUnderTest& device) {
        const std::string& refspec = device.disk().refspec;
        const std::vector<ImageRemote>& remotes = device.facts().remotes;
        const auto found = std::ranges::find_if(
            remotes, [&](const ImageRemote& one) { return refspec.starts_with(one.name + ':'); });
        return found == remotes.end() ? nullptr : &*found;
    }

    void upgrade(const TestCredential& credential) {
        begin("upgrade", "upgrading to");
        FileServer server(ctx_, request_.repo, host_in_guest);
        DeviceUnderTest device(ctx_, request_, "upgrade", ref_, repository_, *old_, credential);
        note_accelerator(device);
        if (prepare(device, server, "before-upgrade") || can_go_on()) {
            device.phase("upgrade", facts_.commit, result_.phases, [&](Phase& phase) {
                if (!fetch(device, phase, server)) {
                    return;
                }
                device.restart(phase);
                device.check_everything(phase, facts_, &device.facts());
                device.check(phase, kept_change_check());
                device.check(phase, deployments_check({facts_.commit, result_.from}));
            });
            boot_with_new_arguments(device);
        }
        end(device);
    }

    /// Has the device upgrade with its own program. What it says of that has to agree with what it
    /// was sent.
    bool fetch(DeviceUnderTest& device, Phase& phase, const FileServer& server) const {
        if (!device.check(phase, upgrade_check(device.facts(), facts_.commit))) {
            return false;
        }
        CheckResult download =
            download_check(result_.from, facts_.commit, delta_between(repository_, *old_, commit_),
                           {server.sent(), server.requests(), server.bytes()});
        const bool fetched = download.verdict == Verdict::passed;
        DeviceUnderTest::add(phase, std::move(download));
        return fetched;
    }

    /// Where the commit before does not set the kernel arguments of the next one, they take effect
    /// at the boot after the first.
    void boot_with_new_arguments(DeviceUnderTest& device) {
        if (device.facts().sets_next_arguments ||
            facts_.kernel_arguments == device.facts().kernel_arguments || !can_go_on() ||
            !has_result("restart")) {
            return;
        }
        device.phase("next-boot", facts_.commit, result_.phases, [&](Phase& phase) {
            device.restart(phase);
            for (const Check& check : basic_checks(facts_)) {
                device.check(phase, check);
            }
            device.check(phase, changed_arguments_check(facts_, device.facts()));
        });
    }

    /// Whether the current phase has come to this check.
    bool has_result(const std::string& name) const {
        const std::vector<CheckResult>& results = result_.phases.back().results;
        return std::ranges::any_of(results,
                                   [&](const CheckResult& one) { return one.name == name; });
    }

    /// Whether the machine answers although a check failed: an upgrade may well be what helps.
    bool can_go_on() const {
        const std::vector<CheckResult>& results = result_.phases.back().results;
        return std::ranges::none_of(results, [](const CheckResult& one) {
            return one.verdict == Verdict::failed &&
                   (one.name == "machine" || one.name == "remote");
        });
    }

    void roll_back(const TestCredential& credential) {
        begin("rollback", "taking back");
        FileServer server(ctx_, request_.repo, host_in_guest);
        DeviceUnderTest device(ctx_, request_, "rollback", ref_, repository_, *old_, credential);
        note_accelerator(device);
        if (prepare(device, server, "before-rollback") || can_go_on()) {
            device.phase("rollback", result_.from, result_.phases, [&](Phase& phase) {
                if (device.facts().greenboot.empty()) {
                    CheckResult none;
                    none.name = "rollback";
                    none.verdict = Verdict::failed;
                    none.text =
                        "the image does not enable greenboot: nothing takes back a bad upgrade";
                    DeviceUnderTest::add(phase, std::move(none));
                    return;
                }
                put_red_check(device.machine(), result_.from);
                if (!fetch(device, phase, server)) {
                    return;
                }
                DeviceUnderTest::add(
                    phase, timed_check("taken-back", [&] { return wait_for_old(device); }));
                if (phase.results.back().verdict == Verdict::failed) {
                    return;
                }
                device.check(phase, boot_counting_check());
                device.restart(phase);
                device.check(phase, booted_check("stays", result_.from));
                device.check(phase, changed_arguments_check(device.facts(), facts_));
                device.check(phase, kept_change_check());
                device.run_user_checks(phase);
            });
        }
        end(device);
    }

    /// Restarts into the new commit, and waits until the boot loader has given up on it.
    CheckResult wait_for_old(DeviceUnderTest& device) const {
        Machine& machine = device.machine();
        const BootState before = boot_state(machine);
        const int starts_before = machine.restarts();
        machine.reboot(restart_limit);
        CheckResult result;
        std::string last = before.boot;
        for (int restarts = 1; restarts <= most_restarts; ++restarts) {
            BootState now;
            try {
                now = boot_state(machine);
            } catch (const Error& failure) {
                // It may go down at any moment.
                if (failure.kind() == ErrorKind::interrupted) {
                    throw;
                }
            }
            if (!now.commit.empty() && now.boot != last) {
                last = now.boot;
                result.details.push_back(
                    fmt::format("start {}: commit {}", restarts, now.commit.substr(0, 12)));
            }
            if (now.commit == result_.from) {
                // One restart is that into the new commit, another the one that takes it back.
                if (machine.restarts() - starts_before < 2) {
                    result.verdict = Verdict::failed;
                    result.text =
                        "the machine has not left its commit: the new one was not started";
                    return result;
                }
                result.text = fmt::format("the machine came back to commit {} by itself",
                                          result_.from.substr(0, 12));
                return result;
            }
            machine.wait_for_restart(restart_limit);
        }
        result.verdict = Verdict::failed;
        result.text = fmt::format("after {} restarts the machine is not back at commit {}",
                                  most_restarts, result_.from.substr(0, 12));
        return result;
    }

    void begin(const char* name, const char* doing) { stages_.begin(name, doing); }

    void end(DeviceUnderTest& device) {
        std::ranges::move(device.records(), std::back_inserter(result_.records));
        device.power_off();
        std::size_t failed = 0;
        std::size_t all = 0;
        for (const CheckResult& result : result_.phases.back().results) {
            ++all;
            failed += result.verdict == Verdict::failed ? 1 : 0;
        }
        stages_.end(failed == 0 ? counted(all, "check")
                                : fmt::format("{}, {} failed", counted(all, "check"), failed));
    }

    void note_accelerator(DeviceUnderTest& device) {
        result_.accelerator = device.machine().accelerator();
    }

    const Context& ctx_;
    const RehearsalRequest& request_;
    Rehearsal& result_;
    RepositoryView repository_;
    CommitView commit_;
    CommitFacts facts_;
    std::optional<CommitView> old_;
    std::string ref_;
    Stages stages_;
};

}  // namespace

std::size_t Rehearsal::count(Verdict verdict) const {
    std::size_t number = 0;
    for (const Phase& phase : phases) {
        number += static_cast<std::size_t>(std::ranges::count_if(
            phase.results, [&](const CheckResult& one) { return one.verdict == verdict; }));
    }
    return number;
}

Rehearsal rehearse(const Context& ctx, const RehearsalRequest& request) {
    Rehearsal result;
    Scenario(ctx, request, result).run();
    return result;
}

}  // namespace edgegpu
