#include "oci/manifest.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// More would be no image: overlayfs mounts 500 layers at most.
constexpr std::size_t most_layers = 1000;
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
    return blob;
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

}  // namespace

ImageDocument parse_manifest(std::string_view text, const std::string& called) {
    const json root = parse_object(text, called, "its manifest");
    ImageDocument document;
    if (const auto manifests = root.find("manifests"); manifests != root.end()) {
        if (!manifests->is_array() || manifests->empty() || root.contains("layers")) {
            throw bad_image(called, "its index lists no manifests");
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
    document.config = blob_of(*config, called);
    for (const json& layer : *layers) {
        document.layers.push_back(blob_of(layer, called));
    }
    return document;
}

ImageConfig parse_image_config(std::string_view text, const std::string& called) {
    const json root = parse_object(text, called, "its configuration");
    ImageConfig config{text_in(root, "os"), text_in(root, "architecture"),
                       text_in(root, "created")};
    if (config.architecture.empty()) {
        throw bad_image(called,
                        "its configuration names no architecture: it is no container image");
    }
    if (!is_time(config.created)) {
        config.created.clear();
    }
    return config;
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
