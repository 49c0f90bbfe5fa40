#include "oci/manifest.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// More would be no image: overlayfs mounts 500 layers at most.
constexpr std::size_t most_layers = 1000;
constexpr std::size_t most_manifests = 1000;
constexpr std::string_view algorithm = "sha256:";

Error bad_image(const std::string& called, std::string_view what) {
    return error(ErrorKind::fetch, "image {}: {}", called, what)
        .hinted(
            "edgegpu reads OCI images and Docker images of schema 2; 'skopeo copy --format "
            "oci' converts others");
}

std::string text_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ImageBlob blob_of(const json& object, const std::string& called) {
    if (!object.is_object()) {
        throw bad_image(called, "its manifest has a descriptor that is not an object");
    }
    ImageBlob blob{text_in(object, "mediaType"), text_in(object, "digest"), 0};
    if (!blob.digest.starts_with(algorithm) ||
        !is_sha256(std::string_view(blob.digest).substr(algorithm.size()))) {
        throw bad_image(called, "its manifest has a digest that is not a SHA-256");
    }
    blob.digest.erase(0, algorithm.size());
    const auto size = object.find("size");
    if (size == object.end() || !size->is_number_unsigned()) {
        throw bad_image(called, "its manifest has a blob without a size");
    }
    blob.size = size->get<std::uint64_t>();
    if (blob.size > largest_image) {
        throw bad_image(called, "its manifest has a blob of more than 64 GiB");
    }
    return blob;
}

ImageBlob layer_of(const json& object, const std::string& called) {
    ImageBlob layer = blob_of(object, called);
    // Else the build machine would download from wherever a manifest says.
    if (const auto urls = object.find("urls"); urls != object.end() && !urls->empty()) {
        throw bad_image(called, "a layer of it is not in its registry (\"urls\")");
    }
    if (layer.media_type.find("encrypted") != std::string::npos) {
        throw bad_image(called, "a layer of it is encrypted");
    }
    return layer;
}

ImageBlob config_of(const json& object, const std::string& called) {
    ImageBlob config = blob_of(object, called);
    constexpr std::array<std::string_view, 3> of_images{
        "", "application/vnd.oci.image.config.v1+json",
        "application/vnd.docker.container.image.v1+json"};
    if (std::ranges::find(of_images, config.media_type) == of_images.end()) {
        throw bad_image(called, fmt::format("it is an artifact ({}), not an image of a container",
                                            config.media_type));
    }
    return config;
}

PlatformManifest platform_of(const json& object, const std::string& called) {
    PlatformManifest result{blob_of(object, called), "", "", ""};
    if (const auto platform = object.find("platform");
        platform != object.end() && platform->is_object()) {
        result.os = text_in(*platform, "os");
        result.architecture = text_in(*platform, "architecture");
        result.variant = text_in(*platform, "variant");
    }
    return result;
}

json parse_object(std::string_view text, const std::string& called, std::string_view what) {
    if (text.size() > largest_manifest) {
        throw bad_image(called, std::string(what) + " is larger than 4 MiB");
    }
    json root = json::parse(text, nullptr, false);
    if (!root.is_object()) {
        throw bad_image(called, std::string(what) + " is not a JSON object");
    }
    return root;
}

/// The number that `text` has at `at`, of two digits.
unsigned two_digits(std::string_view text, std::size_t at) {
    return static_cast<unsigned>(text[at] - '0') * 10 + static_cast<unsigned>(text[at + 1] - '0');
}

/// Whether `text` begins with `form`, in which "d" stands for a digit.
bool has_form(std::string_view text, std::string_view form) {
    return text.size() >= form.size() &&
           std::equal(form.begin(), form.end(), text.begin(), [](char wanted, char c) {
               return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
           });
}

bool is_date(std::string_view text) {
    const unsigned year = two_digits(text, 0) * 100 + two_digits(text, 2);
    return std::chrono::year_month_day(std::chrono::year(static_cast<int>(year)),
                                       std::chrono::month(two_digits(text, 5)),
                                       std::chrono::day(two_digits(text, 8)))
        .ok();
}

