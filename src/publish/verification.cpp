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
#include "repository/tree_objects.hpp"
#include "signing/signing_keys.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/ranges.hpp"
#include "support/text/ref_path.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// What is signed, and the settings of a remote with which devices verify it.
struct Verified {
    std::string_view what;
    std::string_view gpg_setting;
    std::string_view sign_setting;
    bool by_gpg;
    const std::vector<std::string>& kinds;
};
Verified verified_commit(const RemoteConfig& remote) {
    return {"the commit", "gpg-verify", "sign-verify", remote.verifies_by_gpg, remote.sign_verify};
}
Verified verified_summary(const RemoteConfig& remote) {
    return {"the summary", "gpg-verify-summary", "sign-verify-summary", remote.verifies_summary,
            remote.sign_verify_summary};
}

/// Whether devices that run `image` take what the GPG key of `signer` signs, as far as that is
/// known.
bool takes_gpg_key(const Context& ctx, const CommitView& image, const RemoteConfig& remote,
                   Signer& signer) {
    const std::vector<Certificate> keys = keys_of_remote(image, {}, remote.name);
    if (keys.empty()) {
        return true;
    }
    if (!signer.signs_with_gpg()) {
        return false;
    }
    const DetachedSignature trial =
        check_detached_signature(ctx, trial_text, signer.sign_trial().signature, keys);
    // ostree takes none of a key that has expired.
    return trial.verdict == SignatureVerdict::good &&
           (trial.key_expired == 0 || trial.key_expired > std::time(nullptr));
}

/// The same of its ed25519 key.
bool takes_ed25519_key(const CommitView& image, const RemoteConfig& remote, const Signer& signer) {
    const std::vector<std::string> keys = ed25519_keys_of(image, {}, remote);
    return keys.empty() || std::ranges::find(keys, signer.ed25519_key()) != keys.end();
}

Error unsigned_for_devices(const CommitView& image, const RemoteConfig& remote,
                           const Verified& verified, std::string_view setting,
                           std::string_view option) {
    return error(ErrorKind::usage,
                 "devices verify {} ({} of the remote {} of commit {}), and it would have no "
                 "signature",
                 verified.what, setting, remote.name, image.info().checksum)
        .hinted(fmt::format("name the key with {}", option));
}

Error refused_by_devices(const CommitView& image, const RemoteConfig& remote,
                         const Verified& verified, std::string_view option) {
    return error(
               "devices would refuse {}: none of the keys that commit {} has for its remote {} "
               "verifies what the key of {} signs",
               verified.what, image.info().checksum, remote.name, option)
        .hinted("sign with a key of that image");
}

void require_key(const Context& ctx, const CommitView& image, const RemoteConfig& remote,
                 const Verified& verified, Signer& signer) {
    if (verified.by_gpg) {
        if (!signer.signs_with_gpg()) {
            throw unsigned_for_devices(image, remote, verified, verified.gpg_setting, "--sign");
        }
        if (!takes_gpg_key(ctx, image, remote, signer)) {
            throw refused_by_devices(image, remote, verified, "--sign");
        }
    }
    if (verified.kinds.empty()) {
        return;
    }
    if (!takes_ed25519(verified.kinds)) {
        throw error(
            "devices verify {} by signatures of another kind ({}={} of the remote {} of commit "
            "{}), and would refuse it",
            verified.what, verified.sign_setting, fmt::join(verified.kinds, ";"), remote.name,
            image.info().checksum)
            .hinted(
                "edgegpu signs with GPG and ed25519 keys: build for that ref, sign with ostree "
                "sign, and publish it");
    }
    if (signer.ed25519_key().empty()) {
        throw unsigned_for_devices(image, remote, verified, verified.sign_setting,
                                   "--sign-ed25519");
    }
    if (!takes_ed25519_key(image, remote, signer)) {
        throw refused_by_devices(image, remote, verified, "--sign-ed25519");
    }
}

/// The keys with which devices that run `image` verify commits.
std::vector<Certificate> commit_keys(const CommitView& image) {
    std::vector<Certificate> keys;
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies_by_gpg) {
            std::ranges::move(keys_of_remote(image, {}, remote.name), std::back_inserter(keys));
        }
    }
    return keys;
}

/// The same of ed25519.
std::vector<std::string> ed25519_commit_keys(const CommitView& image) {
    std::vector<std::string> keys;
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (!remote.sign_verify.empty()) {
            std::ranges::move(ed25519_keys_of(image, {}, remote), std::back_inserter(keys));
        }
    }
    return keys;
}

}  // namespace

