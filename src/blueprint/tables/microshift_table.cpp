#include <cstdint>
#include <string>

#include "blueprint/tables/bundle_table.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t most_tombstones = 100;

/// `given`: a name or a path. `name`: what the bundle is called in the image; empty: like the
/// directory.
BundleRequest found_bundle(const LocatedString& given, const std::string& name,
                           const SourceLocation& location, const ParseScope& scope) {
    BundleRequest request;
    request.location = location;
    request.source = find_shipped(scope, "manifests", given.value, {});
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
        throw error_at(table.location("name"), "invalid name of a bundle \"{}\"", name);
    }
    BundleRequest request =
        found_bundle({given, table.location("bundle")}, name, table.location("bundle"), scope);
    read_bundle_changes(table, scope, request);
    table.finish();
    add_bundle(std::move(request), microshift);
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
    table.finish();
}

}  // namespace edgegpu
