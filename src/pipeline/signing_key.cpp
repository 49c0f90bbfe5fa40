#include "pipeline/signing_key.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "blueprint/stored_source.hpp"
#include "commit/device_key.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_download.hpp"
#include "support/base64.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Also of a repository that is disabled: those help to explain what cannot be resolved.
bool is_remote(const Repository& repository) {
    return !is_local(repository) || !has_local_keys(repository);
}

/// Throws ErrorKind::usage if devices would not verify what `sign_ed25519` signs.
void require_ed25519_pair(const OstreeRequest& ostree, const Signer& signer) {
    if (ostree.ed25519_public_key.empty()) {
        return;
    }
    const std::vector<std::string> keys = read_ed25519_keys(read_file(ostree.ed25519_public_key));
    if (std::ranges::find(keys, signer.ed25519_key()) == keys.end()) {
        throw error_at(ostree.location,
                       "ed25519_public_key {} {}: devices would refuse every upgrade",
                       path_of_user(ostree.ed25519_public_key).string(),
                       keys.empty() ? "has no ed25519 key" : "does not have that of sign_ed25519")
            .hinted("put a line with it there: " + to_base64(signer.ed25519_key()));
    }
}

constexpr std::string_view ed25519_suffix = ".ed25519";

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
            require_ed25519_pair(blueprint_.ostree, signer_);
            if (!signer_.signs_with_gpg()) {
                return Passed();
            }
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
    std::map<std::string, std::string> keyrings;
    std::vector<std::string> ed25519;
    for (const auto& [path, content] : parent.device_keys) {
        if (path.ends_with(ed25519_suffix)) {
            std::ranges::move(read_ed25519_keys(content), std::back_inserter(ed25519));
        } else {
            keyrings[path] = content;
        }
    }
    const bool same =
        passed_ && keyrings.size() == 1 && keyrings.begin()->second == passed_->keyring;
    std::string fault;
    if (!keyrings.empty() && !same) {
        fault = passed_ && signer_.signs_with_gpg()
                    ? refusal_by_parent(ctx_, keyrings, passed_->trial)
                    : "nobody signs it";
    }
    if (fault.empty() && !ed25519.empty() &&
        std::ranges::find(ed25519, signer_.ed25519_key()) == ed25519.end()) {
        fault = signer_.ed25519_key().empty() ? "sign_ed25519 is not set"
                                              : "the key of sign_ed25519 is none of them";
    }
    if (!fault.empty()) {
        ctx_.console->warn(fmt::format(
            "devices with the parent commit {} will refuse this one: they verify it with the keys "
            "of that image, and {}. Sign with a key that it has: a new key can be used one image "
            "after it is in gpg_public_key or ed25519_public_key",
            parent.checksum, fault));
    }
}

}  // namespace edgegpu
