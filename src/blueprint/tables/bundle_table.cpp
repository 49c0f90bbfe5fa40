#include "blueprint/tables/bundle_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "blueprint/toml/validate.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/dns_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_patch = 1U << 20U;
constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_tag = 128;

bool is_key_of_config_map(std::string_view text) {
    return !text.empty() && text.size() <= longest_name && text != "." && !text.starts_with("..") &&
           is_plain_name("a" + std::string(text), "_.-");
}

/// The name of an image without tag and digest. kustomize takes it for a regular expression.
bool is_image_name(std::string_view text) {
    const std::string_view last = text.substr(text.rfind('/') + 1);
    return is_plain_name(text, "_.-/:") && !last.empty() && last.find(':') == std::string::npos;
}

bool is_tag(std::string_view text) {
    return text.size() <= longest_tag && is_plain_name(text, "_.-");
}

bool is_digest(std::string_view text) {
    constexpr std::string_view algorithm = "sha256:";
    return text.starts_with(algorithm) && is_sha256(text.substr(algorithm.size()));
}

/// A string that is absent or passes `is_valid`; anything else is noted, with what it should be.
template <typename Check>
std::string checked(const TableReader& table, std::string_view key, Check is_valid,
                    std::string_view hint) {
    std::string text = table.string(key);
    if (table.has(key) && !is_valid(text)) {
        table.note(error_at(table, key, "invalid {} \"{}\"", table.full_name(key), text)
                       .hinted(std::string(hint)));
        return {};
    }
    return text;
}

constexpr const char* image_hint =
    "without tag and digest, as in \"nvcr.io/nvidia/k8s-device-plugin\"";
constexpr const char* name_hint =
    "letters from a to z, digits, '-' and '.', at most 253 characters";

void read_bundle_image(const TableReader& table, BundleRequest& request) {
    BundleImage image;
    image.location = table.location();
    static_cast<void>(table.required_string("name"));
    image.name = checked(table, "name", is_image_name, image_hint);
    image.new_name = checked(table, "newName", is_image_name, image_hint);
    image.new_tag = checked(table, "newTag", is_tag, "as in \"1.2.3\"");
    image.digest = checked(table, "digest", is_digest, "\"sha256:\" and 64 hexadecimal digits");
    table.finish();
    if (!table.has("newName") && !table.has("newTag") && !table.has("digest")) {
        throw error_at(image.location, "nothing of image \"{}\" changes", image.name)
            .hinted("add newName, newTag or digest");
    }
    if (table.has("newTag") && table.has("digest")) {
        throw error_at(table, "digest", "both newTag and digest")
            .hinted("versions of kustomize differ in what they make of it: keep the digest");
    }
    request.images.push_back(std::move(image));
}

void read_replicas(const TableReader& table, BundleRequest& request) {
    BundleReplicas replicas;
    replicas.location = table.location();
    static_cast<void>(table.required_string("name"));
    replicas.name = checked(table, "name", is_dns_subdomain, name_hint);
    const std::optional<std::int64_t> count =
        table.integer("count", 0, std::numeric_limits<std::int32_t>::max());
    if (!table.has("count")) {
        table.note(error_at(replicas.location, "\"{}\" is missing", table.full_name("count")));
    }
    replicas.count = count.value_or(0);
    table.finish();
    request.replicas.push_back(std::move(replicas));
}

PatchTarget read_target(const TableReader& table) {
    PatchTarget target;
    target.group = table.string("group");
    target.version = table.string("version");
    target.kind = table.string("kind");
    target.name = table.string("name");
    target.name_space = table.string("namespace");
    target.label_selector = table.string("labelSelector");
    target.annotation_selector = table.string("annotationSelector");
    table.finish();
    if (table.keys().empty()) {
        table.note(error_at(table.location(), "the patch's target is empty")
                       .hinted("as in target = { kind = \"DaemonSet\", name = \"app\" }"));
    }
    return target;
}

std::string read_patch_file(const TableReader& table, const ParseScope& scope) {
    try {
        return read_file(path_at(scope, table.location("path"), table.required_string("path")),
                         largest_patch);
    } catch (const Error& failure) {
        throw error_at(table, "path", "cannot read the patch: {}", failure.message());
    }
}

void read_patch(const TableReader& table, const ParseScope& scope, BundleRequest& request) {
    BundlePatch patch;
    patch.location = table.location();
    const bool inside = table.has("patch");
    if (inside == table.has("path")) {
        table.note(error_at(patch.location, "{}", inside ? "both patch and path" : "no patch")
                       .hinted("either patch, the text, or path, a file"));
    } else if (inside) {
        patch.text = table.text("patch");
        if (trim(patch.text).empty()) {
            table.note(error_at(table, "patch", "the patch is empty"));
        }
    } else {
        table.attempt([&] { patch.text = read_patch_file(table, scope); });
    }
    if (const auto target = table.table("target")) {
        patch.target = read_target(*target);
    }
    table.finish();
    request.patches.push_back(std::move(patch));
}

void read_values(const TableReader& maps, const std::string& name, BundleRequest& request) {
    const auto table = maps.table(name);
    if (!table) {
        return;
    }
    BundleValues values;
    values.name = name;
    values.location = maps.location(name);
    if (!is_dns_subdomain(name)) {
        throw error_at(values.location, "\"{}\" is not a valid name of a config map", name)
            .hinted(name_hint);
    }
    for (const std::string& key : table->keys()) {
        if (!is_key_of_config_map(key)) {
            table->note(error_at(*table, key, "\"{}\" is not a valid key of a config map", key)
                            .hinted("letters, digits, '-', '_' and '.'"));
        }
        values.entries[key] = table->text(key);
    }
    if (values.entries.empty()) {
        throw error_at(values.location, "config map \"{}\" gets no values", name);
    }
    request.values.push_back(std::move(values));
}

}  // namespace

void read_bundle_changes(const TableReader& table, const ParseScope& scope,
                         BundleRequest& request) {
    request.name_space = checked(table, "namespace", is_dns_label,
                                 "letters from a to z, digits and '-', at most 63 characters");
    for (const LocatedString& component : table.strings("components")) {
        if (is_plain_name(component.value, "_.-")) {
            request.components.push_back({component.value, component.location});
        } else {
            table.note(
                error_at(component.location, "invalid name of a component \"{}\"", component.value)
                    .hinted("a directory in the bundle's directory components"));
        }
    }
    table.each_table("images", read_bundle_image, request);
    table.each_table("replicas", read_replicas, request);
    table.each_table("patches", read_patch, scope, request);
    if (const auto maps = table.table("values")) {
        for (const std::string& name : maps->keys()) {
            table.attempt([&] { read_values(*maps, name, request); });
        }
        maps->finish();
    }
}

}  // namespace edgegpu
