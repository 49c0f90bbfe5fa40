#include "bundles/checks/image_check.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "gpu/cuda.hpp"
#include "gpu/gpus.hpp"
#include "oci/reference.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

bool is_valid_name(std::string_view name) {
    const std::size_t at = name.find('@');
    // Only the digests that all engines have are looked at closely.
    if (at != std::string_view::npos && !name.substr(at).starts_with("@sha256:")) {
        return complete_image_name(name.substr(0, at)).has_value();
    }
    return complete_image_name(name).has_value();
}

/// Names of architectures in images, and RPM's.
constexpr auto architectures =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"x86_64", "x86_64"},
                                                                  {"amd64", "x86_64"},
                                                                  {"arm64", "aarch64"},
                                                                  {"aarch64", "aarch64"},
                                                                  {"arm64v8", "aarch64"},
                                                                  {"ppc64le", "ppc64le"},
                                                                  {"s390x", "s390x"},
                                                                  {"riscv64", "riscv64"}});

/// The architecture that a name ends with: RPM's name.
std::string_view ending_of(std::string_view text) {
    for (const auto& [word, name] : architectures) {
        if (text.ends_with(word) && text.size() > word.size()) {
            const char before = text[text.size() - word.size() - 1];
            if (before == '-' || before == '_' || before == '.') {
                return name;
            }
        }
    }
    return {};
}

/// The architecture of an image by the convention that its tag, or else its repository, ends with
/// it; empty if it names none or several, as compilers for another one do.
std::string_view architecture_of(std::string_view image) {
    const ImageNameParts name = parts_of_image_name(image);
    std::string_view found = ending_of(name.tag.value_or(""));
    if (found.empty()) {
        found = ending_of(name.repository);
    }
    for (const auto& [word, other] : architectures) {
        if (other != found && image.find(word) != std::string_view::npos) {
            return {};
        }
    }
    for (const std::string_view cross : {"cross", "qemu", "gcc", "toolchain"}) {
        if (image.find(cross) != std::string_view::npos) {
            return {};
        }
    }
    return found;
}

/// Whether a pod chooses nodes by their architecture: it is then one of several, for one each.
bool chooses_architecture(const json& node) {  // NOLINT(misc-no-recursion): at most 100 levels
    const auto is_key = [](std::string_view text) { return text.ends_with("kubernetes.io/arch"); };
    if (node.is_object()) {
        const auto& entries = node.get_ref<const json::object_t&>();
        return std::ranges::any_of(entries, [&](const auto& each) {
            return is_key(each.first) || chooses_architecture(each.second);
        });
    }
    return node.is_array() ? std::ranges::any_of(items_at(node, {}), chooses_architecture)
                           : is_key(text_of(node));
}

bool chooses_architecture_of_node(const PodTemplate& pod) {
    for (const char* key : {"nodeSelector", "affinity"}) {
        if (chooses_architecture(value_at(*pod.spec, {key}))) {
            return true;
        }
    }
    return false;
}

/// Istio replaces the image "auto" when it injects its proxy.
bool is_injected(const PodTemplate& pod, const PodImage& image) {
    if (image.name != "auto") {
        return false;
    }
    for (const char* list : {"annotations", "labels"}) {
        if (std::ranges::any_of(entries_at(*pod.metadata, {list}), [](const auto& each) {
                return each.first.find("istio.io/") != std::string::npos;
            })) {
            return true;
        }
    }
    return false;
}

/// Whether a container gets a GPU: CUDA in other containers needs no driver.
bool gets_gpu(const PodTemplate& pod, const json* container) {
    return text_in(*pod.spec, {"runtimeClassName"}).starts_with("nvidia") ||
           (container != nullptr &&
            std::ranges::any_of(
                entries_at(*container, {"resources", "limits"}),
                [](const auto& each) { return each.first.starts_with("nvidia.com/"); }));
}

/// Whether one of the devices' GPUs may run a newer CUDA by its forward compatibility packages.
bool may_be_forward_compatible(const std::vector<std::string>& devices) {
    static const GpuTable table = shipped_gpus();
    return std::ranges::any_of(devices, [](const std::string& device) {
        const Gpu* gpu = table.find(device);
        return gpu == nullptr || may_have_forward_compatibility(*gpu);
    });
}

