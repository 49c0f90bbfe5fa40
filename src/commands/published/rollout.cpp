#include "publish/rollout.hpp"

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/lock_wait.hpp"
#include "commands/published/rollout_result.hpp"
#include "commands/published/rollout_values.hpp"
#include "commands/published/signing_options.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "publish/verification.hpp"
#include "rollout/changes.hpp"
#include "rollout/graph.hpp"
#include "rollout/health.hpp"
#include "rollout/reports.hpp"
#include "rollout/turns.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/source_date.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr std::int64_t rollout_hour = 3600;
constexpr std::int64_t rollout_day = 24 * rollout_hour;

RolloutMoment moment_of(const RolloutCommand& command) {
    constexpr std::int64_t usual_devices = 10000;
    return {source_date_epoch().value_or(std::time(nullptr)),
            command.devices != 0 ? command.devices : usual_devices};
}

/// Pipelines set it for builds: what begins now would then have begun long ago, and devices have
/// their turn at once; reports would come from the future, and nobody would look at them.
void warn_of_present(const Context& ctx, const RolloutMoment& moment) {
    const std::int64_t clock = std::time(nullptr);
    if (std::abs(clock - moment.now) > rollout_hour) {
        ctx.console->warn(fmt::format(
            "SOURCE_DATE_EPOCH replaces the present: it is {}, and not {}, for turns, expiry and "
            "reports. Unset it, unless that is meant",
            minute_text(moment.now), minute_text(clock)));
    }
}

Error no_plan(const RepositoryView& view, const std::string& ref) {
    return error(ErrorKind::usage, "{}: {} has no rollout plan", view.path(), ref)
        .hinted("edgegpu rollout start makes one");
}

/// The checksum of --commit; of the ref's commit if it is empty.
std::string commit_of(const RepositoryView& repository, const RolloutCommand& command) {
    return command.commit.empty() ? commit_of_ref(repository, command.ref)
                                  : repository.open(command.commit).info().checksum;
}

/// That of --commit for `abort`, which may be gone from the repository.
std::string planned_commit(const RolloutPlan& plan, const std::string& prefix) {
    std::string found = prefix;
    std::size_t count = 0;
    for (const PlannedRelease& release : plan.releases) {
        if (!prefix.empty() && release.commit.starts_with(prefix)) {
            found = release.commit;
            ++count;
        }
    }
    if (!prefix.empty() && count != 1) {
        throw error(ErrorKind::usage, "--commit {}: {} release of the plan", prefix,
                    count == 0 ? "is no" : "is more than one")
            .hinted("name its checksum, as edgegpu rollout status --json shows it");
    }
    return found;
}

WaveRequest wave_of(const RolloutCommand& command, const std::string& commit, std::int64_t now) {
    constexpr std::int64_t usual_share = whole_share / 20;
    WaveRequest request;
    request.commit = commit;
    request.wave.start = parse_start(command.at, now);
    request.wave.share =
        command.share.empty() ? usual_share : parse_share("--share", command.share);
    request.wave.duration = seconds_of(command.over, 2 * rollout_day);
    request.reason = plain_text(command.reason);
    if (!command.barrier.empty()) {
        request.barrier = plain_text(command.barrier);
    }
    return request;
}

/// A rollout that begins before the plan that it follows has begun long ago for devices: all of
/// them would have their turn at once. One of two machines has a wrong clock.
void require_clock(const std::optional<RolloutPlan>& before, std::int64_t now) {
    if (before && before->serial > now + rollout_hour) {
        throw error(ErrorKind::usage,
                    "{}: the plan that it has was made at {}, and here it is {}: devices would "
                    "take a rollout from now on for one that began long ago",
                    before->ref, minute_text(before->serial), minute_text(now))
            .hinted(
                "set the clock of this machine; if it was the other machine's that was wrong, say "
                "when to begin: --at");
    }
}

