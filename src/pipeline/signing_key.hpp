#pragma once

#include <future>
#include <optional>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// The trial of a build's signing key: something is signed with it, and verified with
/// `gpg_public_key` as devices will. It takes a fifth of a second.
class KeyTrial {
public:
    /// All three must outlive it; `blueprint` from `take_snapshot`.
    KeyTrial(const Context& ctx, const Blueprint& blueprint, Signer& signer)
        : ctx_(ctx), blueprint_(blueprint), signer_(signer) {}

    /// Whether it has to end before packages are resolved, which downloads metadata.
    [[nodiscard]] bool before_resolving() const;
    /// Whether it has to end before these images are fetched, which some registry has.
    [[nodiscard]] static bool before_fetching(const std::vector<ResolvedImage>& images);
    /// Begins in a thread of its own, unless it was made already or commits are not signed. Until
    /// `end`, nobody may use the signer.
    void begin();
    [[nodiscard]] bool running() const { return running_.valid(); }
    /// Waits for the result. Throws the errors of Signer::sign_trial and DeviceKey.
    void end();
    /// After `end`: warns if devices that run the parent commit will refuse this one, since they
    /// verify it with the keys of the image that they run.
    void warn_of_parent(const Parent& parent) const;

private:
    const Context& ctx_;
    const Blueprint& blueprint_;
    Signer& signer_;
    std::future<TrialSignature> running_;
    std::optional<TrialSignature> made_;
};

}  // namespace edgegpu