void require_signed_source(const Context& ctx, const CommitView& source,
                           const std::optional<CommitView>& head, Signer& signer) {
    std::vector<Certificate> keys = head ? commit_keys(*head) : std::vector<Certificate>();
    std::vector<std::string> others =
        head ? ed25519_commit_keys(*head) : std::vector<std::string>();
    if (keys.empty() && others.empty()) {
        keys = commit_keys(source);
        others = ed25519_commit_keys(source);
    }
    if (signer.signs_with_gpg()) {
        std::ranges::move(read_key_file(signer.sign_trial().public_key, "the key of --sign"),
                          std::back_inserter(keys));
    }
    if (!signer.ed25519_key().empty()) {
        others.push_back(signer.ed25519_key());
    }
    if ((keys.empty() && others.empty()) || is_signed_by(ctx, source, keys) ||
        is_signed_by_ed25519(source, others)) {
        return;
    }
    throw error("commit {} is not signed{}", source.info().checksum,
                is_signed(source) ? " by a key that devices have, nor by that of --sign" : "")
        .traced("what is promoted has to be signed already")
        .hinted(
            "look at what it has (edgegpu diff), and publish it again with its signature, or sign "
            "it: ostree gpg-sign");
}

void require_some_signature(const CommitView& commit) {
    const bool verified = std::ranges::any_of(remotes_of(commit), &RemoteConfig::verifies);
    if (verified && !has_signatures(commit.detached_metadata().get())) {
        throw error("commit {} is not signed", commit.info().name)
            .hinted("set sign in [ostree] of the blueprint, and build again");
    }
}

void require_commit_key(const Context& ctx, const CommitView& image, Signer& signer) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        require_key(ctx, image, remote, verified_commit(remote), signer);
    }
}

void require_summary_key(const Context& ctx, const CommitView& image, Signer& signer) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        require_key(ctx, image, remote, verified_summary(remote), signer);
    }
}

bool verifies_key(const Context& ctx, const CommitView& image, Signer& signer) {
    return std::ranges::all_of(remotes_of(image), [&](const RemoteConfig& remote) {
        return (!remote.verifies_by_gpg || takes_gpg_key(ctx, image, remote, signer)) &&
               (remote.sign_verify.empty() || takes_ed25519_key(image, remote, signer));
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

void require_whole(const Context& ctx, const CommitView& commit) {
    const auto require = [&](OstreeObjectType type, const std::string& checksum,
                             const std::string& path) {
        const VariantHandle object = commit.load(type, checksum, path);
        if (sha256_hex(bytes_of(object.get())) != checksum) {
            throw commit.malformed(path, "it does not have its checksum");
        }
    };
    require(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "");
    const TreeObjects objects = list_objects(ctx, commit);
    for (const TreeObject& object : objects.directories) {
        require(object.type, object.checksum, object.path);
    }
    for (const TreeObject& object : objects.files) {
        ctx.check_cancelled();
        if (commit.stored_size(object.checksum, object.path) == 0) {
            throw commit.malformed(object.path, "it is empty");
        }
    }
}

bool is_signed(const CommitView& commit) {
    return has_signatures(commit.detached_metadata().get());
}

std::string collection_of(const RepositoryView& repository) {
    return text_of(ostree_repo_get_collection_id(repository.handle()));
}

std::optional<CommitView> head_of(const RepositoryView& repository, const std::string& ref) {
    const std::map<std::string, std::string> refs = repository.refs();
    const auto found = refs.find(ref);
    return found == refs.end() ? std::nullopt
                               : std::optional(repository.commit_at(found->second, ref));
}

std::string commit_of_ref(const RepositoryView& repository, const std::string& ref) {
    return commit_of_ref(repository, repository.refs(), ref);
}

std::string commit_of_ref(const RepositoryView& repository,
                          const std::map<std::string, std::string>& refs, const std::string& ref) {
    if (const auto found = refs.find(ref); found != refs.end()) {
        return found->second;
    }
    const std::vector<std::string> names = keys_of(refs);
    const std::string named_by_path = hint_for_ref_path(ref);
    throw error(ErrorKind::usage, "{}: there is no ref {}", repository.path(), ref)
        .hinted(!named_by_path.empty() ? named_by_path
                : names.empty()        ? "the repository has no refs: build a blueprint into it"
                                       : fmt::format("its refs are {}", fmt::join(names, ", ")));
}

bool lacks_signature(GVariant* metadata, std::string_view content, Signer& signer) {
    if (signer.signs_with_gpg()) {
        const std::string issuer = issuer_of(signer.sign_trial().signature);
        if (std::ranges::none_of(signatures_of(metadata), [&](const std::string& signature) {
                return issuer_of(signature) == issuer;
            })) {
            return true;
        }
    }
    const std::vector<std::string> made = signatures_of(metadata, ed25519_signatures_key);
    return !signer.ed25519_key().empty() &&
           std::ranges::none_of(made, [&](const std::string& signature) {
               return verifies_ed25519({signer.ed25519_key()}, content, signature);
           });
}

}  // namespace edgegpu
