#include "bundles/checks/names_check.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "schema/formats.hpp"
#include "schema/kind_problem.hpp"
#include "schema/schema_problem.hpp"
#include "support/text/dns_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view digits = "0123456789";

bool is_one_of(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

bool is_letter_or_digit(char c) {
    return is_one_of(c, digits) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The part of the key of a label after its prefix.
bool is_key_name(std::string_view text) {
    return !text.empty() && has_format(text, StringFormat::label_value);
}

/// "app", "app.kubernetes.io/name"
bool is_qualified_name(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return is_key_name(text);
    }
    return is_dns_subdomain(text.substr(0, slash)) && is_key_name(text.substr(slash + 1));
}

/// What the name of an object has to be; empty if it is that.
std::string_view name_problem(const KnownObjects& known, const KubeObject& object) {
    static constexpr std::array<std::string_view, 4> unlimited{
        "CertificateSigningRequest", "ClusterTrustBundle", "IPAddress", "ServiceCIDR"};
    const std::string_view name = object.name;
    const std::string_view group = group_of(object.api_version);
    if (group == "rbac.authorization.k8s.io") {
        const bool fits =
            name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos;
        return fits ? "" : "without \"/\" and \"%\"";
    }
    if (std::ranges::find(unlimited, object.kind) != unlimited.end()) {
        return "";
    }
    if (group.empty() && object.kind == "Namespace") {
        return is_dns_label(name) ? ""
                                  : "at most 63 lower-case letters, digits and hyphens, with a "
                                    "letter or digit at both ends";
    }
    if (group.empty() && object.kind == "Service") {
        // From 1.34 on it may begin with a digit, if the cluster is configured so.
        const bool begins =
            !is_one_of(name.front(), digits) || known.facts().kubernetes.minor >= 34;
        return is_dns_label(name) && begins
                   ? ""
                   : "at most 63 lower-case letters, digits and hyphens, with a letter at the "
                     "beginning and no hyphen at the end";
    }
    if (object.kind == "CronJob" && name.size() > 52) {
        return "at most 52 characters";
    }
    return is_dns_subdomain(name)
               ? ""
               : "at most 253 lower-case letters, digits, hyphens and dots, with "
                 "a letter or digit at both ends and on both sides of a dot";
}

void check_name(const KnownObjects& known, const BundleObject& where, Findings& findings) {
    const std::string_view wanted = name_problem(known, *where.object);
    if (!wanted.empty()) {
        findings.add(
            where, "/metadata/name",
            fmt::format("the API server refuses the name {}", quoted_text(where.object->name)),
            fmt::format("names of this kind are {}", wanted));
    }
}

std::string step_of(std::string_view key) {
    return pointer_of({std::string(key)});
}

void check_labels(const BundleObject& where, const json& object, const std::string& pointer,
                  Findings& findings) {
    for (const auto& [key, item] : entries_at(object, {"labels"})) {
        const std::string value = text_of(item);
        if (!is_qualified_name(key)) {
            findings.add(where, pointer + step_of(key),
                         fmt::format("{} is not a valid key of a label", quoted_text(key)),
                         "a key is a name of at most 63 letters, digits, \"-\", \"_\" and \".\", "
                         "after \"DOMAIN/\" if it has a prefix");
        }
        if (!has_format(value, StringFormat::label_value)) {
            findings.add(where, pointer + step_of(key),
                         fmt::format("{} is not a valid value of a label", quoted_text(value)),
                         "a value is empty, or at most 63 letters, digits, \"-\", \"_\" and \".\" "
                         "with a letter or digit at both ends; an annotation may be any text");
        }
    }
}

void check_annotations(const BundleObject& where, const json& object, const std::string& pointer,
                       Findings& findings) {
    constexpr std::size_t most = std::size_t{256} << 10;
    std::size_t size = 0;
    for (const auto& [key, item] : entries_at(object, {"annotations"})) {
        size += key.size() + text_of(item).size();
        if (!is_qualified_name(lower_case(key))) {
            findings.add(where, pointer + step_of(key),
                         fmt::format("{} is not a valid key of an annotation", quoted_text(key)),
                         "a key is a name of at most 63 letters, digits, \"-\", \"_\" and \".\", "
                         "after \"DOMAIN/\" if it has a prefix");
        }
    }
    if (size > most) {
        findings.add(where, pointer,
                     fmt::format("the annotations have {} bytes; the API server takes at most "
                                 "262144",
                                 size),
                     "move large values to a config map");
    }
}

/// The bytes that base64 stands for; what is not base64 the schema refuses.
std::size_t decoded_size(std::string_view text) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/'; }));
    return count / 4 * 3 + count % 4 * 3 / 4;
}

void check_data_object(const BundleObject& where, Findings& findings) {
    const KubeObject& object = *where.object;
    const bool map = object.kind == "ConfigMap";
    if (object.api_version != "v1" || (!map && object.kind != "Secret")) {
        return;
    }
    std::size_t size = 0;
    for (const std::string_view part : {"data", "binaryData", "stringData"}) {
        for (const auto& [key, item] : entries_at(object.content, {part})) {
            const std::string value = text_of(item);
            const bool plain = part == (map ? "data" : "stringData");
            size += (map ? key.size() : 0) + (plain ? value.size() : decoded_size(value));
            const bool fits = !key.empty() && key.size() <= 253 && key != "." &&
                              !key.starts_with("..") && std::ranges::all_of(key, [](char c) {
                                  return is_letter_or_digit(c) || is_one_of(c, "-_.");
                              });
            if (!fits) {
                findings.add(where, fmt::format("/{}{}", part, step_of(key)),
                             fmt::format("the API server refuses the key {}", quoted_text(key)),
                             "a key is at most 253 letters, digits, \"-\", \"_\" and \".\"");
            }
        }
    }
    if (size > std::size_t{1} << 20) {
        findings.add(where, "",
                     fmt::format("it has {} bytes; the API server takes at most 1048576", size),
                     "put large files into the image with [[overlays]], or into a container "
                     "image");
    }
}

}  // namespace

void check_names_and_labels(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                            Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        const json& metadata = value_at(each.object->content, {"metadata"});
        check_name(known, each, findings);
        check_labels(each, metadata, "/metadata/labels", findings);
        check_annotations(each, metadata, "/metadata/annotations", findings);
        check_data_object(each, findings);
    }
    for (const PodTemplate& pod : pods) {
        // A Pod's own have been checked, and custom resources may mean something else.
        if (pod.metadata->is_null() || pod.pointer == "/spec" ||
            known.is_custom(*pod.where.object)) {
            continue;
        }
        const std::string at = pod.pointer.substr(0, pod.pointer.rfind('/')) + "/metadata/";
        check_labels(pod.where, *pod.metadata, at + "labels", findings);
        check_annotations(pod.where, *pod.metadata, at + "annotations", findings);
    }
}

}  // namespace edgegpu
