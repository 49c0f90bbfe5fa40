#include "publish/verification.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "openpgp/detached_signature.hpp"
#include "openpgp/key_file.hpp"
#include "signing/signing_keys.hpp"
#include "support/error.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// What is signed, and the setting of a remote with which devices verify it.
struct Verified {
    std::string_view what;
    std::string_view setting;
};
constexpr Verified verified_commit{"the commit", "gpg-verify"};
constexpr Verified verified_summary{"the summary", "gpg-verify-summary"};

/// Whether devices that run `image` take what `signer` signs, as far as that is known.
bool takes_key(const Context& ctx, const CommitView& image, const RemoteConfig& remote,
               Signer& signer) {
    const std::vector<Certificate> keys = keys_of_remote(image, remote.name);
    if (keys.empty()) {
        return true;
    }
    const DetachedSignature trial =
        check_detached_signature(ctx, trial_text, signer.sign_trial().signature, keys);
    // ostree takes none of a key that has expired.
    return trial.verdict == SignatureVerdict::good &&
           (trial.key_expired == 0 || trial.key_expired > std::time(nullptr));
}

void require_key(const Context& ctx, const CommitView& image, const RemoteConfig& remote,
                 const Verified& verified, Signer& signer) {
    if (!signer.signs_commits()) {
        throw error(ErrorKind::usage,
                    "devices verify {} ({} of the remote {} of commit {}), and it would have no "
                    "signature",
                    verified.what, verified.setting, remote.name, image.info().checksum)
            .hinted("name the key with --sign");
    }
    if (!takes_key(ctx, image, remote, signer)) {
        throw error(
            "devices would refuse {}: none of the keys that commit {} has for its remote {} "
            "verifies what the key of --sign signs",
            verified.what, image.info().checksum, remote.name)
            .hinted("sign with a key of that image");
    }
}

/// The keys with which devices that run `image` verify commits.
std::vector<Certificate> commit_keys(const CommitView& image) {
    std::vector<Certificate> keys;
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies && !remote.key_paths.empty()) {
            std::ranges::move(keys_of_remote(image, remote.name), std::back_inserter(keys));
        }
    }
    return keys;
}

}  // namespace

void require_signed_source(const Context& ctx, const CommitView& source,
                           const std::optional<CommitView>& head, Signer& signer) {
    std::vector<Certificate> keys = head ? commit_keys(*head) : std::vector<Certificate>();
    if (keys.empty()) {
        keys = commit_keys(source);
    }
    if (signer.signs_commits()) {
        std::ranges::move(read_key_file(signer.sign_trial().public_key, "the key of --sign"),
                          std::back_inserter(keys));
    }
    if (keys.empty() || is_signed_by(ctx, source, keys)) {
        return;
    }
    const bool is_signed = !signatures_of(source.detached_metadata().get()).empty();
    throw error("commit {} is not signed{}", source.info().checksum,
                is_signed ? " by a key that devices have, nor by that of --sign" : "")
        .traced("what is promoted has to be signed already")
        .hinted(
            "look at what it has (edgegpu diff), and publish it again with its signature, or sign "
            "it: ostree gpg-sign");
}

void require_signed_commit(const Context& ctx, const CommitView& commit, const CommitView& image) {
    const bool is_signed = !signatures_of(commit.detached_metadata().get()).empty();
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies && (!remote.key_paths.empty() || !is_signed)) {
            check_commit_signature(ctx, commit, image, remote.name, {});
        }
    }
}

void require_some_signature(const CommitView& commit) {
    const VariantHandle detached = commit.detached_metadata();
    const bool verified = std::ranges::any_of(remotes_of(commit), &RemoteConfig::verifies);
    if (verified && !(detached && g_variant_n_children(detached.get()) != 0)) {
        throw error("commit {} is not signed", commit.info().name)
            .hinted("set sign in [ostree] of the blueprint, and build again");
    }
}

void require_commit_key(const Context& ctx, const CommitView& image, Signer& signer) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies) {
            require_key(ctx, image, remote, verified_commit, signer);
        }
    }
}

void require_summary_key(const Context& ctx, const CommitView& image, Signer& signer) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies_summary) {
            require_key(ctx, image, remote, verified_summary, signer);
        }
    }
}

bool verifies_key(const Context& ctx, const CommitView& image, Signer& signer) {
    return std::ranges::all_of(remotes_of(image), [&](const RemoteConfig& remote) {
        return !remote.verifies || takes_key(ctx, image, remote, signer);
    });
}

void require_signed_summary(const std::filesystem::path& target, const Signer& signer) {
    const std::filesystem::path signature = target / "summary.sig";
    struct stat status {};
    if (!signer.signs_commits() && ::lstat(signature.c_str(), &status) == 0) {
        throw error(ErrorKind::usage, "{}: its summary is signed, and would not be any more",
                    target.string())
            .hinted(fmt::format("name the key with --sign; for a repository whose summary nobody "
                                "verifies, remove the signature: rm {}",
                                shell_word(signature.string())));
    }
}

void require_bound(const CommitView& commit, const std::string& ref) {
    const std::vector<std::string>& bound = commit.info().bound_refs;
    if (!bound.empty() && std::ranges::find(bound, ref) == bound.end()) {
        throw error("commit {} was made for {}: devices that follow {} refuse it",
                    commit.info().checksum, fmt::join(bound, ", "), ref)
            .hinted("build it with that ref in [ostree], or promote it: edgegpu promote");
    }
}

std::string commit_of_ref(const RepositoryView& repository, const std::string& ref) {
    return commit_of_ref(repository, repository.refs(), ref);
}

std::string commit_of_ref(const RepositoryView& repository,
                          const std::map<std::string, std::string>& refs, const std::string& ref) {
    if (const auto found = refs.find(ref); found != refs.end()) {
        return found->second;
    }
    std::vector<std::string> names;
    names.reserve(refs.size());
    for (const auto& [name, checksum] : refs) {
        names.push_back(name);
    }
    throw error(ErrorKind::usage, "{}: there is no ref {}", repository.path(), ref)
        .hinted(names.empty() ? "the repository has no refs: build a blueprint into it"
                              : fmt::format("its refs are {}", fmt::join(names, ", ")));
}

bool lacks_signature(GVariant* metadata, Signer& signer) {
    if (!signer.signs_commits()) {
        return false;
    }
    const std::string issuer = issuer_of(signer.sign_trial().signature);
    return std::ranges::none_of(signatures_of(metadata), [&](const std::string& signature) {
        return issuer_of(signature) == issuer;
    });
}

}  // namespace edgegpu