class ImageCheck {
public:
    ImageCheck(const ImageFacts& facts, Findings& findings) : facts_(facts), findings_(findings) {}

    void check(const PodTemplate& pod) {
        for (const PodImage& image : images_of(pod)) {
            if (is_injected(pod, image)) {
                continue;
            }
            if (!is_valid_name(image.name)) {
                refuse_name(pod, image);
                continue;
            }
            check_version(pod, image);
            check_architecture(pod, image);
            if (pod.count > 0) {
                check_cuda(pod, image);
            }
        }
    }

private:
    void refuse_name(const PodTemplate& pod, const PodImage& image) {
        const bool upper =
            std::ranges::any_of(image.name, [](char c) { return c >= 'A' && c <= 'Z'; });
        findings_.add(
            pod.where, image.pointer, fmt::format("\"{}\" is not the name of an image", image.name),
            image.name.find("://") != std::string::npos
                ? "the name of an image has no \"https://\" or \"docker://\""
            : upper ? "as in quay.io/organization/app:1.4 or …/app@sha256:DIGEST; letters "
                      "before the tag are lower case"
                    : "as in quay.io/organization/app:1.4 or …/app@sha256:DIGEST");
    }

    void check_version(const PodTemplate& pod, const PodImage& image) {
        const ImageNameParts name = parts_of_image_name(image.name);
        if (name.digest || (name.tag && *name.tag != "latest")) {
            return;
        }
        findings_.add(
            pod.where, image.pointer,
            !name.tag
                ? fmt::format("image \"{}\" has neither tag nor digest, which means \"latest\": "
                              "what runs depends on when a device pulls it",
                              image.name)
                : fmt::format("image \"{}\": what \"latest\" is depends on when a device pulls it",
                              image.name),
            fmt::format(
                "give it a version or a digest: {0}:VERSION, {0}@sha256:DIGEST; in a bundle "
                "of somebody else, a kustomization of your own over it does that: images: "
                "[{{name: {0}, newTag: VERSION}}]",
                name.repository));
    }

    void check_architecture(const PodTemplate& pod, const PodImage& image) {
        const std::string_view architecture = architecture_of(image.name);
        if (architecture.empty() || facts_.architecture.empty() ||
            architecture == facts_.architecture || chooses_architecture_of_node(pod)) {
            return;
        }
        findings_.add(pod.where, image.pointer,
                      fmt::format("image \"{}\" is for {} by its name, and the devices are {}",
                                  image.name, architecture, facts_.architecture),
                      "take the image for all architectures if there is one, or the one for " +
                          facts_.architecture);
    }

    void check_cuda(const PodTemplate& pod, const PodImage& image) {
        const std::optional<CudaVersion> cuda = cuda_of_image(image.name);
        const unsigned branch = leading_number<unsigned>(facts_.driver);
        if (!cuda || branch == 0 || branch >= first_branch_for(*cuda) ||
            !gets_gpu(pod, image.container) || may_be_forward_compatible(facts_.devices)) {
            return;
        }
        findings_.add(
            pod.where, image.pointer,
            fmt::format("image \"{}\" has CUDA {}, which needs driver branch {} or newer, and the "
                        "image has {}",
                        image.name, cuda->text(), first_branch_for(*cuda), facts_.driver),
            fmt::format(
                "driver = \"{}\" or newer in [nvidia], or an image with an older CUDA; on GPUs for "
                "data centers, CUDA's forward compatibility packages in the image (cuda-compat) "
                "are enough: {}",
                first_branch_for(*cuda),
                facts_.devices.empty() ? "name the GPUs in [nvidia] devices"
                                       : "none of [nvidia] devices is one"));
    }

    const ImageFacts& facts_;
    Findings& findings_;
};

}  // namespace

void check_images(const std::vector<BundleObject>& objects, const ImageFacts& facts,
                  Findings& findings) {
    ImageCheck check(facts, findings);
    for (const PodTemplate& pod : pods_of(objects)) {
        if (is_workload(*pod.where.object)) {
            check.check(pod);
        }
    }
}

}  // namespace edgegpu
