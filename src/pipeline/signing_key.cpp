#include "pipeline/signing_key.hpp"

#include <algorithm>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "signing/device_key.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

bool is_remote(const Repository& repository) {
    return repository.enabled &&
           (!repository.metalink.empty() || !repository.mirrorlist.empty() ||
            std::any_of(repository.baseurls.begin(), repository.baseurls.end(),
                        [](const std::string& url) { return !url.starts_with("file:"); }));
}

}  // namespace

bool KeyTrial::before_resolving() const {
    return !ctx_.offline &&
           std::any_of(blueprint_.repositories.begin(), blueprint_.repositories.end(), is_remote);
}

bool KeyTrial::before_fetching(const std::vector<ResolvedImage>& images) {
    return std::any_of(images.begin(), images.end(), [](const ResolvedImage& image) {
        return image.source.starts_with("docker://");
    });
}

void KeyTrial::begin() {
    if (signer_.signs_commits() && !made_) {
        running_ = std::async(std::launch::async, [this] {
            TrialSignature trial = signer_.sign_trial();
            DeviceKey(blueprint_, std::time(nullptr)).require(trial);
            return trial;
        });
    }
}

void KeyTrial::end() {
    if (running()) {
        made_ = running_.get();
    }
}

void KeyTrial::warn_of_parent(const Parent& parent) const {
    const std::filesystem::path& own = blueprint_.ostree.gpg_public_key;
    const bool same = !own.empty() && parent.device_keys.size() == 1 &&
                      parent.device_keys.begin()->second == read_file(own);
    if (parent.device_keys.empty() || (made_ && same)) {
        return;
    }
    const std::string fault =
        made_ ? refusal_by_parent(parent.device_keys, *made_) : "nobody signs it";
    if (!fault.empty()) {
        ctx_.console->warn(fmt::format(
            "devices with the parent commit {} will refuse this one: they verify it with the keys "
            "of that image, and {}. Sign with a key that it has: a new key can be used one image "
            "after it is in gpg_public_key",
            parent.checksum, fault));
    }
}

}  // namespace edgegpu
