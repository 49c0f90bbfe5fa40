#include <fmt/format.h>

#include "report/format/diff_page.hpp"
#include "report/format/formats.hpp"
#include "report/upgrade.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

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

}  // namespace edgegpu
