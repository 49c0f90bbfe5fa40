#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    const auto* known = std::find_if(provided_kinds.begin(), provided_kinds.end(),
                                     [&](const ProvidedKind& each) { return each.kind == kind; });
    if (known == provided_kinds.end()) {
        std::vector<std::string> kinds;
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
    for (const LocatedString& bundle : table.strings("bundles")) {
        table.attempt([&] { read_bundle(bundle, scope, microshift); });
    }
    for (const LocatedString& entry : table.strings("provided")) {
        table.attempt([&] { microshift.provided.push_back(provided_object(entry)); });
    }
    table.refuse_unsupported({"embed_images"});
    table.finish();
}

}  // namespace edgegpu
