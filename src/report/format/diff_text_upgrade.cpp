#include <fmt/format.h>

#include "report/format/diff_page.hpp"
#include "report/upgrade.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// No driver has as many parts.
constexpr std::size_t stack_rows_shown = 60;

PageRows upgrade_rows(const Diff& diff, const UpgradeCost& cost) {
    const NewContent& content = diff.new_content;
    PageRows rows{
        {"", "objects",
         fmt::format("{} in {}: {}, {}, commit and signatures", human_size(cost.download_bytes),
                     counted(cost.requests, "request"), counted(content.objects, "file"),
                     counted(content.directories, "directory object"))}};
    if (diff.delta) {
        rows.push_back({"", "static delta",
                        fmt::format("{} in {}: {}, {}; a device needs {} free",
                                    human_size(diff.delta->bytes + diff.delta->fallback_bytes),
                                    counted(diff.delta->requests, "request"),
                                    counted(diff.delta->parts, "part"),
                                    counted(diff.delta->fallbacks, "object"),
                                    human_size(diff.delta->unpacked))});
    }
    if (!content.largest_path.empty()) {
        rows.push_back(
            {"", "largest object",
             fmt::format("{}  {}", human_size(content.largest_bytes), content.largest_path)});
    }
    rows.push_back({"", "free space",
                    content.boot_bytes == 0
                        ? human_size(cost.free_bytes)
                        : fmt::format("{}, and {} in /boot", human_size(cost.free_bytes),
                                      human_size(content.boot_bytes))});
    const char* title = "restart";
    for (const RestartClass& one : cost.restart) {
        rows.push_back(
            {"", title,
             fmt::format("{}{}: {}", one.name,
                         cost.restart.size() == 1 && one.name == "user space" ? " only" : "",
                         fmt::join(one.reasons, ", "))});
        title = "";
    }
    return rows;
}

std::string kind_text(const CommitAdvisory& advisory) {
    const std::string kind = advisory_kind(advisory);
    return advisory.severity == 0 ? kind : fmt::format("{}, {}", kind, advisory_severity(advisory));
}

}  // namespace

void show_upgrade(DiffPage& page, const Diff& diff) {
    const UpgradeCost cost = upgrade_cost(diff);
    page.section("Upgrade",
                 fmt::format("{} to download{}",
                             human_size(diff.delta ? diff.delta->bytes + diff.delta->fallback_bytes
                                                   : cost.download_bytes),
                             diff.delta ? " by the static delta" : ", without a static delta"),
                 true);
    page.columns(upgrade_rows(diff, cost), {"", ""});
}

void show_advisories(DiffPage& page, const std::vector<CommitAdvisory>& advisories) {
    // Repositories of many distributions have none: nothing is said of them then.
    if (advisories.empty()) {
        return;
    }
    PageRows rows;
    rows.reserve(advisories.size());
    for (const CommitAdvisory& advisory : advisories) {
        rows.push_back({"+", advisory.id, kind_text(advisory),
                        fmt::format("{}", fmt::join(advisory.cves, ", "))});
    }
    page.section("Advisories", fmt::format("{} fixed", rows.size()), true);
    page.columns(rows, {"Advisory", "Kind", "CVEs"});
}

void show_gpu_stack(DiffPage& page, const std::vector<StackChange>& changes) {
    // Many images have none: nothing is said of it then.
    if (changes.empty()) {
        return;
    }
    PageRows rows;
    DiffCounts counts({"added", "removed", "changed"});
    for (const StackChange& change : changes) {
        counts.add(change.kind());
        if (rows.size() < stack_rows_shown) {
            rows.push_back(
                {DiffPage::sign(change.kind()),
                 change.name.empty() ? change.part : fmt::format("{} {}", change.part, change.name),
                 change.before.empty() || change.after.empty()
                     ? change.before + change.after
                     : fmt::format("{} -> {}", change.before, change.after)});
        }
    }
    page.section("GPU stack", counts.text(), true);
    page.columns(rows, {"Part", "Version"});
    page.more(changes.size() - rows.size());
}

}  // namespace edgegpu
