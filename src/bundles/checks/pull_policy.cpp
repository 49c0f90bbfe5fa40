#include "bundles/checks/pull_policy.hpp"

#include <string>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "bundles/wanted_images.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Looks at pods for images that are embedded and always pulled.
class PullPolicies {
public:
    PullPolicies(const std::vector<ImagePattern>& embedded, Findings& findings)
        : embedded_(embedded), findings_(findings) {}

    void check(const PodTemplate& pod) {
        for (const PodContainer& container : containers_of(pod)) {
            check_one(pod.where, text_in(*container.content, {"image"}),
                      text_in(*container.content, {"imagePullPolicy"}),
                      container.pointer + "/imagePullPolicy");
        }
        const std::vector<json>& volumes = items_at(*pod.spec, {"volumes"});
        for (std::size_t i = 0; i < volumes.size(); ++i) {
            const json& volume = volumes[i];
            check_one(pod.where, text_in(volume, {"image", "reference"}),
                      text_in(volume, {"image", "pullPolicy"}),
                      fmt::format("{}/volumes/{}/image/pullPolicy", pod.pointer, i));
        }
    }

private:
    void check_one(const BundleObject& where, const std::string& image, const std::string& policy,
                   const std::string& pointer) {
        if (policy != "Always" || image.empty()) {
            return;
        }
        if (is_chosen(embedded_, wanted_name(image))) {
            findings_.add(where, pointer,
                          fmt::format("image {} is in the commit (embed_images), but {} \"Always\" "
                                      "asks its registry whenever the pod starts",
                                      image, pointer.substr(pointer.rfind('/') + 1)),
                          "use \"IfNotPresent\", or leave the image out of embed_images");
        }
    }

    const std::vector<ImagePattern>& embedded_;
    Findings& findings_;
};

}  // namespace

void check_pull_policies(const std::vector<BundleObject>& objects,
                         const std::vector<ImagePattern>& embedded, Findings& findings) {
    if (embedded.empty()) {
        return;
    }
    PullPolicies policies(embedded, findings);
    for (const PodTemplate& pod : pods_of(objects)) {
        policies.check(pod);
    }
}

}  // namespace edgegpu
