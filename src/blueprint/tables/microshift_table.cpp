#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/tables/bundle_table.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t most_tombstones = 100;

/// `given`: a name or a path. `name`: what the bundle is called in the image; empty: like the
/// directory.
BundleRequest found_bundle(const LocatedString& given, const std::string& name,
                           const SourceLocation& location, const ParseScope& scope) {
    BundleRequest request;
    request.location = location;
    request.source = find_shipped(scope, "manifests", given, {});
    request.name = name.empty() ? request.source.filename().string() : name;
    if (given.value.empty() || !is_plain_name(request.source.filename().string(), "_.-")) {
        throw error_at(given.location, "invalid bundle \"{}\"", given.value);
    }
    return request;
}

void add_bundle(BundleRequest request, MicroshiftRequest& microshift) {
    // MicroShift takes a directory of the first name for deletions; the others are files there.
    if (request.name == "delete" || request.name == "kustomization.yaml" ||
        request.name == "kustomization.yml" || request.name == "Kustomization") {
        throw error_at(request.location, "a bundle cannot be called \"{}\"", request.name)
            .hinted("give it another name: { bundle = …, name = … }");
    }
    for (const BundleRequest& earlier : microshift.bundles) {
        if (earlier.name == request.name) {
            throw error_at(request.location, "duplicate bundle \"{}\"", request.name)
                .hinted(
                    "to use it twice, give one a name and a namespace of its own: { bundle = "
                    "…, name = …, namespace = … }");
        }
    }
    microshift.bundles.push_back(std::move(request));
}

void read_embed_images(const TableReader& table, MicroshiftRequest& microshift) {
    constexpr const char* key = "embed_images";
    if (table.is_boolean(key)) {
        if (table.boolean(key, false)) {
            microshift.embed_images.push_back({"*", table.location(key)});
        }
        return;
    }
    for (const LocatedString& pattern : table.strings(key)) {
        if (pattern.value.empty()) {
            table.note(error_at(pattern.location, "an empty pattern matches no image")
                           .hinted("as in \"nvcr.io/nvidia/*\"; true for all"));
            continue;
        }
        microshift.embed_images.push_back({pattern.value, pattern.location});
    }
}

void read_bundle_table(const TableReader& table, const ParseScope& scope,
                       MicroshiftRequest& microshift) {
    const std::string given = table.required_string("bundle");
    const std::string name = table.string("name");
    if (table.has("name") && !is_plain_name(name, "_.-")) {
        throw error_at(table, "name", "invalid name of a bundle \"{}\"", name);
    }
    BundleRequest request =
        found_bundle({given, table.location("bundle")}, name, table.location("bundle"), scope);
    read_bundle_changes(table, scope, request);
    table.finish();
    add_bundle(std::move(request), microshift);
}

/// Whether `text` can be the name of an object: RBAC's may have nearly every character.
bool is_object_name(std::string_view text) {
    return !text.empty() && text.size() <= 253 && text != "." && text != ".." &&
           text.find_first_of("/% ") == std::string_view::npos;
}

/// "Secret NAMESPACE/NAME", "StorageClass NAME"
ProvidedObject provided_object(const LocatedString& entry) {
    const std::string_view text = entry.value;
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view kind = text.substr(0, space);
    const auto* known = std::ranges::find(provided_kinds, kind, &ProvidedKind::kind);
    if (known == provided_kinds.end()) {
        std::vector<std::string> kinds;
        kinds.reserve(provided_kinds.size());
        for (const ProvidedKind& each : provided_kinds) {
            kinds.emplace_back(each.kind);
        }
        const std::string near = near_names_hint(kind, kinds);
        throw error_at(entry.location, "\"{}\" does not begin with a kind that bundles can lack",
                       text)
            .hinted(near.empty() ? fmt::format("the kinds are {}", fmt::join(kinds, ", ")) : near);
    }
    ProvidedObject object{std::string(kind), "", "", entry.location};
    std::string_view rest = text.substr(std::min(space + 1, text.size()));
    const std::size_t slash = known->namespaced ? rest.find('/') : std::string_view::npos;
    if (slash != std::string_view::npos) {
        object.name_space = rest.substr(0, slash);
        rest.remove_prefix(slash + 1);
    }
    object.name = rest;
    const bool space_fits =
        !known->namespaced || (is_plain_name(object.name_space, "-") && slash != rest.npos);
    if (!space_fits || !is_object_name(object.name)) {
        throw error_at(entry.location, "\"{}\" is not \"{}\"", text,
                       known->namespaced ? fmt::format("{} NAMESPACE/NAME", kind)
                                         : fmt::format("{} NAME", kind))
            .hinted("the name \"*\" stands for all of them");
    }
    return object;
}

}  // namespace

void read_microshift(const TableReader& table, const ParseScope& scope,
                     MicroshiftRequest& microshift) {
    microshift.location = table.location();
    for (const StringOrTable& bundle : table.strings_or_tables("bundles")) {
        table.attempt([&] {
            if (bundle.table) {
                read_bundle_table(*bundle.table, scope, microshift);
            } else {
                add_bundle(found_bundle(bundle.string, "", bundle.string.location, scope),
                           microshift);
            }
        });
    }
    read_embed_images(table, microshift);
    microshift.manifests = table.choice("manifests", microshift.manifests);
    microshift.tombstones =
        table.integer("tombstones", 0, most_tombstones).value_or(microshift.tombstones);
    microshift.delete_data = table.boolean("delete_data", microshift.delete_data);
    for (const LocatedString& entry : table.strings("provided")) {
        table.attempt([&] { microshift.provided.push_back(provided_object(entry)); });
    }
    microshift.config = read_microshift_config(table);
    microshift.firewall = table.boolean("firewall", true);
    table.finish();
}

}  // namespace edgegpu
