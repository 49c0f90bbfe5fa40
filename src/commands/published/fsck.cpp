#include "publish/fsck.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "repository/object_files.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

/// Of those that are shown as text; the document has all.
constexpr std::size_t most_shown = 100;

std::string place_of(const ObjectFault& fault) {
    return fault.object.path.empty() ? "the commit itself" : fault.object.path;
}

std::string damage_line(const DamagedObject& damaged) {
    const ObjectFault& fault = damaged.fault;
    const std::string state = fault.state == ObjectState::missing ? "missing"
                              : fault.state == ObjectState::unreadable
                                  ? "unreadable"
                                  : fmt::format("damaged ({})", name_of(fault.state));
    std::string line = fmt::format(
        "{}: {}: {} is {}", damaged.ref.empty() ? "pinned" : damaged.ref, place_of(fault),
        object_file_name(fault.object.type, fault.object.checksum), state);
    if (!fault.detail.empty()) {
        line += fmt::format(": {}", fault.detail);
    }
    line += fmt::format("; commit {}", fault.commit);
    return line + (fault.repaired ? "; repaired" : "");
}

std::string leftover_line(const Leftovers& left) {
    std::string text;
    const auto add = [&](std::size_t count, const std::string& what) {
        if (count > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
        }
    };
    add(left.commits, "commits of no ref");
    add(left.objects, "other objects that nothing needs");
    add(left.deltas,
        fmt::format("deltas that no client asks for ({})", human_size(left.delta_bytes)));
    add(left.temporary, "entries of tmp/");
    add(left.partial, "marks of commits that were pulled in part");
    return text.empty() ? "none"
                        : fmt::format("{}; {} of objects", text, human_size(left.object_bytes));
}

/// What is said once of damage that is left.
std::string way_out(const FsckReport& report, const FsckCommand& command) {
    const bool objects = std::ranges::any_of(
        report.damaged, [](const DamagedObject& one) { return !one.fault.repaired; });
    std::string text = sum_of(report.not_repaired, [](const std::string& reason) {
        return printable_line("not repaired: " + reason) + "\n";
    });
    if (objects && command.repair_from.empty()) {
        text += fmt::format(
            "with another repository that has these objects, such as the one that was published "
            "from: edgegpu fsck --repo {} --repair-from DIR\n",
            shell_word(command.repo.string()));
    }
    return text;
}

std::string fsck_text(const FsckReport& report, const FsckCommand& command) {
    std::string text;
    for (const CheckedRef& ref : report.refs) {
        text +=
            printable_line(fmt::format("{}: commit {}, {} {}", ref.ref, ref.checksum, ref.versions,
                                       ref.versions == 1 ? "version" : "versions")) +
            "\n";
    }
    text += fmt::format("checked: {} objects, {} deltas\n", report.objects, report.deltas);
    if (report.leftovers) {
        text += fmt::format("leftovers: {}\n", leftover_line(*report.leftovers));
    }
    std::vector<std::string> lines = mapped(report.damaged, damage_line);
    for (const FsckProblem& problem : report.problems) {
        std::string line = fmt::format("{}: {}{}", problem.subject, problem.what,
                                       problem.repaired ? "; repaired" : "");
        if (!problem.repaired && !problem.hint.empty()) {
            line += fmt::format(" ({})", problem.hint);
        }
        lines.push_back(std::move(line));
    }
    const std::size_t shown = std::min(lines.size(), most_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        text += printable_line("damage: " + lines[i]) + "\n";
    }
    if (shown < lines.size()) {
        text += fmt::format("damage: {} more, which --json has\n", lines.size() - shown);
    }
    text += way_out(report, command);
    return text + (report.is_damaged() ? "damaged\n"
                   : lines.empty()     ? "nothing is damaged\n"
                                       : "all damage is repaired\n");
}

ordered_json leftovers_json(const Leftovers& left) {
    return {{"commits", left.commits},
            {"objects", left.objects},
            {"object_bytes", left.object_bytes},
            {"deltas", left.deltas},
            {"delta_bytes", left.delta_bytes},
            {"temporary", left.temporary},
            {"partial", left.partial}};
}

std::string fsck_json(const FsckReport& report, const std::string& repository) {
    ordered_json refs = mapped(report.refs, [](const CheckedRef& ref) -> ordered_json {
        return {{"ref", ref.ref}, {"commit", ref.checksum}, {"versions", ref.versions}};
    });
    ordered_json damaged = ordered_json::array();
    for (const DamagedObject& one : report.damaged) {
        ordered_json item;
        add_text(item, "ref", one.ref);
        const ObjectFault& fault = one.fault;
        item["commit"] = fault.commit;
        add_text(item, "path", fault.object.path);
        item["object"] = object_file_name(fault.object.type, fault.object.checksum);
        item["state"] = name_of(fault.state);
        item["repaired"] = fault.repaired;
        damaged.push_back(std::move(item));
    }
    ordered_json problems = mapped(report.problems, [](const FsckProblem& problem) -> ordered_json {
        return {{"kind", problem.kind},
                {"subject", problem.subject},
                {"message", problem.what},
                {"hint", problem.hint},
                {"repaired", problem.repaired}};
    });
    ordered_json document{
        {"format", "edgegpu-fsck/1"},      {"edgegpu", EDGEGPU_VERSION},
        {"repository", repository},        {"damaged", report.is_damaged()},
        {"objects", report.objects},       {"deltas", report.deltas},
        {"refs", std::move(refs)},         {"damaged_objects", std::move(damaged)},
        {"problems", std::move(problems)}, {"not_repaired", report.not_repaired}};
    if (report.leftovers) {
        document["leftovers"] = leftovers_json(*report.leftovers);
    }
    return document_text(document);
}

}  // namespace

int run_fsck(const GlobalOptions& global, const FsckCommand& command) {
    std::error_code code;
    if (!command.repair_from.empty() &&
        std::filesystem::equivalent(command.repo, command.repair_from, code) && !code) {
        throw error(ErrorKind::usage, "{}: is the repository that is checked",
                    command.repair_from.string())
            .hinted("name another one that has the commits with --repair-from");
    }
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    Stages stages(ctx, command.repo.string());
    const FsckReport report = stages.run([&] {
        return fsck(ctx, stages, {command.repo, command.refs, command.repair_from});
    });
    const std::string repository = std::filesystem::absolute(command.repo).lexically_normal();
    print_result(global.json ? fsck_json(report, repository) : fsck_text(report, command));
    return report.is_damaged() ? 1 : 0;
}

}  // namespace edgegpu
