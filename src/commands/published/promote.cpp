#include "publish/promote.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/lock_wait.hpp"
#include "commands/published/promotion_json.hpp"
#include "commands/published/publish_result.hpp"
#include "commands/published/signing_options.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
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
    request.lock_wait = lock_wait_of(command.lock_wait);
    request.deltas = delta_request(command.deltas);
    request.by = command.by.empty() ? current_user() : command.by;
    request.reason = command.reason;
    request.end = {command.end_of_life, command.rebase_to};
    request.at = source_date_epoch().value_or(std::time(nullptr));
    return request;
}

/// What `--expect-before` says of the ref of `--to`, and of others.
struct ExpectedCommits {
    std::string first;
    std::map<std::string, std::string> others;
};

ExpectedCommits expected_commits(const PromoteCommand& command) {
    ExpectedCommits expected;
    for (const std::string& text : command.expect_before) {
        const std::size_t separator = text.rfind('=');
        const std::string ref = separator == std::string::npos ? "" : text.substr(0, separator);
        const std::string commit =
            separator == std::string::npos ? text : text.substr(separator + 1);
        if (commit != no_commit && !is_sha256(commit)) {
            throw error(ErrorKind::usage, "--expect-before: \"{}\" is no checksum of a commit",
                        commit)
                .hinted(
                    "it has 64 hexadecimal digits, as `edgegpu channels --json` shows them; or "
                    "\"none\", for a ref that is not there yet");
        }
        std::string& place =
            ref.empty() || ref == command.to ? expected.first : expected.others[ref];
        if (!place.empty()) {
            throw error(ErrorKind::usage, "--expect-before: given twice for {}",
                        ref.empty() ? command.to : ref);
        }
        place = commit;
    }
    return expected;
}

/// The promotions of the command, that of `--to` first.
std::vector<PromoteRequest> requests_of(const PromoteCommand& command) {
    ExpectedCommits expected = expected_commits(command);
    std::vector<PromoteRequest> requests{request_of(command)};
    requests.front().expected = expected.first;
    for (const std::string& text : command.also) {
        // A source that was pulled has a colon of its own, "REMOTE:REF".
        const std::size_t colon = text.rfind(':');
        if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
            throw error(ErrorKind::usage, "--also: \"{}\" is not SOURCE:REF", text)
                .hinted(
                    "what is promoted, a colon, and the ref that gets it: edge/beta:edge/stable");
        }
        PromoteRequest request = requests.front();
        request.source = text.substr(0, colon);
        request.to = text.substr(colon + 1);
        request.expected.clear();
        if (const auto found = expected.others.find(request.to); found != expected.others.end()) {
            request.expected = found->second;
            expected.others.erase(found);
        }
        requests.push_back(std::move(request));
    }
    if (!expected.others.empty()) {
        throw error(ErrorKind::usage, "--expect-before: {} is no ref that gets a commit here",
                    expected.others.begin()->first)
            .hinted("it is that of --to, or one of --also");
    }
    return requests;
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
    return text;
}

/// docs/schemas/promote.json
void add_promoted(nlohmann::ordered_json& document, const Promoted& promoted) {
    const PublishedRef& ref = promoted.ref;
    document["ref"] = ref.ref;
    add_text(document, "commit", ref.commit.checksum);
    add_text(document, "version", ref.commit.version);
    document["time"] = iso_time(ref.commit.time);
    add_text(document, "before", ref.before);
    add_text(document, "before_version", promoted.before_version);
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
}

std::string promotions_json(const std::vector<Promoted>& promotions,
                            const PromoteCommand& command) {
    using nlohmann::ordered_json;
    ordered_json document{
        {"format", "edgegpu-promote/1"},
        {"edgegpu", EDGEGPU_VERSION},
        {"repository", std::filesystem::absolute(command.repo).lexically_normal().string()},
        {"dry_run", command.dry_run}};
    add_promoted(document, promotions.front());
    for (std::size_t i = 1; i < promotions.size(); ++i) {
        ordered_json other = ordered_json::object();
        add_promoted(other, promotions[i]);
        document["also"].push_back(std::move(other));
    }
    return document_text(document);
}

}  // namespace

int run_promote(const GlobalOptions& global, const PromoteCommand& command) {
    // First of all: they fork, and reading a repository starts threads.
    std::vector<std::unique_ptr<Signer>> signers;
    for (std::size_t i = 0; i <= command.also.size(); ++i) {
        signers.push_back(std::make_unique<Signer>(&interrupted()));
    }
    const std::vector<PromoteRequest> requests = requests_of(command);
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    std::vector<SignedPromotion> promotions;
    std::string refs;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        allow_signatures(ctx, *signers[i], requests[i].to, command.keys);
        promotions.push_back({requests[i], signers[i].get()});
        refs += (i == 0 ? "" : ", ") + requests[i].to;
    }
    Stages stages(ctx, refs);
    const std::vector<Promoted> promoted = stages.run([&] {
        return command.dry_run ? plan_promotions(ctx, stages, promotions)
                               : promote(ctx, stages, promotions);
    });
    if (global.json) {
        print_result(promotions_json(promoted, command));
        return 0;
    }
    const std::string text =
        sum_of(promoted, [&](const Promoted& one) { return promoted_text(one, command); });
    print_result(
        text + "\n" +
        result_row("in", std::filesystem::absolute(command.repo).lexically_normal().string()));
    return 0;
}

}  // namespace edgegpu
