#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/format/diff_page.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Number of paths that are shown if not all are.
constexpr std::size_t files_shown = 20;

/// A line of the list: a path, or a directory that was added or removed with its content.
struct Row {
    std::string sign;
    std::string path;
    std::string detail;
    std::uint64_t weight = 0;
};

/// The differences besides the content: "mode 0644 -> 0755", "label".
std::vector<std::string> other_differences(const PathChange& change) {
    std::vector<std::string> parts;
    for (const std::string& what : change.differences()) {
        if (what == "mode") {
            parts.push_back(
                fmt::format("mode {:04o} -> {:04o}", change.before->mode, change.after->mode));
        } else if (what == "owner") {
            parts.push_back(fmt::format("owner {}:{} -> {}:{}", change.before->uid,
                                        change.before->gid, change.after->uid, change.after->gid));
        } else if (what == "target") {
            parts.push_back(
                fmt::format("-> {}, was {}", change.after->target, change.before->target));
        } else if (what != "content") {
            parts.push_back(what);
        }
    }
    return parts;
}

std::string side_text(const CommitPath& side) {
    return side.type == EntryType::directory ? ""
           : side.type == EntryType::symlink ? "-> " + side.target
                                             : human_size(side.size);
}

Row row_of(const std::string& path, const PathChange& change) {
    const CommitPath& side = change.after ? *change.after : *change.before;
    Row row{DiffPage::sign(change.kind()),
            side.type == EntryType::directory && path != "/" ? path + '/' : path, "", 0};
    if (!change.before || !change.after) {
        row.detail = side_text(side);
        row.weight = side.size;
        return row;
    }
    std::vector<std::string> parts = other_differences(change);
    if (change.content && change.before->type == EntryType::file &&
        change.after->type == EntryType::file) {
        row.weight = std::max(change.before->size, change.after->size);
        const std::string before = human_size(change.before->size);
        const std::string after = human_size(change.after->size);
        parts.insert(parts.begin(), before == after ? after : before + " -> " + after);
    }
    row.detail = fmt::format("{}", fmt::join(parts, ", "));
    return row;
}

bool is_whole_directory(const TreeChanges& paths, const std::string& path, bool added) {
    const auto found = paths.find(path);
    if (found == paths.end()) {
        return false;
    }
    const auto& side = added ? found->second.after : found->second.before;
    const auto& other = added ? found->second.before : found->second.after;
    return side && !other && side->type == EntryType::directory;
}

/// The topmost directory above `path` (or `path` itself) that was added or removed as a whole.
std::string whole_directory(const TreeChanges& paths, const std::string& path, bool added) {
    std::string best = path;
    std::string parent = path.substr(0, path.rfind('/'));
    while (!parent.empty() && is_whole_directory(paths, parent, added)) {
        best = parent;
        parent.erase(parent.rfind('/'));
    }
    return best;
}

std::vector<Row> united_rows(const TreeChanges& paths) {
    struct Sum {
        std::size_t files = 0;
        std::uint64_t bytes = 0;
    };
    std::map<std::pair<std::string, bool>, Sum> whole;
    std::vector<Row> rows;
    for (const auto& [path, change] : paths) {
        const bool both = change.before && change.after;
        const bool added = change.after.has_value();
        const CommitPath& side = added ? *change.after : *change.before;
        const std::string top = both ? path : whole_directory(paths, path, added);
        if (both || (top == path && side.type != EntryType::directory)) {
            rows.push_back(row_of(path, change));
            continue;
        }
        Sum& sum = whole[{top, added}];
        sum.files += side.type == EntryType::directory ? 0 : 1;
        sum.bytes += side.size;
    }
    for (const auto& [key, sum] : whole) {
        rows.push_back({key.second ? "+" : "-", key.first + '/',
                        fmt::format("{}, {}", counted(sum.files, "file"), human_size(sum.bytes)),
                        sum.bytes});
    }
    return rows;
}

std::string summary(const FileTotals& files) {
    std::vector<std::string> parts;
    const auto add = [&](std::uint64_t count, const std::string& text) {
        if (count > 0) {
            parts.push_back(fmt::format("{} {}", count, text));
        }
    };
    add(files.added, fmt::format("added ({})", human_size(files.added_bytes)));
    add(files.removed, fmt::format("removed ({})", human_size(files.removed_bytes)));
    add(files.changed, fmt::format("changed ({} -> {})", human_size(files.changed_bytes_before),
                                   human_size(files.changed_bytes_after)));
    add(files.other, "with another mode, owner or label alone");
    return parts.empty() ? "directories only" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void show_files(DiffPage& page, const Diff& diff, bool all) {
    page.section("Files", summary(diff.files), !diff.paths.empty());
    if (diff.paths.empty()) {
        return;
    }
    std::vector<Row> rows;
    if (all) {
        for (const auto& [path, change] : diff.paths) {
            rows.push_back(row_of(path, change));
        }
    } else {
        rows = united_rows(diff.paths);
        std::ranges::sort(rows, [](const Row& a, const Row& b) {
            return a.weight != b.weight ? a.weight > b.weight : a.path < b.path;
        });
    }
    const std::size_t shown = all || rows.size() <= files_shown + 1 ? rows.size() : files_shown;
    const std::size_t left_out = rows.size() - shown;
    rows.resize(shown);
    PageRows cells;
    cells.reserve(rows.size());
    for (Row& row : rows) {
        cells.push_back({row.sign, row.path, row.detail});
    }
    page.columns(cells, {"Path", "Size or change"});
    page.more(left_out, "--files shows all");
}

}  // namespace edgegpu
