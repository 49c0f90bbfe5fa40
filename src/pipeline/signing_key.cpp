#include "pipeline/signing_key.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "commit/device_key.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_download.hpp"

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

void KeyTrial::begin() {
    if (signer_.signs_commits()) {
        running_ = std::async(std::launch::async, [this] {
            const DeviceKey key(blueprint_, std::time(nullptr));
            const TrialSignature& trial = signer_.sign_trial();
            key.require(ctx_, trial);
            return Passed{trial, key.keyring(), key.warnings(trial)};
        });
    }
}

void KeyTrial::end() {
    if (running()) {
        passed_ = running_.get();
        for (const std::string& warning : passed_->warnings) {
            ctx_.console->warn(warning);
        }
    }
}

void KeyTrial::warn_of_parent(const Parent& parent) const {
    const bool same = passed_ && parent.device_keys.size() == 1 &&
                      parent.device_keys.begin()->second == passed_->keyring;
    if (parent.device_keys.empty() || same) {
        return;
    }
    const std::string fault =
        passed_ ? refusal_by_parent(ctx_, parent.device_keys, passed_->trial) : "nobody signs it";
    if (!fault.empty()) {
        ctx_.console->warn(fmt::format(
            "devices with the parent commit {} will refuse this one: they verify it with the keys "
            "of that image, and {}. Sign with a key that it has: a new key can be used one image "
            "after it is in gpg_public_key",
            parent.checksum, fault));
    }
}

}  // namespace edgegpu
