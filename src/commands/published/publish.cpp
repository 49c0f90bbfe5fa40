#include "publish/publish.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/lock_wait.hpp"
#include "commands/published/prune.hpp"
#include "commands/published/publish_result.hpp"
#include "commands/published/signing_options.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "publish/prune.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "upload/remote_name.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

std::string published_text(const std::vector<PublishedRef>& refs, const std::string& target) {
    std::string text;
    for (const PublishedRef& ref : refs) {
        text += "\n" + result_row("ref", ref.ref) + result_row("commit", ref.commit.checksum);
        text += row_unless_empty("version", ref.commit.version);
        const bool same = ref.before == ref.commit.checksum;
        text += result_row("before", ref.before.empty() ? "nothing"
                                     : same             ? "the same commit"
                                                        : ref.before);
        text += result_row("new", ref.unchanged ? "nothing"
                                                : fmt::format("{} objects, {}", ref.copied.count,
                                                              human_size(ref.copied.bytes)));
        text += delta_rows(ref.deltas);
        text += result_row("signed", ref.is_signed ? "yes" : "no");
    }
    return text + "\n" + result_row("in", target);
}

/// What --keep did afterwards.
struct Retention {
    PruneRequest request;
    /// nothing if it failed, which is a warning
    std::optional<PrunePlan> plan;
};

std::string published_json(const std::vector<PublishedRef>& refs, const std::string& target,
                           const std::optional<Retention>& retention) {
    ordered_json list = ordered_json::array();
    for (const PublishedRef& ref : refs) {
        ordered_json one{{"ref", ref.ref}, {"commit", ref.commit.checksum}};
        add_text(one, "version", ref.commit.version);
        add_text(one, "before", ref.before);
        one["unchanged"] = ref.unchanged;
        one["new_objects"] = ref.copied.count;
        one["new_bytes"] = ref.copied.bytes;
        one["deltas"] = deltas_json(ref.deltas);
        one["signed"] = ref.is_signed;
        list.push_back(std::move(one));
    }
    ordered_json document{{"format", "edgegpu-publish/1"},
                          {"edgegpu", EDGEGPU_VERSION},
                          {"repository", target},
                          {"refs", std::move(list)}};
    if (retention && retention->plan) {
        document["pruned"] = prune_json(*retention->plan, retention->request);
    }
    return document_text(document);
}

/// Both may be the same directory by several paths.
void require_two_repositories(const PublishCommand& command) {
    std::error_code code;
    if (std::filesystem::equivalent(command.from, command.to, code) && !code) {
        throw error(ErrorKind::usage, "{}: is the repository that the refs come from",
                    command.to.string())
            .hinted("name another directory with --to; devices can pull from this one, too");
    }
}

/// A remote, a URL or a "~" that no shell has expanded would become a new directory of that name,
/// which no device pulls from.
void require_local(const std::filesystem::path& target) {
    const std::string& text = target.native();
    if ((!is_remote(text) && !text.starts_with('~')) || std::filesystem::is_directory(target)) {
        return;
    }
    throw error(ErrorKind::usage, "--to {}: is no directory of this machine", shown_remote(text))
        .hinted(fmt::format(
            "to a remote of rclone, publish to a directory, and then edgegpu upload --to; "
            "otherwise give a plain path; a directory that is called so is ./{}",
            shown_remote(text)));
}

/// The refs are set: whatever fails now is a warning.
std::optional<Retention> keep_versions(const Context& ctx, Stages& stages,
                                       const PublishCommand& command, Signer& signer) {
    if (command.keep == 0) {
        return std::nullopt;
    }
    Retention retention{prune_request(command.to, command.keep, command.grace), std::nullopt};
    retention.request.lock_wait = lock_wait_of(command.lock_wait);
    const auto reason = reason_of_failure([&] {
        retention.plan =
            prune(ctx, stages, retention.request, signer, [](const PrunePlan& /*plan*/) {});
    });
    if (reason) {
        ctx.console->warn(
            fmt::format("{}: older versions stay ({}): edgegpu prune, or the next run, removes "
                        "them",
                        command.to.string(), *reason));
    }
    return retention;
}

}  // namespace

int run_publish(const GlobalOptions& global, const PublishCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    require_two_repositories(command);
    require_local(command.to);
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    allow_signatures(ctx, signer, command.refs.front(), command.keys);
    const DeltaRequest deltas = delta_request(command.deltas);
    std::vector<std::string> refs = command.refs;
    std::ranges::sort(refs);
    refs.erase(std::unique(refs.begin(), refs.end()), refs.end());
    const RepositoryView source(command.from);
    Stages stages(ctx, fmt::format("{}", fmt::join(refs, ", ")));
    const std::vector<PublishedRef> published = stages.run([&] {
        return publish(ctx, stages, source,
                       {command.to, refs, deltas, lock_wait_of(command.lock_wait)}, signer);
    });
    const std::optional<Retention> retention = keep_versions(ctx, stages, command, signer);
    const std::string target = std::filesystem::absolute(command.to).lexically_normal().string();
    print_result(global.json ? published_json(published, target, retention)
                             : published_text(published, target) +
                                   (retention && retention->plan
                                        ? prune_text(*retention->plan, retention->request)
                                        : ""));
    return 0;
}

}  // namespace edgegpu
