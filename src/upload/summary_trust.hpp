#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "openpgp/key_file.hpp"
#include "upload/published_state.hpp"
#include "upload/rclone.hpp"
#include "upload/remote_state.hpp"

namespace edgegpu {

/// What the signature of a summary, the content of `summary.sig`, is worth.
enum class SummaryTrust {
    /// there is none
    missing,
    /// a key that devices have has made it for this summary
    good,
    /// one of these keys has made it for another summary, such as an older one
    other_content,
    /// keys of which nothing is known have made it
    other_key,
    /// it cannot be read, or has expired
    damaged,
    /// devices have no keys that are known
    unknown
};

/// The keys with which devices verify summaries: those of the images of a repository's refs, and of
/// the versions before them, which they may still run.
class SummaryKeys {
public:
    /// Those of the last commits of each ref, and of the commits `others`. `ctx` must outlive it.
    SummaryKeys(const Context& ctx, const PublishedState& local,
                const std::vector<std::string>& others);

    /// What the signature of a summary is worth.
    [[nodiscard]] SummaryTrust judge(const std::string& summary,
                                     const std::string& signature) const;
    /// Whether the same GnuPG key has made both signatures.
    [[nodiscard]] static bool same_key(const std::string& signature, const std::string& other);
    /// A ref whose devices verify the summary, or empty.
    [[nodiscard]] const std::string& demanded_by() const noexcept { return demanded_by_; }

private:
    void add(const CommitView& image, bool runs);

    const Context& ctx_;
    std::vector<Certificate> gpg_;
    std::vector<std::string> ed25519_;
    std::string demanded_by_;
};

/// Asked before anything is sent. Throws Error for a ref with a commit whose signatures the devices
/// that run it would refuse.
void require_signed_heads(const Context& ctx, const PublishedState& local);

/// Asked before anything is sent. Throws Error for a repository whose summary devices would refuse:
/// its signature is missing, or is that of another summary; and, unless `overwrite`, for a remote
/// whose summary somebody else has signed, or would have no signature any more. Warns of a
/// remote whose summary devices refuse, which the upload mends.
void require_trusted_summary(const Context& ctx, const PublishedState& local,
                             const RcloneRemote& remote, const RemoteState& there, bool overwrite);

}  // namespace edgegpu
