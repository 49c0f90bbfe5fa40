#include <nlohmann/json.hpp>

#include "report/format/formats.hpp"
#include "report/upgrade.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ordered_json commit_json(const CommitInfo& info) {
    return {{"name", info.name},    {"checksum", info.checksum}, {"parent", info.parent},
            {"time", info.time},    {"version", info.version},   {"kernel", info.kernel},
            {"driver", info.driver}};
}

ordered_json packages_json(const std::vector<PackageChange>& packages) {
    ordered_json list = ordered_json::array();
    for (const PackageChange& package : packages) {
        list.push_back({{"name", package.name},
                        {"arch", package.arch},
                        {"change", package.kind()},
                        {"before", package.before},
                        {"after", package.now}});
    }
    return list;
}

ordered_json images_json(const std::vector<ImageChange>& images) {
    const auto side = [](const std::optional<CommitImage>& image) {
        return image ? ordered_json({{"digest", image->digest}, {"bytes", image->size}})
                     : ordered_json();
    };
    ordered_json list = ordered_json::array();
    for (const ImageChange& image : images) {
        list.push_back({{"name", image.name},
                        {"change", image.kind()},
                        {"before", side(image.before)},
                        {"after", side(image.after)}});
    }
    return list;
}

ordered_json enablement_json(const std::vector<Enablement>& enablements) {
    ordered_json list = ordered_json::array();
    for (const Enablement& link : enablements) {
        list.push_back({{"unit", link.unit}, {"by", link.by}, {"relation", link.relation}});
    }
    return list;
}

ordered_json units_json(const UnitChanges& units) {
    ordered_json files = ordered_json::array();
    for (const UnitFileChange& file : units.files) {
        files.push_back({{"name", file.name},
                         {"path", file.path},
                         {"type", file.type},
                         {"change", file.change}});
    }
    return {{"files", files},
            {"enabled", enablement_json(units.enabled)},
            {"disabled", enablement_json(units.disabled)},
            {"masked", units.masked},
            {"unmasked", units.unmasked}};
}

ordered_json accounts_json(const std::vector<AccountChange>& accounts) {
    ordered_json list = ordered_json::array();
    for (const AccountChange& account : accounts) {
        ordered_json fields = ordered_json::array();
        for (const AccountField& field : account.fields) {
            fields.push_back(
                {{"field", field.name}, {"before", field.before}, {"after", field.after}});
        }
        list.push_back({{"name", account.name}, {"change", account.change}, {"fields", fields}});
    }
    return list;
}

ordered_json lines_json(const LineChanges& lines) {
    return {{"gained", lines.gained}, {"lost", lines.lost}};
}

ordered_json names_json(const NameChanges& names) {
    return {{"gained", names.gained}, {"lost", names.lost}};
}