/// What the action makes of a plan.
ChangedPlan change_of(const RolloutCommand& command, const RepositoryView& view,
                      const std::optional<RolloutPlan>& before, std::int64_t now) {
    if (command.action == "start") {
        const WaveRequest wave = wave_of(command, commit_of(view, command), now);
        if (command.at.empty()) {
            require_clock(before, now);
        }
        return start_wave(before, command.ref, known_releases(view, command.ref), wave, now);
    }
    if (!before) {
        throw no_plan(view, command.ref);
    }
    const std::string reason = plain_text(command.reason);
    if (command.action == "pause") {
        return pause_wave(*before, reason, now);
    }
    if (command.action == "resume") {
        return resume_wave(*before, now);
    }
    if (command.action == "abort") {
        return abort_wave(*before, planned_commit(*before, command.commit), reason, now);
    }
    return {*before, false, "", {}};
}

RolloutRequest rollout_request(const RolloutCommand& command, std::int64_t now) {
    constexpr std::int64_t usual_lifetime = 14 * rollout_day;
    RolloutRequest request;
    request.repository = command.repo;
    request.ref = command.ref;
    request.change = [&command, now](const RepositoryView& view,
                                     const std::optional<RolloutPlan>& before) {
        return change_of(command, view, before, now);
    };
    request.lifetime = seconds_of(command.expires, usual_lifetime);
    request.now = now;
    request.dry_run = command.dry_run;
    request.lock_wait = lock_wait_of(command.lock_wait);
    return request;
}

ordered_json new_rollout_document(const RolloutCommand& command) {
    return {{"format", "edgegpu-rollout-status/1"},
            {"edgegpu", EDGEGPU_VERSION},
            {"repository", std::filesystem::absolute(command.repo).lexically_normal().string()},
            {"ref", command.ref},
            {"action", command.action}};
}

/// What the plan does not say of its end.
void warn_of_end(const Context& ctx, const RolloutPlan& plan) {
    const PlannedRelease* newest = newest_wave(plan);
    if (newest != nullptr && !newest->paused &&
        newest->wave->start + newest->wave->duration > plan.expires) {
        ctx.console->warn(fmt::format(
            "the plan expires at {}, before all devices have had their turn: renew it before that "
            "(edgegpu rollout renew), or devices take nothing new",
            minute_text(plan.expires)));
    }
}

/// What is known besides the plan.
struct RolloutFindings {
    std::optional<FleetHealth> health;
    /// of `check`: why the rollout is paused, or has to be
    std::optional<std::string> stop;
};

void print_change(const GlobalOptions& global, const RolloutCommand& command,
                  const ChangedRollout& changed, const RolloutMoment& moment,
                  const RolloutFindings& findings) {
    const RolloutPlan& plan = changed.changed.plan;
    if (global.json) {
        ordered_json document = new_rollout_document(command);
        document["dry_run"] = command.dry_run;
        document["unchanged"] = changed.ref.unchanged;
        document["devices"] = moment.devices;
        add_text(document, "plan_commit", changed.ref.commit.checksum);
        document["signed"] = changed.ref.is_signed;
        document["plan"] = rollout_json(plan, moment);
        if (findings.health) {
            document["fleet"] = fleet_json(plan, *findings.health);
        }
        if (findings.stop) {
            document["stopped"] = *findings.stop;
        }
        print_result(document_text(document));
        return;
    }
    std::string text = rollout_text(plan, moment);
    if (findings.health) {
        text += fleet_text(plan, *findings.health);
    }
    text += result_row("signed", changed.ref.is_signed ? "yes" : "no");
    text += result_row("changed", command.dry_run         ? "nothing, as this is a dry run"
                                  : changed.ref.unchanged ? "nothing"
                                                          : "yes");
    print_result(text);
}

int run_change(const GlobalOptions& global, const RolloutCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    const RolloutMoment moment = moment_of(command);
    const RolloutRequest request = rollout_request(command, moment.now);
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    warn_of_present(ctx, moment);
    allow_signatures(ctx, signer, plan_ref(command.ref), command.keys);
    Stages stages(ctx, command.ref);
    const ChangedRollout changed =
        stages.run([&] { return change_rollout(ctx, stages, request, signer); });
    for (const std::string& remark : changed.changed.remarks) {
        console.note(remark);
    }
    warn_of_end(ctx, changed.changed.plan);
    print_change(global, command, changed, moment, {});
    return 0;
}

PublishedPlan require_plan(const RepositoryView& view, const std::string& ref) {
    require_no_plan_ref(ref);
    static_cast<void>(commit_of_ref(view, ref));
    std::optional<PublishedPlan> published = read_plan(view, ref);
    if (!published) {
        throw no_plan(view, ref);
    }
    return std::move(*published);
}

