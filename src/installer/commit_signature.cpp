#include "installer/commit_signature.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "openpgp/detached_signature.hpp"
#include "repository/remote_config.hpp"
#include "support/base64.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Throws for a kind of signatures that no version of ostree has: devices then refuse everything.
void require_known_kinds(const CommitView& image, const RemoteConfig& remote) {
    for (const std::vector<std::string>& kinds : {remote.sign_verify, remote.sign_verify_summary}) {
        for (const std::string& kind : kinds) {
            if (kind != "true" && kind != "ed25519" && kind != "spki") {
                throw RefusedCommit(
                    error("commit {}: its remote {} wants signatures of the kind \"{}\", which "
                          "ostree does not have: devices refuse all",
                          image.info().name, remote.name, printable_line(kind))
                        .hinted("sign-verify and sign-verify-summary take true, false, or kinds "
                                "with semicolons between them: ed25519;spki"));
            }
        }
    }
}

/// Throws RefusedCommit unless devices that run `image` take the ed25519 signatures of the commit,
/// as far as their keys are known. Nothing is known of other kinds.
void check_ed25519_signature(const CommitView& commit, const CommitView& image,
                             const Injection& injection, const RemoteConfig& remote) {
    require_known_kinds(image, remote);
    if (!takes_ed25519(remote.sign_verify)) {
        return;
    }
    const std::vector<std::string> keys = ed25519_keys_of(image, injection, remote);
    const VariantHandle detached = commit.detached_metadata();
    if (signatures_of(detached.get(), ed25519_signatures_key).empty()) {
        throw RefusedCommit(
            error("commit {} has no ed25519 signature, which devices verify (sign-verify of the "
                  "remote {})",
                  commit.info().name, remote.name)
                .hinted("set sign_ed25519 in [ostree] of the blueprint, and build again; or: "
                        "ostree sign"));
    }
    if (keys.empty() || is_signed_by_ed25519(commit, keys)) {
        return;
    }
    Error failure = error(
        "commit {}: none of the ed25519 keys that the image has for its remote {} has signed it",
        commit.info().name, remote.name);
    for (const std::string& key : keys) {
        failure.traced("the image has the key " + to_base64(key));
    }
    throw RefusedCommit(
        failure.hinted("sign it with the key whose public half is ostree.ed25519_public_key"));
}

/// A remote of the image, or injected.
std::optional<RemoteConfig> find_remote(const CommitView& image, const Injection& injection,
                                        const std::string& name) {
    for (RemoteConfig& found : remotes_of(image, injection)) {
        if (found.name == name) {
            return std::move(found);
        }
    }
    return std::nullopt;
}

/// ostree-repo-pull.c: a remote with a collection takes commits of that one alone.
void require_collection(const CommitView& commit, const RemoteConfig& remote) {
    const std::string& bound = commit.info().collection;
    if (!remote.collection.empty() && bound != remote.collection) {
        throw RefusedCommit(
            error("commit {} is {}, and the remote {} of devices takes those of collection {} "
                  "alone",
                  commit.info().name,
                  bound.empty() ? "of no collection" : "of collection " + printable_line(bound),
                  remote.name, printable_line(remote.collection))
                .hinted("edgegpu promote binds a commit to the collection of its repository "
                        "(core.collection-id); or remove collection-id of that remote"));
    }
}

void require_kept_remote(const CommitView& commit, const CommitView& image) {
    const std::vector<RemoteConfig> before = remotes_of(image);
    if (!keeps_a_remote(before, remotes_of(commit))) {
        throw RefusedCommit(
            error("commit {} has not the remote {} of commit {}: devices that upgrade from that "
                  "one by it would find no updates any more",
                  commit.info().name, before.front().name, image.info().checksum)
                .hinted(hint_to_keep(before.front())));
    }
}

void warn_of_keys(const Context& ctx, const RemoteConfig& remote) {
    ctx.console->warn_of(
        "remotes of which the image has no key: whether devices take the signatures is not known",
        remote.name);
}

std::string key_name(const DetachedSignature& signature) {
    const std::string key = signature.key.empty() ? "an unknown key" : "the key " + signature.key;
    return printable_line(signature.signer.empty() ? key : key + " (" + signature.signer + ")");
}

/// ostree takes none of a key that has expired since.
bool counts(const DetachedSignature& signature) {
    return signature.verdict == SignatureVerdict::good &&
           (signature.key_expired == 0 || signature.key_expired > std::time(nullptr));
}

