#include "bundles/install/bundle_secrets.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/parse/secrets_check.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "bundles/json_value.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

/// Whether a value is public: nothing, or certificates (plain, or in base64 as `data` has them).
bool is_public(const std::string& value) {
    return value.empty() || value.starts_with("-----BEGIN CERTIFICATE-----") ||
           value.starts_with("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t");
}

/// Whether an object is a Secret with a value in it. The tokens of service accounts are filled in
/// by Kubernetes.
bool has_secret_value(const KubeObject& object) {
    if (object.kind != "Secret" || object.api_version != "v1") {
        return false;
    }
    for (const char* key : {"data", "stringData"}) {
        if (!std::ranges::all_of(entries_at(object.content, {key}), [](const auto& each) {
                return is_public(text_of(each.second));
            })) {
            return true;
        }
    }
    return false;
}

/// Whether it is a login at registries, whatever the form of its value.
bool is_pull_secret(const KubeObject& object) {
    const std::string type = text_in(object.content, {"type"});
    return type == "kubernetes.io/dockerconfigjson" || type == "kubernetes.io/dockercfg";
}

/// The file of the bundle that has the object, or that generates it.
std::string file_of(const BundleFiles& files, const KubeObject& object) {
    const std::size_t hash = object.name.rfind('-');
    for (const std::string& name : {object.name, object.name.substr(0, hash)}) {
        for (const auto& [file, content] : files.files) {
            if (content.find("ecret") != std::string::npos &&
                content.find(name) != std::string::npos) {
                return file;
            }
        }
    }
    return files.files.empty() ? "kustomization.yaml" : files.files.begin()->first;
}

/// Where in the file the object's name is.
SourceLocation place_of(const BundleFiles& files, const std::string& file,
                        const KubeObject& object) {
    const auto found = files.files.find(file);
    std::uint32_t line = 1;
    if (found != files.files.end()) {
        const std::size_t at = found->second.find(object.name);
        const std::string_view before =
            std::string_view(found->second).substr(0, at == std::string::npos ? 0 : at);
        line += static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
    }
    return files.place_of(file, line, 1);
}

}  // namespace

std::vector<std::string> check_bundle_secrets(const Blueprint& blueprint,
                                              const std::vector<RenderedBundle>& bundles) {
    Mistakes mistakes;
    SecretCheck check(blueprint.allow_secrets, mistakes);
    for (const RenderedBundle& bundle : bundles) {
        const std::string directory =
            fmt::format("{}/{}", blueprint.microshift.manifests, bundle.name);
        std::set<std::string> reported;
        for (const KubeObject& object : bundle.objects) {
            if (has_secret_value(object)) {
                const std::string file = file_of(bundle.files, object);
                const bool refused =
                    check.add(place_of(bundle.files, file, object),
                              fmt::format("the content of {}", object.title()),
                              fmt::format("{}/{}", directory, file),
                              fmt::format("have it created on the device and refer to it: provided "
                                          "= [\"{}\"] in [microshift]",
                                          object.title()),
                              is_pull_secret(object) ? registry_login : std::string_view());
                if (refused) {
                    reported.insert(file);
                }
            }
        }
        for (const auto& [file, content] : bundle.files.files) {
            const std::string path = fmt::format("{}/{}", directory, file);
            const auto secret = check.find(path, content);
            if (secret && !reported.contains(file)) {
                check.add(bundle.files.place_of(file, std::max(secret->line, 1U), 1), secret->kind,
                          path, "", machine_secret(secret->kind));
            }
        }
    }
    check.finish(is_for_bundles);
    mistakes.throw_any(blueprint.path.string());
    return check.warnings();
}

}  // namespace edgegpu