/// Whether Go reads it as a time (RFC 3339): "2024-01-01T00:00:00Z", with fractions or an offset.
/// Engines refuse a store, with all its images, for any other in one of them.
bool is_time(std::string_view text) {
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
    constexpr std::string_view offset = "+dd:dd";
    if (!has_form(text, form) || !is_date(text) || two_digits(text, 11) > 23 ||
        two_digits(text, 14) > 59 || two_digits(text, 17) > 59) {
        return false;
    }
    std::string rest(text.substr(form.size()));
    if (rest.starts_with('.')) {
        const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        if (end == 1 || end > 10) {
            return false;
        }
        rest.erase(0, end);
    }
    if (rest.starts_with('-')) {
        rest.front() = '+';
    }
    return rest == "Z" || (rest.size() == offset.size() && has_form(rest, offset) &&
                           two_digits(rest, 1) <= 23 && two_digits(rest, 4) <= 59);
}

/// What Go's types for images want of a field; null and no field are right for each.
enum class FieldKind { text, texts, text_map, object, objects, flag, time };

struct Field {
    /// where it is in the document
    std::string_view table;
    const char* name;
    FieldKind kind;
};

bool all_texts(const json& value) {
    return std::ranges::all_of(value,
                               [](const json& one) { return one.is_string() || one.is_null(); });
}

bool is_of_kind(const json& value, FieldKind kind) {
    switch (kind) {
        case FieldKind::text:
            return value.is_string();
        case FieldKind::texts:
            return value.is_array() && all_texts(value);
        case FieldKind::text_map:
            return value.is_object() && all_texts(value);
        case FieldKind::object:
            return value.is_object();
        case FieldKind::objects:
            return value.is_array() && std::ranges::all_of(value, [](const json& one) {
                       return one.is_object() || one.is_null();
                   });
        case FieldKind::flag:
            return value.is_boolean();
        case FieldKind::time:
            return value.is_string() && is_time(value.get_ref<const std::string&>());
    }
    return false;
}

/// Image and ImageConfig of image-spec's specs-go/v1/config.go.
constexpr std::array<Field, 27> fields{{
    {"", "created", FieldKind::time},
    {"", "author", FieldKind::text},
    {"", "architecture", FieldKind::text},
    {"", "variant", FieldKind::text},
    {"", "os", FieldKind::text},
    {"", "os.version", FieldKind::text},
    {"", "os.features", FieldKind::texts},
    {"", "config", FieldKind::object},
    {"", "rootfs", FieldKind::object},
    {"", "history", FieldKind::objects},
    {"config", "User", FieldKind::text},
    {"config", "ExposedPorts", FieldKind::object},
    {"config", "Env", FieldKind::texts},
    {"config", "Entrypoint", FieldKind::texts},
    {"config", "Cmd", FieldKind::texts},
    {"config", "Volumes", FieldKind::object},
    {"config", "WorkingDir", FieldKind::text},
    {"config", "Labels", FieldKind::text_map},
    {"config", "StopSignal", FieldKind::text},
    {"config", "ArgsEscaped", FieldKind::flag},
    {"rootfs", "type", FieldKind::text},
    {"rootfs", "diff_ids", FieldKind::texts},
    {"history", "created", FieldKind::time},
    {"history", "created_by", FieldKind::text},
    {"history", "author", FieldKind::text},
    {"history", "comment", FieldKind::text},
    {"history", "empty_layer", FieldKind::flag},
}};

std::string_view kind_name(FieldKind kind) {
    return nth_name(kind, {"a text", "a list of texts", "an object of texts", "an object",
                           "a list of objects", "true or false", "a time (RFC 3339)"});
}

void check_fields_in(const json& object, std::string_view table, const std::string& called) {
    for (const Field& field : fields) {
        const auto found =
            field.table == table && object.is_object() ? object.find(field.name) : object.end();
        if (found != object.end() && !found->is_null() && !is_of_kind(*found, field.kind)) {
            const std::string place =
                table.empty() ? field.name : fmt::format("{}.{}", table, field.name);
            throw bad_image(called,
                            fmt::format("engines could not read its configuration: \"{}\" is "
                                        "not {}",
                                        place, kind_name(field.kind)));
        }
    }
}

