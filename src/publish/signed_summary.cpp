#include "publish/signed_summary.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "installer/commit_signature.hpp"
#include "openpgp/detached_signature.hpp"
#include "openpgp/key_file.hpp"
#include "repository/remote_config.hpp"
#include "signing/signing_keys.hpp"
#include "support/error.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// `image` is the one that devices run when they verify the summary.
void require_summary_key(const Context& ctx, const CommitView& image, const RemoteConfig& remote,
                         Signer& signer) {
    if (!signer.signs_commits()) {
        throw error(
            ErrorKind::usage,
            "devices verify the summary (gpg-verify-summary of the remote {} of commit {}), "
            "and it would have no signature",
            remote.name, image.info().checksum)
            .hinted("name the key with --sign");
    }
    const std::vector<Certificate> keys = keys_of_remote(image, remote.name);
    if (!keys.empty() &&
        check_detached_signature(ctx, trial_text, signer.sign_trial().signature, keys).verdict !=
            SignatureVerdict::good) {
        throw error(
            "devices would refuse the summary: none of the keys that commit {} has for its "
            "remote {} verifies what the key of --sign signs",
            image.info().checksum, remote.name)
            .hinted("sign with a key of that image");
    }
}

}  // namespace

void require_signed_summary(const std::filesystem::path& repository, const Signer& signer) {
    const std::filesystem::path signature = repository / "summary.sig";
    struct stat status {};
    if (!signer.signs_commits() && ::lstat(signature.c_str(), &status) == 0) {
        throw error(ErrorKind::usage, "{}: its summary is signed, and would not be any more",
                    repository.string())
            .hinted(fmt::format("name the key with --sign; for a repository whose summary nobody "
                                "verifies, remove the signature: rm {}",
                                shell_word(signature.string())));
    }
}

void require_verifiable_summary(const Context& ctx, const CommitView& image, Signer& signer) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies_summary) {
            require_summary_key(ctx, image, remote, signer);
        }
    }
}

}  // namespace edgegpu
