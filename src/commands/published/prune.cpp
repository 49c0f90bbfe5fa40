#include "commands/published/prune.hpp"
#include "commands/published/signing_options.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "commands/published/lock_wait.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "publish/prune.hpp"
#include "support/error.hpp"
#include "support/text/quantity.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

/// "goes now", or when it will
std::string end_text(bool due, std::int64_t since, const PruneRequest& request) {
    return due ? "goes now"
               : fmt::format("goes from {} on", iso_time(since + request.grace.count()));
}

std::string commit_line(const UnneededCommit& commit, const PruneRequest& request) {
    return printable_line(fmt::format("  {} {} {} {}: {}", commit.checksum.substr(0, 12),
                                      commit.ref.empty() ? "(no ref)" : commit.ref,
                                      commit.version.empty() ? "(no version)" : commit.version,
                                      commit.time == 0 ? "no date" : day_text(commit.time),
                                      end_text(commit.due, commit.since, request)));
}

std::string delta_line(const UnneededDelta& delta, const PruneRequest& request) {
    return fmt::format(
        "  delta {} to {}, {}: {}",
        delta.directory.from.empty() ? "nothing" : delta.directory.from.substr(0, 12),
        delta.directory.to.substr(0, 12), human_size(delta.directory.bytes),
        end_text(delta.due, delta.since, request));
}

std::string pins_text(const RetentionRecord& record) {
    std::string text;
    for (const auto& [checksum, since] : record.pins) {
        text += fmt::format("  {} since {}\n", checksum, iso_time(since));
    }
    return text.empty() ? "pinned: none\n" : "pinned:\n" + text;
}

ordered_json pins_json(const RetentionRecord& record) {
    ordered_json pins = ordered_json::array();
    for (const auto& [checksum, since] : record.pins) {
        pins.push_back({{"commit", checksum}, {"since", iso_time(since)}});
    }
    return pins;
}

ordered_json new_document(const std::filesystem::path& repository) {
    return {{"format", "edgegpu-prune/1"},
            {"edgegpu", EDGEGPU_VERSION},
            {"repository", std::filesystem::absolute(repository).lexically_normal().string()}};
}

int run_pins(const GlobalOptions& global, const PruneCommand& command, const Context& ctx) {
    const RetentionRecord record =
        change_pins(ctx, command.repo, command.pin, command.unpin, lock_wait_of(command.lock_wait));
    ordered_json document = new_document(command.repo);
    document["pins"] = pins_json(record);
    print_result(global.json ? document_text(document) : pins_text(record));
    return 0;
}

}  // namespace

PruneRequest prune_request(const std::filesystem::path& repository, unsigned keep,
                           const std::string& grace) {
    PruneRequest request;
    request.repository = repository;
    request.keep = keep;
    if (!grace.empty()) {
        request.grace =
            grace == "0" ? std::chrono::seconds(0) : parse_duration(grace).value_or(request.grace);
    }
    return request;
}

std::string prune_text(const PrunePlan& plan, const PruneRequest& request) {
    std::string text = fmt::format("kept: {} commits ({} of each ref, and what is pinned)\n",
                                   plan.kept, request.keep);
    if (!plan.commits.empty() || !plan.deltas.empty()) {
        text += "no longer needed:\n";
    }
    for (const UnneededCommit& commit : plan.commits) {
        text += commit_line(commit, request) + "\n";
    }
    for (const UnneededDelta& delta : plan.deltas) {
        text += delta_line(delta, request) + "\n";
    }
    text += pins_text(plan.record);
    return text + fmt::format(
                      "{}: {} commits, {} other objects ({} together), {} deltas ({}), {} "
                      "leftovers of runs that were killed\n",
                      request.dry_run ? "to be removed" : "removed", plan.due_commits(),
                      plan.objects.size(), human_size(plan.object_bytes), plan.due_deltas(),
                      human_size(plan.due_delta_bytes()), plan.leftovers.size());
}

ordered_json prune_json(const PrunePlan& plan, const PruneRequest& request) {
    ordered_json commits = ordered_json::array();
    for (const UnneededCommit& commit : plan.commits) {
        ordered_json one{{"commit", commit.checksum}};
        add_text(one, "ref", commit.ref);
        add_text(one, "version", commit.version);
        if (commit.time != 0) {
            one["time"] = iso_time(commit.time);
        }
        one["unneeded_since"] = iso_time(commit.since);
        one["removed"] = commit.due;
        commits.push_back(std::move(one));
    }
    ordered_json deltas = ordered_json::array();
    for (const UnneededDelta& delta : plan.deltas) {
        ordered_json one;
        add_text(one, "from", delta.directory.from);
        one["to"] = delta.directory.to;
        one["bytes"] = delta.directory.bytes;
        one["unneeded_since"] = iso_time(delta.since);
        one["removed"] = delta.due;
        deltas.push_back(std::move(one));
    }
    return {{"dry_run", request.dry_run},
            {"keep", request.keep},
            {"grace_s", request.grace.count()},
            {"kept", plan.kept},
            {"commits", std::move(commits)},
            {"deltas", std::move(deltas)},
            {"objects", plan.due_commits() + plan.objects.size()},
            {"object_bytes", plan.object_bytes},
            {"delta_bytes", plan.due_delta_bytes()},
            {"leftovers", plan.leftovers.size()}};
}

int run_prune(const GlobalOptions& global, const PruneCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    if (!command.pin.empty() || !command.unpin.empty()) {
        return run_pins(global, command, ctx);
    }
    allow_signatures(ctx, signer, std::string(), command.keys);
    PruneRequest request = prune_request(command.repo, command.keep, command.grace);
    request.lock_wait = lock_wait_of(command.lock_wait);
    request.dry_run = command.dry_run;
    Stages stages(ctx, command.repo.string());
    const auto announce = [&](const PrunePlan& plan) {
        if (request.dry_run || global.json) {
            return;
        }
        // Before it is done: who interrupts it knows what was going on.
        for (const UnneededCommit& commit : plan.commits) {
            if (commit.due) {
                console.note(commit_line(commit, request));
            }
        }
        for (const UnneededDelta& delta : plan.deltas) {
            if (delta.due) {
                console.note(delta_line(delta, request));
            }
        }
    };
    const PrunePlan plan =
        stages.run([&] { return prune(ctx, stages, request, signer, announce); });
    ordered_json document = new_document(command.repo);
    document.update(prune_json(plan, request));
    document["pins"] = pins_json(plan.record);
    print_result(global.json ? document_text(document) : prune_text(plan, request));
    return 0;
}

}  // namespace edgegpu
