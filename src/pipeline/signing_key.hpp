#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// The trial of a build's signing key: something is signed with it, and verified with
/// `gpg_public_key` as devices will. It takes a fifth of a second, and has to end before the
/// repository is opened, which may need the signer.
class KeyTrial {
public:
    /// All three must outlive it; `blueprint` from `take_snapshot`.
    KeyTrial(const Context& ctx, const Blueprint& blueprint, Signer& signer)
        : ctx_(ctx), blueprint_(blueprint), signer_(signer) {}

    /// Whether it has to end before packages and container images are resolved, since something is
    /// asked of a network for it: metadata, keys of repositories, or what a tag stands for. What is
    /// fetched later comes from the same places.
    [[nodiscard]] bool before_resolving() const;
    /// Begins in a thread of its own, unless commits are not signed. Until `end`, nobody may use
    /// the signer.
    void begin();
    [[nodiscard]] bool running() const { return running_.valid(); }
    /// Waits for the result, and shows its warnings. Throws the errors of Signer::sign_trial and
    /// DeviceKey.
    void end();
    /// After `end`: warns if devices that run the parent commit will refuse this one, since they
    /// verify it with the keys of the image that they run.
    void warn_of_parent(const Parent& parent) const;

private:
    struct Passed {
        TrialSignature trial;
        /// of DeviceKey
        std::string keyring;
        std::vector<std::string> warnings;
    };

    const Context& ctx_;
    const Blueprint& blueprint_;
    Signer& signer_;
    std::future<Passed> running_;
    std::optional<Passed> passed_;
};

}  // namespace edgegpu
