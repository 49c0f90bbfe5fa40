#include "publish/promote.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/promotion_json.hpp"
#include "commands/published/publish_result.hpp"
#include "commands/published/signing_options.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/source_date.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

/// Readers of metadata take no longer texts (metadata_text).
constexpr std::size_t longest_option = 4096;

void require_text(std::string_view option, const std::string& text) {
    if (!is_utf8(text) || text.size() > longest_option) {
        throw error(ErrorKind::usage, "{}: {}", option,
                    is_utf8(text) ? "more than 4096 bytes" : "not UTF-8")
            .hinted("it is part of the commit's metadata, where devices find it");
    }
}

/// Who runs the command: in a pipeline who started that.
std::string current_user() {
    for (const char* variable : {"GITLAB_USER_LOGIN", "GITHUB_ACTOR", "SUDO_USER"}) {
        std::string name = text_of(std::getenv(variable));
        if (!name.empty() && is_utf8(name) && name.size() <= longest_option) {
            return name;
        }
    }
    const struct passwd* user = ::getpwuid(::geteuid());
    return user != nullptr && is_utf8(text_of(user->pw_name)) ? text_of(user->pw_name)
                                                              : fmt::format("uid {}", ::geteuid());
}

PromoteRequest request_of(const PromoteCommand& command) {
    require_text("--by", command.by);
    require_text("--reason", command.reason);
    require_text("--end-of-life", command.end_of_life);
    PromoteRequest request;
    request.repository = command.repo;
    request.source = command.source;
    request.to = command.to;
    request.deltas = delta_request(command.deltas);
    request.by = command.by.empty() ? current_user() : command.by;
    request.reason = command.reason;
    request.end = {command.end_of_life, command.rebase_to};
    request.at = source_date_epoch().value_or(std::time(nullptr));
    return request;
}

/// "1.2 (0123456789…)"
std::string version_and_commit(const std::string& version, const std::string& checksum) {
    return version.empty() ? checksum : fmt::format("{} ({})", version, checksum);
}

std::string promoted_text(const Promoted& promoted, const PromoteCommand& command) {
    const PublishedRef& ref = promoted.ref;
    std::string text = "\n" + result_row("ref", ref.ref);
    text += result_row("before", ref.before.empty()
                                     ? "nothing"
                                     : version_and_commit(promoted.before_version, ref.before));
    text +=
        result_row("commit", ref.before == ref.commit.checksum && !ref.before.empty() ? "the same"
                             : ref.commit.checksum.empty()
                                 ? version_and_commit(ref.commit.version, "a new one")
                                 : version_and_commit(ref.commit.version, ref.commit.checksum));
    if (promoted.record.promotion) {
        text += result_row("from", promotion_text(*promoted.record.promotion));
    }
    if (promoted.going_back) {
        text += result_row("going back", "the image is older than the one before");
    }
    text += end_of_life_rows(promoted.record.end);
    if (promoted.download) {
        text += result_row("download", fmt::format("{}, {}, without a delta",
                                                   counted(promoted.download->objects, "object"),
                                                   human_size(promoted.download->bytes)));
    }
    text += delta_rows(ref.deltas);
    text += result_row("signed", ref.is_signed ? "yes" : "no");
    text += result_row("changed", command.dry_run ? "nothing, as this is a dry run"
                                  : ref.unchanged ? "nothing"
                                                  : "yes");
    return text + "\n" +
           result_row("in", std::filesystem::absolute(command.repo).lexically_normal().string());
}

/// docs/schemas/promote.json
std::string promoted_json(const Promoted& promoted, const PromoteCommand& command) {
    using nlohmann::ordered_json;
    const PublishedRef& ref = promoted.ref;
    ordered_json document{
        {"format", "edgegpu-promote/1"},
        {"edgegpu", EDGEGPU_VERSION},
        {"repository", std::filesystem::absolute(command.repo).lexically_normal().string()},
        {"dry_run", command.dry_run},
        {"ref", ref.ref}};
    if (!ref.commit.checksum.empty()) {
        document["commit"] = ref.commit.checksum;
    }
    if (!ref.commit.version.empty()) {
        document["version"] = ref.commit.version;
    }
    document["time"] = iso_time(ref.commit.time);
    if (!ref.before.empty()) {
        document["before"] = ref.before;
    }
    if (!promoted.before_version.empty()) {
        document["before_version"] = promoted.before_version;
    }
    document["source"] = promoted.source.checksum;
    add_channel_record(document, promoted.record);
    document["going_back"] = promoted.going_back;
    document["unchanged"] = ref.unchanged;
    if (promoted.download) {
        document["download"] = {{"objects", promoted.download->objects},
                                {"bytes", promoted.download->bytes}};
    }
    document["deltas"] = deltas_json(ref.deltas);
    document["signed"] = ref.is_signed;
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

int run_promote(const GlobalOptions& global, const PromoteCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    const PromoteRequest request = request_of(command);
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    signer.log_to(ctx.log);
    allow_signatures(signer, command.to, command.keys);
    Stages stages(ctx, command.to);
    const Promoted promoted = stages.run([&] {
        return command.dry_run ? plan_promotion(ctx, stages, request, signer)
                               : promote(ctx, stages, request, signer);
    });
    print_result(global.json ? promoted_json(promoted, command) : promoted_text(promoted, command));
    return 0;
}

}  // namespace edgegpu
