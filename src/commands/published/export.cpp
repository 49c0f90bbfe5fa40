#include "publish/export.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/published/publish_result.hpp"
#include "commands/published/signing_options.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

std::string exported_text(const Exported& exported, const std::string& output) {
    std::string text;
    for (const ExportedRef& ref : exported.refs) {
        text += "\n" + result_row("ref", ref.ref) + result_row("commit", ref.commit.checksum);
        text += row_unless_empty("version", ref.commit.version);
        for (const std::string& since : ref.since) {
            text += result_row("since", since);
        }
        text += result_row("signed", ref.is_signed ? "yes" : "no");
    }
    text += "\n" + result_row("in", output) + result_row("size", human_size(exported.bytes)) +
            result_row("sha256", exported.sha256);
    return text;
}

std::string exported_json(const Exported& exported, const std::string& output,
                          const std::string& repository) {
    ordered_json list = ordered_json::array();
    for (const ExportedRef& ref : exported.refs) {
        ordered_json one{{"ref", ref.ref}, {"commit", ref.commit.checksum}};
        add_text(one, "version", ref.commit.version);
        one["since"] = ref.since;
        one["signed"] = ref.is_signed;
        list.push_back(std::move(one));
    }
    const ordered_json document{{"format", "edgegpu-export/1"}, {"edgegpu", EDGEGPU_VERSION},
                                {"repository", repository},     {"refs", std::move(list)},
                                {"objects", exported.objects},  {"file", output},
                                {"bytes", exported.bytes},      {"sha256", exported.sha256}};
    return document_text(document);
}

std::string absolute_path(const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

int run_export(const GlobalOptions& global, const ExportCommand& command) {
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    allow_signatures(ctx, signer, command.refs.front(), command.keys);
    const RepositoryView repository(command.repo);
    Stages stages(ctx, fmt::format("{}", fmt::join(command.refs, ", ")));
    const Exported exported = stages.run([&] {
        return export_refs(ctx, stages, repository,
                           {command.refs, command.since, command.output, command.force}, signer);
    });
    const std::string output = absolute_path(command.output);
    print_result(global.json ? exported_json(exported, output, absolute_path(command.repo))
                             : exported_text(exported, output));
    return 0;
}

}  // namespace edgegpu
