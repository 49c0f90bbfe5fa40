#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/lock_wait.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "support/text/quantity.hpp"
#include "support/text/terminal_text.hpp"
#include "upload/remote_name.hpp"
#include "upload/upload.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

std::string count_text(const FileCount& count) {
    return count.files == 0 ? "nothing"
                            : fmt::format("{} files, {}", count.files, human_size(count.bytes));
}

std::string uploaded_text(const UploadResult& result) {
    std::string text;
    for (const UploadedRef& ref : result.refs) {
        text += "\n" + result_row("ref", ref.ref) + result_row("commit", ref.commit);
        text += result_row("before", ref.before.empty()         ? "nothing"
                                     : ref.before == ref.commit ? "the same commit"
                                                                : ref.before);
    }
    text += "\n" + result_row("uploaded", count_text(result.uploaded));
    if (result.removed.files != 0) {
        text += result_row("removed", count_text(result.removed));
    }
    if (result.left.files != 0) {
        text += result_row("left", count_text(result.left) + " that the repository has not");
    }
    return text + result_row("to", result.remote);
}

ordered_json count_json(const FileCount& count) {
    return {{"files", count.files}, {"bytes", count.bytes}};
}

std::string uploaded_json(const UploadResult& result, const std::string& repository) {
    ordered_json list = ordered_json::array();
    for (const UploadedRef& ref : result.refs) {
        ordered_json one{{"ref", ref.ref}, {"commit", ref.commit}};
        add_text(one, "before", ref.before);
        list.push_back(std::move(one));
    }
    const ordered_json document{{"format", "edgegpu-upload/1"},
                                {"edgegpu", EDGEGPU_VERSION},
                                {"repository", repository},
                                {"remote", result.remote},
                                {"refs", std::move(list)},
                                {"uploaded", count_json(result.uploaded)},
                                {"removed", count_json(result.removed)},
                                {"left", count_json(result.left)}};
    return document_text(document);
}

}  // namespace

int run_upload(const GlobalOptions& global, const UploadCommand& command) {
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    UploadRequest request{command.repo,
                          command.to,
                          command.bandwidth,
                          command.verify,
                          command.overwrite,
                          {},
                          lock_wait_of(command.lock_wait)};
    if (!command.delete_after.empty()) {
        request.delete_after = parse_duration(command.delete_after);
    }
    const std::string repository =
        std::filesystem::absolute(command.repo).lexically_normal().string();
    Stages stages(ctx, fmt::format("{} to {}", repository, shown_remote(command.to)));
    const UploadResult result = stages.run([&] { return upload(ctx, stages, request); });
    print_result(global.json ? uploaded_json(result, repository) : uploaded_text(result));
    return 0;
}

}  // namespace edgegpu
