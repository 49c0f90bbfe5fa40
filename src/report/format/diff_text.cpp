#include <algorithm>

#include <fmt/format.h>

#include "image/account_files.hpp"
#include "report/format/diff_page.hpp"
#include "report/format/formats.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Number of lines of a list of rules, labels and so on before it is truncated.
constexpr std::size_t rule_lines_shown = 30;

void show_commits(DiffPage& page, const Diff& diff) {
    PageRows rows;
    for (const CommitInfo* info : {&diff.before, &diff.after}) {
        rows.push_back({info == &diff.before ? "---" : "+++", info->name,
                        info->checksum.substr(0, 12), day_text(info->time), info->version});
    }
    page.columns(rows, {"Commit", "Checksum", "Date", "Version"});
    const auto row = [&](const char* what, const std::string& before, const std::string& after) {
        if (!before.empty() || !after.empty()) {
            const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
            page.plain(fmt::format(
                "{:<8} {}", what,
                before == after ? before : fmt::format("{} -> {}", shown(before), shown(after))));
        }
    };
    page.plain("");
    row("version", diff.before.version, diff.after.version);
    row("kernel", diff.before.kernel, diff.after.kernel);
    row("driver", diff.before.driver, diff.after.driver);
}

void show_packages(DiffPage& page, const std::vector<PackageChange>& packages) {
    PageRows rows;
    DiffCounts counts({"added", "removed", "upgraded", "downgraded"});
    for (const PackageChange& package : packages) {
        const std::string kind = package.kind();
        counts.add(kind);
        rows.push_back({kind == "added"     ? "+"
                        : kind == "removed" ? "-"
                                            : "~",
                        package.name + '.' + package.arch,
                        package.before.empty() || package.now.empty()
                            ? package.before + package.now
                            : fmt::format("{} -> {}{}", package.before, package.now,
                                          kind == "downgraded" ? "  (downgrade)" : "")});
    }
    page.section("Packages", counts.text(), !packages.empty());
    page.columns(rows, {"Package", "Version"});
}

void show_images(DiffPage& page, const Diff& diff) {
    constexpr std::size_t shown_digits = sizeof("sha256:") - 1 + 12;
    const auto side = [](const CommitImage& image) {
        return fmt::format("{}, {}", image.digest.substr(0, shown_digits), human_size(image.size));
    };
    PageRows rows;
    DiffCounts counts({"added", "removed", "changed"});
    for (const ImageChange& image : diff.images) {
        counts.add(image.kind());
        std::vector<std::string> sides;
        for (const auto& one : {image.before, image.after}) {
            if (one) {
                sides.push_back(side(*one));
            }
        }
        rows.push_back({DiffPage::sign(image.kind()), image.name,
                        fmt::format("{}", fmt::join(sides, " -> "))});
    }
    const std::uint64_t before = total_bytes(diff.before.images);
    const std::uint64_t after = total_bytes(diff.after.images);
    page.section("Container images",
                 diff.images.empty() ? counts.text()
                                     : fmt::format("{}; {} -> {} in all", counts.text(),
                                                   human_size(before), human_size(after)),
                 !diff.images.empty());
    page.columns(rows, {"Image", "Digest and size"});
}

void show_arguments(DiffPage& page, const ArgumentChanges& arguments) {
    DiffCounts counts({"added", "removed"});
    counts.add("added", arguments.added.size());
    counts.add("removed", arguments.removed.size());
    page.section("Kernel arguments",
                 arguments.reordered ? "the same in another order" : counts.text(),
                 !arguments.empty());
    page.lines("+", arguments.added);
    page.lines("-", arguments.removed);
}

void show_units(DiffPage& page, const UnitChanges& units) {
    DiffCounts counts({"enabled", "disabled", "masked", "unmasked", "added", "removed", "changed"});
    PageRows rows;
    const auto links = [&](const std::vector<Enablement>& list, const char* sign,
                           const char* what) {
        for (const Enablement& link : list) {
            counts.add(what);
            rows.push_back(
                {sign, what, link.unit,
                 fmt::format("{} by {}", link.relation == "wants" ? "wanted" : "required",
                             link.by)});
        }
    };
    const auto masks = [&](const std::vector<std::string>& list, const char* sign,
                           const char* what) {
        for (const std::string& unit : list) {
            counts.add(what);
            rows.push_back({sign, what, unit, ""});
        }
    };
    links(units.enabled, "+", "enabled");
    links(units.disabled, "-", "disabled");
    masks(units.masked, "-", "masked");
    masks(units.unmasked, "+", "unmasked");
    for (const UnitFileChange& file : units.files) {
        counts.add(file.change);
        rows.push_back({DiffPage::sign(file.change), file.type, file.name,
                        file.path.substr(0, file.path.size() - file.name.size() - 1)});
    }
    page.section("Units", counts.text(), !units.empty());
    page.columns(rows, {"Change", "Unit", "By or in"});
}