/// The one that counts, or the best of all.
DetachedSignature best_signature(const Context& ctx, const CommitView& commit,
                                 const std::vector<std::string>& signatures,
                                 const std::vector<Certificate>& keys) {
    const VariantHandle variant =
        commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "commit");
    const std::string content(bytes_of(variant.get()));
    DetachedSignature best;
    for (const std::string& signature : signatures) {
        DetachedSignature one = check_detached_signature(ctx, content, signature, keys);
        if (counts(one)) {
            return one;
        }
        best = one.verdict < best.verdict ? std::move(one) : std::move(best);
    }
    return best;
}

}  // namespace

bool is_signed_by(const Context& ctx, const CommitView& commit,
                  const std::vector<Certificate>& keys) {
    const std::vector<std::string> signatures = signatures_of(commit.detached_metadata().get());
    return !keys.empty() && counts(best_signature(ctx, commit, signatures, keys));
}

bool is_signed_by_ed25519(const CommitView& commit, const std::vector<std::string>& keys) {
    const VariantHandle detached = commit.detached_metadata();
    const VariantHandle object =
        commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "commit");
    return std::ranges::any_of(signatures_of(detached.get(), ed25519_signatures_key),
                               [&](const std::string& signature) {
                                   return verifies_ed25519(keys, bytes_of(object.get()), signature);
                               });
}

void check_commit_signature(const Context& ctx, const CommitView& commit, const CommitView& image,
                            const std::string& remote, const Injection& injection) {
    if (const std::optional<RemoteConfig> config = find_remote(image, injection, remote);
        config && takes_ed25519(config->sign_verify)) {
        check_ed25519_signature(commit, image, injection, *config);
        if (!config->verifies_by_gpg) {
            return;
        }
    }
    const VariantHandle detached = commit.detached_metadata();
    const std::vector<std::string> signatures = signatures_of(detached.get());
    if (signatures.empty() && has_signatures(detached.get())) {
        throw RefusedCommit(
            error("commit {} has no signature by a GPG key, which devices verify as well "
                  "(gpg-verify of the remote {}, which is true where nothing is said)",
                  commit.info().name, remote)
                .hinted("sign it with a GPG key, too, or set gpg-verify=false for that remote"));
    }
    if (signatures.empty()) {
        throw RefusedCommit(error("commit {} is not signed", commit.info().name)
                                .hinted("set sign in [ostree] of the blueprint, and build again"));
    }
    const std::vector<Certificate> keys =
        remote.empty() ? std::vector<Certificate>() : keys_of_remote(image, injection, remote);
    if (keys.empty()) {
        throw RefusedCommit(
            error("commit {}: the image has no remote whose keys verify it", commit.info().name)
                .hinted(
                    "set ostree.url and ostree.gpg_public_key in the blueprint, name the remote "
                    "with --remote"));
    }
    const DetachedSignature best = best_signature(ctx, commit, signatures, keys);
    if (counts(best)) {
        return;
    }
    Error failure = error(
        "commit {}: none of the keys that the image has for its remote {} has "
        "signed it",
        commit.info().name, remote);
    for (const Certificate& certificate : keys) {
        failure.traced("the image has the key " + printable_line(certificate.text()));
    }
    failure.traced(best.verdict == SignatureVerdict::other_key
                       ? "the commit is signed with " + key_name(best)
                   : best.verdict == SignatureVerdict::good
                       ? fmt::format("its signature is by {}, which has expired", key_name(best))
                       : fmt::format("its signature with {} is not valid for it", key_name(best)));
    failure.hinted("sign it with the key whose public half is ostree.gpg_public_key");
    throw RefusedCommit(std::move(failure));
}

void require_acceptable(const Context& ctx, const CommitView& commit, const CommitView& image) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        require_collection(commit, remote);
        check_ed25519_signature(commit, image, {}, remote);
        if (takes_ed25519(remote.sign_verify) && ed25519_keys_of(image, {}, remote).empty()) {
            warn_of_keys(ctx, remote);
        }
        if (!remote.verifies_by_gpg) {
            continue;
        }
        if (keys_of_remote(image, {}, remote.name).empty() &&
            !signatures_of(commit.detached_metadata().get()).empty()) {
            warn_of_keys(ctx, remote);
        } else {
            check_commit_signature(ctx, commit, image, remote.name, {});
        }
    }
    require_kept_remote(commit, image);
}

}  // namespace edgegpu