void check_fields(const json& root, const std::string& called) {
    check_fields_in(root, "", called);
    for (const char* table : {"config", "rootfs"}) {
        check_fields_in(root.value(table, json()), table, called);
    }
    for (const json& entry : root.value("history", json())) {
        check_fields_in(entry, "history", called);
    }
}

std::vector<std::string> diff_ids_of(const json& root, const std::string& called) {
    std::vector<std::string> result;
    const json rootfs = root.value("rootfs", json());
    if (!rootfs.is_object()) {
        return result;
    }
    for (const json& one : rootfs.value("diff_ids", json())) {
        const std::string id = one.is_string() ? one.get<std::string>() : std::string();
        if (!id.starts_with(algorithm) ||
            !is_sha256(std::string_view(id).substr(algorithm.size()))) {
            throw bad_image(called, "its configuration has a diff_id that is not a SHA-256");
        }
        result.push_back(id.substr(algorithm.size()));
    }
    return result;
}

}  // namespace

ImageDocument parse_manifest(std::string_view text, const std::string& called) {
    const json root = parse_object(text, called, "its manifest");
    ImageDocument document;
    if (const auto manifests = root.find("manifests"); manifests != root.end()) {
        if (!manifests->is_array() || manifests->empty() || root.contains("layers")) {
            throw bad_image(called, "its index lists no manifests");
        }
        if (manifests->size() > most_manifests) {
            throw bad_image(called, "its index has more than 1000 manifests");
        }
        for (const json& one : *manifests) {
            document.index.push_back(platform_of(one, called));
        }
        return document;
    }
    const auto config = root.find("config");
    const auto layers = root.find("layers");
    if (root.value("schemaVersion", json()) != 2 || config == root.end() || layers == root.end() ||
        !layers->is_array()) {
        throw bad_image(called, "what it refers to is neither a manifest nor an index of images");
    }
    if (layers->size() > most_layers) {
        throw bad_image(called, "it has more than 1000 layers");
    }
    document.config = config_of(*config, called);
    std::uint64_t size = 0;
    for (const json& layer : *layers) {
        document.layers.push_back(layer_of(layer, called));
        size += document.layers.back().size;
    }
    if (size > largest_image) {
        throw bad_image(called, "its layers have more than 64 GiB");
    }
    return document;
}

ImageConfig parse_image_config(std::string_view text, const ImageDocument& document,
                               const std::string& called) {
    if (text.size() != document.config.size) {
        throw bad_image(called,
                        fmt::format("its configuration has {} bytes, not {} as its manifest "
                                    "says",
                                    text.size(), document.config.size));
    }
    const json root = parse_object(text, called, "its configuration");
    check_fields(root, called);
    ImageConfig config{text_in(root, "os"), text_in(root, "architecture"), text_in(root, "created"),
                       diff_ids_of(root, called)};
    if (config.architecture.empty()) {
        throw bad_image(called,
                        "its configuration names no architecture: it is not a container image");
    }
    if (config.diff_ids.size() != document.layers.size()) {
        const char* s = config.diff_ids.size() == 1 ? "" : "s";
        throw bad_image(called, fmt::format("its configuration has {} layer{} (diff_id{}), its "
                                            "manifest {}",
                                            config.diff_ids.size(), s, s,
                                            counted(document.layers.size(), "layer")));
    }
    return config;
}

std::string image_label(std::string_view config, std::string_view label) {
    const json document = json::parse(config, nullptr, false);
    const json::json_pointer labels("/config/Labels");
    if (document.is_discarded() || !document.contains(labels) || !document.at(labels).is_object()) {
        return {};
    }
    const auto found = document.at(labels).find(label);
    return found != document.at(labels).end() && found->is_string() ? found->get<std::string>()
                                                                    : "";
}

std::string image_architecture(const std::string& rpm_architecture) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names{
        {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "386"}}};
    for (const auto& [rpm, go] : names) {
        if (rpm_architecture == rpm) {
            return std::string(go);
        }
    }
    return rpm_architecture;
}

}  // namespace edgegpu
