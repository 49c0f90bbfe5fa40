#include <filesystem>

#include <unistd.h>

#include "commands/commands.hpp"
#include "delta/static_delta.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "report/diff.hpp"
#include "report/format/formats.hpp"
#include "repository/commit_view.hpp"
#include "support/error.hpp"

namespace edgegpu {

int run_diff(const GlobalOptions& global, const DiffCommand& command) {
    if (command.markdown && global.json) {
        throw error(ErrorKind::usage, "edgegpu diff: --markdown excludes --json")
            .hinted("see edgegpu diff --help");
    }
    const bool parent = command.after.empty();
    const std::string before = parent ? command.before + '^' : command.before;
    const std::string after = parent ? command.before : command.after;
    Context ctx;
    ctx.cancelled = &interrupted();
    const RepositoryView repository(command.repo);
    const CommitView first = repository.open(before);
    const CommitView second = repository.open(after);
    Diff diff = diff_commits(ctx, first, second);
    diff.delta = delta_between(repository, first, second);
    if (global.json) {
        print_result(
            diff_json(diff, std::filesystem::absolute(command.repo).lexically_normal().string()));
        return 0;
    }
    if (command.markdown) {
        print_result(diff_markdown(diff));
        return 0;
    }
    // use_color asks about stderr; the result goes elsewhere when it is piped to a pager.
    const bool colored =
        use_color(global.color) && (global.color == Color::always || ::isatty(STDOUT_FILENO) != 0);
    print_result(diff_text(diff, {colored, command.all_files}));
    return 0;
}

}  // namespace edgegpu
