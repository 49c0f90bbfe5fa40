#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

/// What `start` takes.
void add_wave_options(CLI::App& verb, RolloutCommand& rollout) {
    add_nonempty(verb, "--commit", rollout.commit, "COMMIT",
                 "start: the commit that devices get (default: the one that REF has); abort: "
                 "the one that they get no more (default: the newest)");
    add_nonempty(verb, "--at", rollout.at, "TIME",
                 "start: when the first devices get it, UTC, such as 2027-01-31T22:00 (default: "
                 "now)");
    add_nonempty(verb, "--share", rollout.share, "PERCENT",
                 "start: the share of devices that get it at once, such as 5% (default: 5%)");
    add_value(verb, "--over", rollout.over, "TIME",
              "start: how long it takes from there to all devices, such as 48h; 0: it stays "
              "at that share (default: 48h)")
        ->check(duration_or_zero());
    add_nonempty(verb, "--barrier", rollout.barrier, "TEXT",
                 "start: older releases get to later ones through this one only, for this "
                 "reason");
    add_value(verb, "--reason", rollout.reason, "TEXT",
              "Why, for the plan: start, pause and abort");
    add_value(verb, "--expires", rollout.expires, "TIME",
              "How long devices believe the plan, if nobody renews it (default: 14d)")
        ->check(duration_text());
}

/// What `status` and `check` take.
void add_health_options(CLI::App& verb, RolloutCommand& rollout) {
    constexpr int most = 1'000'000'000;
    verb.add_flag("--graph", rollout.graph,
                  "status: print the update graph as clients of Cincinnati read it");
    add_value(verb, "--devices", rollout.devices, "N",
              "How many devices there are, for numbers of devices (default: 10000)")
        ->check(number_in(1, most));
    add_nonempty(verb, "--health-from", rollout.health_from, "FILE",
                 "status and check: reports of devices, a file or a directory of files");
    add_nonempty(verb, "--max-failures", rollout.max_failures, "PERCENT",
                 "check: pause above this share of failures among the devices that have tried, "
                 "such as 2%");
    add_value(verb, "--min-reports", rollout.min_reports, "N",
              "check: go on while fewer devices have tried (default: 1)")
        ->check(number_in(1, most));
    add_value(verb, "--max-unavailable", rollout.max_unavailable, "N",
              "check: pause if more devices of one group have failed or are not back yet")
        ->check(number_in(0, most));
}

}  // namespace

void add_rollout(CLI::App& app, RolloutCommand& rollout) {
    CLI::App* verb = app.add_subcommand(
        "rollout", "Give the devices of a ref a version one after another, and only where it fits");
    add_choice(*verb, "ACTION", rollout.action, "start|pause|resume|abort|renew|status|check",
               "start, pause, resume or abort a rollout; renew the plan before it expires; "
               "show its status; check what devices report, and pause it if they fail")
        ->required();
    add_value(*verb, "REF", rollout.ref, "COMMIT", "The ref that the devices follow")->required();
    add_value(*verb, "--repo", rollout.repo, "DIR",
              "Repository that devices pull from (default: repo, in the working directory)");
    add_wave_options(*verb, rollout);
    add_signing_options(*verb, rollout.keys,
                        "GPG key that signs plan and summary (default: neither is signed)");
    verb->add_flag("--dry-run", rollout.dry_run, "Change nothing, only show what would change");
    add_lock_wait(*verb, rollout.lock_wait);
    add_health_options(*verb, rollout);
}

}  // namespace edgegpu
