#include "pipeline/signing_key.hpp"

#include <algorithm>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "fetch/remote_commit.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_download.hpp"
#include "signing/device_key.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

/// Also of a repository that is disabled: those help to explain what cannot be resolved.
bool is_remote(const Repository& repository) {
    return !is_local(repository) || !has_local_keys(repository);
}

bool is_in_registry(const ContainerRequest& request) {
    return request.source.starts_with("docker://");
}

}  // namespace

bool KeyTrial::before_resolving() const {
    return !ctx_.offline && (std::ranges::any_of(blueprint_.repositories, is_remote) ||
                             std::ranges::any_of(blueprint_.containers, is_in_registry) ||
                             !blueprint_.microshift.embed_images.empty());
}

bool KeyTrial::before_fetching() const {
    return RemoteQuestion::is_needed(ctx_, blueprint_.ostree);
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