/// The changes of a group's members: "members +a, -b".
std::string member_changes(const AccountField& field) {
    const std::vector<std::string> before = split_members(field.before);
    const std::vector<std::string> after = split_members(field.after);
    const NameChanges changes =
        compare_names({before.begin(), before.end()}, {after.begin(), after.end()});
    std::vector<std::string> parts =
        mapped(changes.gained, [](const std::string& name) { return '+' + name; });
    for (const std::string& name : changes.lost) {
        parts.push_back('-' + name);
    }
    return fmt::format("members {}", fmt::join(parts, ", "));
}

std::string field_text(const AccountField& field, bool changed) {
    if (!changed) {
        return fmt::format("{} {}", field.name, field.before + field.after);
    }
    return field.name == "members" ? member_changes(field)
                                   : fmt::format("{} {} -> {}", field.name,
                                                 field.before.empty() ? "none" : field.before,
                                                 field.after.empty() ? "none" : field.after);
}

void show_accounts(DiffPage& page, const std::vector<AccountChange>& accounts, const char* title) {
    DiffCounts counts({"added", "removed", "changed"});
    PageRows rows;
    for (const AccountChange& account : accounts) {
        counts.add(account.change);
        const std::vector<std::string> fields =
            mapped(account.fields, [&](const AccountField& field) {
                return field_text(field, account.change == "changed");
            });
        rows.push_back({DiffPage::sign(account.change), account.name,
                        fmt::format("{}", fmt::join(fields, ", "))});
    }
    page.section(title, counts.text(), !accounts.empty());
    page.columns(rows, {"Name", "Fields"});
}

std::string on_off(const std::optional<bool>& value) {
    return !value ? "" : *value ? "on" : "off";
}

/// The rows before the lists of rules.
PageRows policy_rows(const PolicyChanges& policy) {
    PageRows rows;
    const auto setting = [&](const char* what, const std::string& before,
                             const std::string& after) {
        if (before != after) {
            rows.push_back({"~", what,
                            fmt::format("{} -> {}", before.empty() ? "none" : before,
                                        after.empty() ? "none" : after)});
        }
    };
    setting("policy", policy.type_before, policy.type_after);
    setting("mode", policy.mode_before, policy.mode_after);
    for (const ModuleChange& module : policy.modules) {
        rows.push_back({DiffPage::sign(module.change), "module",
                        module.priority.empty()
                            ? fmt::format("{} ({})", module.name, module.change)
                            : fmt::format("{}@{}", module.name, module.priority)});
    }
    for (const BooleanChange& boolean : policy.booleans) {
        const bool both = boolean.before && boolean.after;
        rows.push_back({both            ? "~"
                        : boolean.after ? "+"
                                        : "-",
                        "boolean",
                        both ? fmt::format("{}  {} -> {}", boolean.name, on_off(boolean.before),
                                           on_off(boolean.after))
                             : fmt::format("{}  {}{}", boolean.name, on_off(boolean.before),
                                           on_off(boolean.after))});
    }
    const auto names = [&](const NameChanges& changes, const char* what) {
        for (const std::string& name : changes.gained) {
            rows.push_back({"+", what, name});
        }
        for (const std::string& name : changes.lost) {
            rows.push_back({"-", what, name});
        }
    };
    names(policy.permissive, "permissive");
    names(policy.types, "type");
    return rows;
}

void show_rules(DiffPage& page, const char* title, const std::vector<std::string>& gained,
                const std::vector<std::string>& lost, std::size_t limit = rule_lines_shown) {
    if (!gained.empty() || !lost.empty()) {
        page.subsection(title, fmt::format("{} gained, {} lost", gained.size(), lost.size()));
    }
    page.lines("+", gained, limit);
    page.lines("-", lost, limit);
}

void show_labels(DiffPage& page, const std::vector<LabelChange>& labels) {
    if (labels.empty()) {
        return;
    }
    page.subsection("labels", counted(labels.size(), "path") + " with another label");
    const std::vector<std::string> lines = mapped(labels, [](const LabelChange& label) {
        return fmt::format("{}  {} -> {}", label.path, label.before.empty() ? "none" : label.before,
                           label.after.empty() ? "none" : label.after);
    });
    page.lines("~", lines, rule_lines_shown);
}