ordered_json value_json(const std::optional<bool>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json policy_json(const PolicyChanges& policy) {
    ordered_json modules = ordered_json::array();
    for (const ModuleChange& module : policy.modules) {
        modules.push_back(
            {{"name", module.name}, {"priority", module.priority}, {"change", module.change}});
    }
    ordered_json booleans = ordered_json::array();
    for (const BooleanChange& boolean : policy.booleans) {
        booleans.push_back({{"name", boolean.name},
                            {"before", value_json(boolean.before)},
                            {"after", value_json(boolean.after)}});
    }
    ordered_json labels = ordered_json::array();
    for (const LabelChange& label : policy.labels) {
        labels.push_back({{"path", label.path}, {"before", label.before}, {"after", label.after}});
    }
    return {{"type", {{"before", policy.type_before}, {"after", policy.type_after}}},
            {"mode", {{"before", policy.mode_before}, {"after", policy.mode_after}}},
            {"modules", modules},
            {"booleans", booleans},
            {"permissive", names_json(policy.permissive)},
            {"types", names_json(policy.types)},
            {"attributes", names_json(policy.attributes)},
            {"rules", names_json(policy.rules)},
            {"labels", labels},
            {"file_contexts", lines_json(policy.file_contexts)}};
}

const char* type_name(EntryType type) {
    return type == EntryType::directory ? "directory"
           : type == EntryType::symlink ? "symlink"
                                        : "file";
}

ordered_json paths_json(const TreeChanges& paths) {
    ordered_json list = ordered_json::array();
    for (const auto& [path, change] : paths) {
        const CommitPath& side = change.after ? *change.after : *change.before;
        list.push_back({{"path", path},
                        {"type", type_name(side.type)},
                        {"change", change.kind()},
                        {"differs", change.differences()},
                        {"bytes_before", change.before ? change.before->size : 0},
                        {"bytes_after", change.after ? change.after->size : 0}});
    }
    return list;
}

ordered_json files_json(const Diff& diff) {
    const FileTotals& files = diff.files;
    return {{"added", files.added},
            {"added_bytes", files.added_bytes},
            {"removed", files.removed},
            {"removed_bytes", files.removed_bytes},
            {"changed", files.changed},
            {"changed_bytes_before", files.changed_bytes_before},
            {"changed_bytes_after", files.changed_bytes_after},
            {"other", files.other},
            {"paths", paths_json(diff.paths)}};
}

ordered_json modprobe_json(const std::vector<ConfigChange>& files) {
    ordered_json list = ordered_json::array();
    for (const ConfigChange& file : files) {
        list.push_back({{"path", file.path},
                        {"change", file.change},
                        {"gained", file.lines.gained},
                        {"lost", file.lines.lost}});
    }
    return list;
}

ordered_json bundles_json(const std::vector<BundleChange>& bundles) {
    ordered_json list = ordered_json::array();
    for (const BundleChange& bundle : bundles) {
        ordered_json files = ordered_json::array();
        for (const BundleFile& file : bundle.files) {
            files.push_back({{"name", file.name}, {"change", file.change}});
        }
        list.push_back(
            {{"directory", bundle.directory}, {"change", bundle.change}, {"files", files}});
    }
    return list;
}

ordered_json advisories_json(const std::vector<CommitAdvisory>& advisories) {
    ordered_json list = ordered_json::array();
    for (const CommitAdvisory& advisory : advisories) {
        list.push_back({{"id", advisory.id},
                        {"kind", advisory_kind(advisory)},
                        {"severity", advisory_severity(advisory)},
                        {"cves", advisory.cves},
                        {"packages", advisory.packages}});
    }
    return list;
}

ordered_json upgrade_json(const Diff& diff) {
    const UpgradeCost cost = upgrade_cost(diff);
    const NewContent& content = diff.new_content;
    ordered_json restart = ordered_json::array();
    for (const RestartClass& one : cost.restart) {
        restart.push_back({{"class", one.name}, {"reasons", one.reasons}});
    }
    ordered_json upgrade = {{"download_bytes", cost.download_bytes},
                            {"requests", cost.requests},
                            {"free_bytes_needed", cost.free_bytes},
                            {"boot_bytes_needed", content.boot_bytes},
                            {"restart", restart}};
    if (!content.largest_path.empty()) {
        upgrade["largest"] = {{"path", content.largest_path}, {"bytes", content.largest_bytes}};
    }
    return upgrade;
}

ordered_json unknown_json(const std::vector<Unknown>& unknown) {
    ordered_json list = ordered_json::array();
    for (const Unknown& one : unknown) {
        list.push_back({{"what", one.what}, {"why", one.why}});
    }
    return list;
}

}  // namespace

std::string diff_json(const Diff& diff, const std::string& repository) {
    ordered_json document = {
        {"format", "edgegpu-diff/1"},
        {"repository", repository},
        {"before", commit_json(diff.before)},
        {"after", commit_json(diff.after)},
        {"unknown", unknown_json(diff.unknown)},
        {"packages", packages_json(diff.packages)},
        {"images", images_json(diff.images)},
        {"image_bytes",
         {{"before", total_bytes(diff.before.images)}, {"after", total_bytes(diff.after.images)}}},
        {"kernel_arguments",
         {{"added", diff.kernel_arguments.added},
          {"removed", diff.kernel_arguments.removed},
          {"reordered", diff.kernel_arguments.reordered}}},
        {"units", units_json(diff.units)},
        {"users", accounts_json(diff.accounts.users)},
        {"groups", accounts_json(diff.accounts.groups)},
        {"policy", policy_json(diff.policy)},
        {"modprobe", modprobe_json(diff.modprobe)},
        {"bundles", bundles_json(diff.bundles)},
        {"files", files_json(diff)},
        {"new_content",
         {{"objects", diff.new_content.objects},
          {"bytes", diff.new_content.bytes},
          {"stored_bytes", diff.new_content.stored_bytes}}},
        {"upgrade", upgrade_json(diff)},
        {"advisories", advisories_json(diff.advisories)}};
    if (diff.delta) {
        document["delta"] = {
            {"bytes", diff.delta->bytes},       {"parts", diff.delta->parts},
            {"requests", diff.delta->requests}, {"object_bytes", diff.delta->fallback_bytes},
            {"objects", diff.delta->fallbacks}, {"free_bytes_needed", diff.delta->unpacked}};
    }
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace edgegpu
