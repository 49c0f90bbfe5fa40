#include <nlohmann/json.hpp>

#include "report/format/formats.hpp"
#include "report/upgrade.hpp"

namespace edgegpu {

using nlohmann::ordered_json;

// The library finds these by the types' namespace, and makes lists with them; hence no anonymous
// namespace.

static void to_json(ordered_json& json, const CommitInfo& info) {
    json = {{"name", info.name},    {"checksum", info.checksum}, {"parent", info.parent},
            {"time", info.time},    {"version", info.version},   {"kernel", info.kernel},
            {"driver", info.driver}};
}

static void to_json(ordered_json& json, const PackageChange& package) {
    json = {{"name", package.name},
            {"arch", package.arch},
            {"change", package.kind()},
            {"before", package.before},
            {"after", package.now}};
}

static void to_json(ordered_json& json, const StackChange& change) {
    json = {{"part", change.part},
            {"name", change.name},
            {"change", change.kind()},
            {"before", change.before},
            {"after", change.after}};
}

static void to_json(ordered_json& json, const CommitImage& image) {
    json = {{"digest", image.digest}, {"bytes", image.size}};
}

template <typename Value>
static ordered_json nullable(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

static void to_json(ordered_json& json, const ImageChange& image) {
    json = {{"name", image.name},
            {"change", image.kind()},
            {"before", nullable(image.before)},
            {"after", nullable(image.after)}};
}

static void to_json(ordered_json& json, const Enablement& link) {
    json = {{"unit", link.unit}, {"by", link.by}, {"relation", link.relation}};
}

static void to_json(ordered_json& json, const UnitFileChange& file) {
    json = {{"name", file.name}, {"path", file.path}, {"type", file.type}, {"change", file.change}};
}

static void to_json(ordered_json& json, const UnitChanges& units) {
    json = {{"files", units.files},
            {"enabled", units.enabled},
            {"disabled", units.disabled},
            {"masked", units.masked},
            {"unmasked", units.unmasked}};
}

static void to_json(ordered_json& json, const AccountField& field) {
    json = {{"field", field.name}, {"before", field.before}, {"after", field.after}};
}

static void to_json(ordered_json& json, const AccountChange& account) {
    json = {{"name", account.name}, {"change", account.change}, {"fields", account.fields}};
}

static void to_json(ordered_json& json, const LineChanges& lines) {
    json = {{"gained", lines.gained}, {"lost", lines.lost}};
}

static void to_json(ordered_json& json, const NameChanges& names) {
    json = {{"gained", names.gained}, {"lost", names.lost}};
}

static void to_json(ordered_json& json, const ModuleChange& module) {
    json = {{"name", module.name}, {"priority", module.priority}, {"change", module.change}};
}

static void to_json(ordered_json& json, const BooleanChange& boolean) {
    json = {{"name", boolean.name},
            {"before", nullable(boolean.before)},
            {"after", nullable(boolean.after)}};
}

static void to_json(ordered_json& json, const LabelChange& label) {
    json = {{"path", label.path}, {"before", label.before}, {"after", label.after}};
}

static void to_json(ordered_json& json, const PolicyChanges& policy) {
    json = {{"type", {{"before", policy.type_before}, {"after", policy.type_after}}},
            {"mode", {{"before", policy.mode_before}, {"after", policy.mode_after}}},
            {"modules", policy.modules},
            {"booleans", policy.booleans},
            {"permissive", policy.permissive},
            {"types", policy.types},
            {"attributes", policy.attributes},
            {"rules", policy.rules},
            {"labels", policy.labels},
            {"file_contexts", policy.file_contexts}};
}

static void to_json(ordered_json& json, const ConfigChange& file) {
    json = {{"path", file.path},
            {"change", file.change},
            {"gained", file.lines.gained},
            {"lost", file.lines.lost}};
}

static void to_json(ordered_json& json, const BundleFile& file) {
    json = {{"name", file.name}, {"change", file.change}};
}

static void to_json(ordered_json& json, const BundleChange& bundle) {
    json = {{"directory", bundle.directory}, {"change", bundle.change}, {"files", bundle.files}};
}

static void to_json(ordered_json& json, const CommitAdvisory& advisory) {
    json = {{"id", advisory.id},
            {"kind", advisory_kind(advisory)},
            {"severity", advisory_severity(advisory)},
            {"cves", advisory.cves},
            {"packages", advisory.packages}};
}

static void to_json(ordered_json& json, const RestartClass& restart) {
    json = {{"class", restart.name}, {"reasons", restart.reasons}};
}

static void to_json(ordered_json& json, const Unknown& unknown) {
    json = {{"what", unknown.what}, {"why", unknown.why}};
}

namespace {

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

ordered_json upgrade_json(const Diff& diff) {
    const UpgradeCost cost = upgrade_cost(diff);
    const NewContent& content = diff.new_content;
    ordered_json upgrade = {{"download_bytes", cost.download_bytes},
                            {"requests", cost.requests},
                            {"free_bytes_needed", cost.free_bytes},
                            {"boot_bytes_needed", content.boot_bytes},
                            {"restart", cost.restart}};
    if (!content.largest_path.empty()) {
        upgrade["largest"] = {{"path", content.largest_path}, {"bytes", content.largest_bytes}};
    }
    return upgrade;
}

}  // namespace

std::string diff_json(const Diff& diff, const std::string& repository) {
    ordered_json document = {
        {"format", "edgegpu-diff/1"},
        {"repository", repository},
        {"before", diff.before},
        {"after", diff.after},
        {"unknown", diff.unknown},
        {"packages", diff.packages},
        {"gpu_stack", diff.gpu_stack},
        {"images", diff.images},
        {"image_bytes",
         {{"before", total_bytes(diff.before.images)}, {"after", total_bytes(diff.after.images)}}},
        {"kernel_arguments",
         {{"added", diff.kernel_arguments.added},
          {"removed", diff.kernel_arguments.removed},
          {"reordered", diff.kernel_arguments.reordered}}},
        {"units", diff.units},
        {"users", diff.accounts.users},
        {"groups", diff.accounts.groups},
        {"policy", diff.policy},
        {"modprobe", diff.modprobe},
        {"bundles", diff.bundles},
        {"files", files_json(diff)},
        {"new_content",
         {{"objects", diff.new_content.objects},
          {"bytes", diff.new_content.bytes},
          {"stored_bytes", diff.new_content.stored_bytes}}},
        {"upgrade", upgrade_json(diff)},
        {"advisories", diff.advisories}};
    if (diff.delta) {
        document["delta"] = {
            {"bytes", diff.delta->bytes},       {"parts", diff.delta->parts},
            {"requests", diff.delta->requests}, {"object_bytes", diff.delta->fallback_bytes},
            {"objects", diff.delta->fallbacks}, {"free_bytes_needed", diff.delta->unpacked}};
    }
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace edgegpu