std::string policy_summary(const PolicyChanges& policy) {
    std::vector<std::string> parts;
    const auto add = [&](std::size_t count, const char* noun) {
        if (count > 0) {
            parts.push_back(counted(count, noun));
        }
    };
    add(policy.modules.size(), "module");
    add(policy.booleans.size(), "boolean");
    add(policy.types.gained.size() + policy.types.lost.size(), "type");
    add(merged_rules(policy.rules.gained).size() + merged_rules(policy.rules.lost).size(), "rule");
    add(policy.labels.size(), "label");
    return fmt::format("{}", fmt::join(parts, ", "));
}

void show_policy(DiffPage& page, const PolicyChanges& policy) {
    page.section("SELinux", policy_summary(policy), !policy.empty());
    PageRows rows = policy_rows(policy);
    const std::size_t shown = std::min(rows.size(), 2 * rule_lines_shown);
    const std::size_t left_out = rows.size() - shown;
    rows.resize(shown);
    page.columns(rows, {"Kind", "Name"});
    page.more(left_out);
    show_rules(page, "rules", merged_rules(policy.rules.gained), merged_rules(policy.rules.lost));
    show_rules(page, "attributes of types", merged_attributes(policy.attributes.gained),
               merged_attributes(policy.attributes.lost));
    show_labels(page, policy.labels);
    show_rules(page, "file contexts", policy.file_contexts.gained, policy.file_contexts.lost,
               rule_lines_shown / 3);
}

void show_modprobe(DiffPage& page, const std::vector<ConfigChange>& files) {
    DiffCounts counts({"added", "removed", "changed"});
    for (const ConfigChange& file : files) {
        counts.add(file.change);
    }
    page.section("modprobe.d", counts.text(), !files.empty());
    for (const ConfigChange& file : files) {
        page.lines(DiffPage::sign(file.change), {file.path});
        page.lines("+", file.lines.gained, rule_lines_shown, 2);
        page.lines("-", file.lines.lost, rule_lines_shown, 2);
    }
}

void show_bundles(DiffPage& page, const std::vector<BundleChange>& bundles) {
    DiffCounts counts({"added", "removed", "changed"});
    for (const BundleChange& bundle : bundles) {
        counts.add(bundle.change);
    }
    page.section("Manifests", counts.text(), !bundles.empty());
    for (const BundleChange& bundle : bundles) {
        page.lines(DiffPage::sign(bundle.change), {bundle.directory + '/'});
        for (const BundleFile& file : bundle.files) {
            page.lines(DiffPage::sign(file.change), {file.name}, rule_lines_shown, 2);
        }
    }
}

void show_sections(DiffPage& page, const Diff& diff, bool all_files) {
    show_commits(page, diff);
    show_upgrade(page, diff);
    show_advisories(page, diff.advisories);
    show_gpu_stack(page, diff.gpu_stack);
    show_packages(page, diff.packages);
    if (!diff.before.images.empty() || !diff.after.images.empty()) {
        show_images(page, diff);
    }
    show_arguments(page, diff.kernel_arguments);
    show_units(page, diff.units);
    show_accounts(page, diff.accounts.users, "Users");
    show_accounts(page, diff.accounts.groups, "Groups");
    show_policy(page, diff.policy);
    show_modprobe(page, diff.modprobe);
    show_bundles(page, diff.bundles);
    show_files(page, diff, all_files);
    for (const Unknown& one : diff.unknown) {
        page.not_compared(one.what == "packages"           ? "Packages"
                          : one.what == "kernel arguments" ? "Kernel arguments"
                          : one.what == "SELinux rules"    ? "SELinux"
                                                           : one.what);
    }
    page.end(diff.unknown);
}

/// The whole page.
std::string page_text(DiffPage& page, const Diff& diff, bool all_files) {
    if (diff.before.checksum == diff.after.checksum) {
        page.plain(fmt::format("Both are commit {}: nothing differs.", diff.after.checksum));
    } else {
        show_sections(page, diff, all_files);
    }
    return page.text();
}

}  // namespace

std::string diff_text(const Diff& diff, const DiffTextOptions& options) {
    TextPage page(options.colored);
    return page_text(page, diff, options.all_files);
}

std::string diff_markdown(const Diff& diff) {
    MarkdownPage page(diff.after.name);
    return page_text(page, diff, false);
}

}  // namespace edgegpu
