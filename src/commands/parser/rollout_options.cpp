#include <string>

#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

/// What `start` takes.
void add_wave_options(CLI::App& verb, RolloutCommand& rollout) {
    verb.add_option("--commit", rollout.commit,
                    "start: the commit that devices get (default: the one that REF has); abort: "
                    "the one that they get no more (default: the newest)")
        ->type_name("COMMIT")
        ->check(not_empty());
    verb.add_option("--at", rollout.at,
                    "start: when the first devices get it, UTC, such as 2027-01-31T22:00 (default: "
                    "now)")
        ->type_name("TIME")
        ->check(not_empty());
    verb.add_option("--share", rollout.share,
                    "start: the share of devices that get it at once, such as 5% (default: 5%)")
        ->type_name("PERCENT")
        ->check(not_empty());
    verb.add_option("--over", rollout.over,
                    "start: how long it takes from there to all devices, such as 48h; 0: it stays "
                    "at that share (default: 48h)")
        ->type_name("TIME")
        ->check(duration_or_zero());
    verb.add_option("--barrier", rollout.barrier,
                    "start: older releases get to later ones through this one only, for this "
                    "reason")
        ->type_name("TEXT")
        ->check(not_empty());
    verb.add_option("--reason", rollout.reason, "Why, for the plan: start, pause and abort")
        ->type_name("TEXT");
    verb.add_option("--expires", rollout.expires,
                    "How long devices believe the plan, if nobody renews it (default: 14d)")
        ->type_name("TIME")
        ->check(duration_text());
}

/// What `status` and `check` take.
void add_health_options(CLI::App& verb, RolloutCommand& rollout) {
    constexpr int most = 1'000'000'000;
    verb.add_flag("--graph", rollout.graph,
                  "status: print the update graph as clients of Cincinnati read it");
    verb.add_option("--devices", rollout.devices,
                    "How many devices there are, for numbers of devices (default: 10000)")
        ->type_name("N")
        ->check(number_in(1, most));
    verb.add_option("--health-from", rollout.health_from,
                    "status and check: reports of devices, a file or a directory of files")
        ->type_name("FILE")
        ->check(not_empty());
    verb.add_option("--max-failures", rollout.max_failures,
                    "check: pause above this share of failures among the devices that have tried, "
                    "such as 2%")
        ->type_name("PERCENT")
        ->check(not_empty());
    verb.add_option("--min-reports", rollout.min_reports,
                    "check: go on while fewer devices have tried (default: 1)")
        ->type_name("N")
        ->check(number_in(1, most));
    verb.add_option("--max-unavailable", rollout.max_unavailable,
                    "check: pause if more devices of one group have failed or are not back yet")
        ->type_name("N")
        ->check(number_in(0, most));
}

}  // namespace

void add_rollout(CLI::App& app, RolloutCommand& rollout) {
    CLI::App* verb = app.add_subcommand(
        "rollout", "Give the devices of a ref a version one after another, and only where it fits");
    verb->add_option("ACTION", rollout.action,
                     "start, pause, resume or abort a rollout; renew the plan before it expires; "
                     "show its status; check what devices report, and pause it if they fail")
        ->required()
        ->check(one_of({"start", "pause", "resume", "abort", "renew", "status", "check"}))
        ->type_name("start|pause|resume|abort|renew|status|check");
    verb->add_option("REF", rollout.ref, "The ref that the devices follow")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--repo", rollout.repo,
                     "Repository that devices pull from (default: repo, in the working directory)")
        ->type_name("DIR");
    add_wave_options(*verb, rollout);
    add_signing_options(*verb, rollout.keys,
                        "GPG key that signs plan and summary (default: neither is signed)");
    verb->add_flag("--dry-run", rollout.dry_run, "Change nothing, only show what would change");
    add_health_options(*verb, rollout);
}

}  // namespace edgegpu