int run_status(const GlobalOptions& global, const RolloutCommand& command) {
    const RolloutMoment moment = moment_of(command);
    const RepositoryView view(command.repo);
    const PublishedPlan published = require_plan(view, command.ref);
    const RolloutPlan& plan = published.plan;
    std::optional<FleetHealth> health;
    if (!command.health_from.empty()) {
        health = judge_health(plan, read_report_files(command.health_from), moment.now);
    }
    if (command.graph) {
        print_result(graph_text(plan));
    } else if (global.json) {
        ordered_json document = new_rollout_document(command);
        document["devices"] = moment.devices;
        document["plan_commit"] = published.commit.info().checksum;
        document["plan"] = rollout_json(plan, moment);
        if (health) {
            document["fleet"] = fleet_json(plan, *health);
        }
        print_result(document_text(document));
    } else {
        print_result(rollout_text(plan, moment) + (health ? fleet_text(plan, *health) : ""));
    }
    return 0;
}

HealthLimits limits_of(const RolloutCommand& command) {
    HealthLimits limits;
    if (!command.max_failures.empty()) {
        limits.failures = parse_share("--max-failures", command.max_failures);
    }
    if (command.max_unavailable) {
        limits.unavailable = *command.max_unavailable;
    }
    if (command.min_reports != 0) {
        limits.least_tried = command.min_reports;
    }
    return limits;
}

/// Who is too late to stop anything has to know.
void require_open_wave(const RolloutPlan& plan, const std::optional<std::string>& stop,
                       std::int64_t now) {
    const PlannedRelease* newest = newest_wave(plan);
    if (stop && !newest->paused && is_complete(*newest->wave, now)) {
        throw error("{}: {}, and it is too late to pause: all devices have had their turn",
                    plan.ref, *stop)
            .hinted(fmt::format("edgegpu rollout abort {} --commit {} keeps those from it that "
                                "have not asked since; promote what was before to go back",
                                plan.ref, newest->commit.substr(0, 10)));
    }
}

int run_rollout_check(const GlobalOptions& global, const RolloutCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    const RolloutMoment moment = moment_of(command);
    const HealthLimits limits = limits_of(command);
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    warn_of_present(ctx, moment);
    allow_signatures(ctx, signer, plan_ref(command.ref), command.keys);
    const RolloutPlan plan = require_plan(RepositoryView(command.repo), command.ref).plan;
    RolloutFindings findings;
    findings.health = judge_health(plan, read_report_files(command.health_from), moment.now);
    findings.stop = reason_to_stop(*findings.health, limits);
    const PlannedRelease* newest = newest_wave(plan);
    require_open_wave(plan, findings.stop, moment.now);
    const bool open =
        newest != nullptr && (newest->paused || !is_complete(*newest->wave, moment.now));
    RolloutRequest request = rollout_request(command, moment.now);
    // Without a reason it is only tried: who could not stop a rollout has to know that before.
    request.dry_run = command.dry_run || !findings.stop;
    request.change = [&](const RepositoryView&, const std::optional<RolloutPlan>& before) {
        const bool same = before && newest != nullptr && newest_wave(*before) != nullptr &&
                          newest_wave(*before)->commit == newest->commit;
        return open && same ? pause_wave(*before, findings.stop.value_or(""), moment.now)
                            : ChangedPlan{before.value_or(plan), true, "", {}};
    };
    Stages stages(ctx, command.ref);
    ChangedRollout changed =
        stages.run([&] { return change_rollout(ctx, stages, request, signer); });
    if (newest != nullptr && newest->paused) {
        findings.stop = findings.stop.value_or("it is paused: " + newest->paused->reason);
    }
    if (!findings.stop) {
        changed.changed.plan = plan;
        changed.ref.unchanged = true;
    }
    print_change(global, command, changed, moment, findings);
    constexpr int paused_status = 76;
    return findings.stop ? paused_status : 0;
}

}  // namespace

int run_rollout(const GlobalOptions& global, const RolloutCommand& command) {
    require_fitting_options(command);
    return command.action == "status"  ? run_status(global, command)
           : command.action == "check" ? run_rollout_check(global, command)
                                       : run_change(global, command);
}

}  // namespace edgegpu
