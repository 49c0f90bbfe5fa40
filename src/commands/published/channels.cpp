#include "publish/channels.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/promotion_json.hpp"
#include "repository/commit_view.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

/// Columns of a table, and further lines below them.
struct ChannelRow {
    std::vector<std::string> columns;
    std::vector<std::string> below;
};

ChannelRow row_of(const std::string& first, const ChannelCommit& commit) {
    ChannelRow row{};
    const CommitInfo& info = commit.commit;
    const bool read = commit.problem.empty();
    row.columns = {first, read ? info.version : "?", info.checksum.substr(0, 10),
                   read ? minute_text(info.time) : "?"};
    if (!read) {
        row.below.push_back("cannot be read: " + commit.problem);
    }
    if (commit.record.promotion) {
        row.below.push_back((commit.going_back ? "going back to " : "from ") +
                            promotion_text(*commit.record.promotion));
    } else if (commit.going_back) {
        row.below.emplace_back("going back to an older image");
    }
    if (!commit.record.end.text.empty()) {
        row.below.push_back("ended: " + commit.record.end.text);
    }
    if (!commit.record.end.rebase.empty()) {
        row.below.push_back("goes on as " + commit.record.end.rebase);
    }
    return row;
}

/// Everything in it may be of somebody else's repository.
std::string channel_table(std::vector<ChannelRow> rows, const std::string& first) {
    rows.insert(rows.begin(), ChannelRow{{first, "VERSION", "COMMIT", "TIME (UTC)"}, {}});
    const std::vector<std::string> lines = aligned_lines(
        mapped(rows, [](const ChannelRow& row) { return mapped(row.columns, printable_line); }));
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += lines[i] + '\n';
        for (const std::string& line : rows[i].below) {
            text += "    " + printable_line(line) + '\n';
        }
    }
    return text;
}

ordered_json commit_json(const ChannelCommit& commit) {
    const CommitInfo& info = commit.commit;
    ordered_json one{{"commit", info.checksum}};
    if (!commit.problem.empty()) {
        one["problem"] = commit.problem;
        return one;
    }
    add_text(one, "version", info.version);
    one["time"] = iso_time(info.time);
    add_text(one, "parent", info.parent);
    one["going_back"] = commit.going_back;
    add_channel_record(one, commit.record);
    return one;
}

std::string channels_json(const ChannelsCommand& command, const char* name, ordered_json list,
                          const std::string& earlier) {
    ordered_json document{
        {"format", "edgegpu-channels/1"},
        {"edgegpu", EDGEGPU_VERSION},
        {"repository", std::filesystem::absolute(command.repo).lexically_normal().string()}};
    add_text(document, "ref", command.ref);
    document[name] = std::move(list);
    add_text(document, "earlier", earlier);
    return document_text(document);
}

/// Returns whether all commits could be read.
bool print_channels(const GlobalOptions& global, const ChannelsCommand& command,
                    const std::vector<ReleaseChannel>& channels) {
    if (global.json) {
        ordered_json list = ordered_json::array();
        for (const ReleaseChannel& channel : channels) {
            ordered_json one{{"ref", channel.ref}};
            one.update(commit_json(channel.head));
            one["same_tree"] = channel.same;
            add_text(one, "rollout_plan", channel.plan);
            list.push_back(std::move(one));
        }
        print_result(channels_json(command, "channels", std::move(list), ""));
    } else {
        std::vector<ChannelRow> rows;
        for (const ReleaseChannel& channel : channels) {
            rows.push_back(row_of(channel.ref, channel.head));
            if (!channel.same.empty()) {
                rows.back().below.push_back(
                    fmt::format("the same tree as {}", fmt::join(channel.same, ", ")));
            }
            if (!channel.plan.empty()) {
                rows.back().below.push_back("rolled out by a plan: edgegpu rollout status " +
                                            channel.ref);
            }
        }
        print_result(channel_table(std::move(rows), "REF"));
    }
    return std::ranges::all_of(
        channels, [](const ReleaseChannel& channel) { return channel.head.problem.empty(); });
}

/// The same.
bool print_history(const GlobalOptions& global, const ChannelsCommand& command,
                   const ChannelHistory& history) {
    if (global.json) {
        print_result(channels_json(command, "history", mapped(history.commits, commit_json),
                                   history.earlier));
    } else {
        std::vector<ChannelRow> rows;
        for (std::size_t i = 0; i < history.commits.size(); ++i) {
            rows.push_back(
                row_of(fmt::format("{}", history.commits.size() - i), history.commits[i]));
        }
        if (!history.earlier.empty()) {
            rows.back().below.push_back(
                fmt::format("before it: {}, which is not in the repository", history.earlier));
        }
        print_result(channel_table(std::move(rows), "NO"));
    }
    return std::ranges::all_of(history.commits,
                               [](const ChannelCommit& commit) { return commit.problem.empty(); });
}

}  // namespace

int run_channels(const GlobalOptions& global, const ChannelsCommand& command) {
    const RepositoryView repository(command.repo);
    const bool read =
        command.ref.empty()
            ? print_channels(global, command, list_channels(repository))
            : print_history(global, command, history_of_channel(repository, command.ref));
    return read ? 0 : 1;
}

}  // namespace edgegpu
