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

}  // namespace

void read_microshift(const TableReader& table, const ParseScope& scope,
                     MicroshiftRequest& microshift) {
    microshift.location = table.location();
    for (const LocatedString& bundle : table.strings("bundles")) {
        table.attempt([&] { read_bundle(bundle, scope, microshift); });
    }
    microshift.config = read_microshift_config(table);
    microshift.firewall = table.boolean("firewall", true);
    table.refuse_unsupported({"embed_images"});
    table.finish();
}

}  // namespace edgegpu
