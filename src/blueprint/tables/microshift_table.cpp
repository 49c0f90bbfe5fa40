#include <string>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

void read_bundle(const LocatedString& bundle, const ParseScope& scope,
                 MicroshiftRequest& microshift) {
    BundleRequest request;
    request.location = bundle.location;
    request.source = find_shipped(scope, "manifests", bundle.value, {});
    request.name = request.source.filename().string();
    if (bundle.value.empty() || !is_plain_name(request.name, "_.-")) {
        throw error_at(bundle.location, "invalid bundle \"{}\"", bundle.value);
    }
    for (const BundleRequest& earlier : microshift.bundles) {
        if (earlier.name == request.name) {
            throw error_at(bundle.location, "duplicate bundle \"{}\"", request.name);
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

}  // namespace

void read_microshift(const TableReader& table, const ParseScope& scope,
                     MicroshiftRequest& microshift) {
    microshift.location = table.location();
    for (const LocatedString& bundle : table.strings("bundles")) {
        table.attempt([&] { read_bundle(bundle, scope, microshift); });
    }
    read_embed_images(table, microshift);
    table.finish();
}

}  // namespace edgegpu
