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
#include "support/base64.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t key_limit = 1U << 20U;
constexpr std::string_view remotes_directory = "/etc/ostree/remotes.d";

/// A file of the image's /etc or /usr, with what is injected.
std::optional<std::string> image_file(const CommitView& commit, const Injection& injection,
                                      const std::string& path) {
    for (auto it = injection.rbegin(); it != injection.rend(); ++it) {
        if (it->path == path && it->type == Injected::Type::file) {
            return it->content;
        }
    }
    return commit.read(path.starts_with("/etc/") ? "/usr" + path : path, key_limit);
}

/// The files that configure remotes.
std::map<std::string, std::string> remote_files(const CommitView& commit,
                                                const Injection& injection) {
    std::map<std::string, std::string> files;
    const auto add = [&](const std::string& path) {
        if (path.starts_with(remotes_directory) && path.ends_with(".conf")) {
            files[path] = image_file(commit, injection, path).value_or("");
        }
    };
    const std::string directory = "/usr" + std::string(remotes_directory);
    if (const std::optional<CommitNode> node = commit.find(directory); node && node->directory) {
        for (const auto& [name, entry] : commit.list(*node, directory)) {
            add(fmt::format("{}/{}", remotes_directory, name));
        }
    }
    for (const Injected& injected : injection) {
        add(injected.path);
    }
    return files;
}

/// The paths of a remote's keys.
std::vector<std::string> key_paths(const CommitView& commit, const Injection& injection,
                                   const std::string& remote) {
    for (const auto& [path, text] : remote_files(commit, injection)) {
        for (RemoteConfig& found : read_remotes(text)) {
            if (found.name == remote && !found.key_paths.empty()) {
                return std::move(found.key_paths);
            }
        }
    }
    return {};
}

/// A path of gpgkeypath, or the files in the directory that it is.
std::vector<std::string> key_files(const CommitView& commit, const std::string& path) {
    const std::string committed = (path.starts_with("/etc/") ? "/usr" : "") + path;
    const std::optional<CommitNode> node = commit.find(committed);
    if (!node || !node->directory) {
        return {path};
    }
    std::vector<std::string> files;
    for (const auto& [name, entry] : commit.list(*node, committed)) {
        if (!entry.directory) {
            files.push_back((path.ends_with('/') ? path : path + '/') + name);
        }
    }
    return files;
}

std::vector<Certificate> keys_of(const CommitView& commit, const Injection& injection,
                                 const std::string& remote) {
    std::vector<Certificate> keys;
    std::vector<std::string> files;
    for (const std::string& path : key_paths(commit, injection, remote)) {
        std::ranges::move(key_files(commit, path), std::back_inserter(files));
    }
    for (const std::string& path : files) {
        const std::optional<std::string> content = image_file(commit, injection, path);
        if (!content) {
            throw RefusedCommit(
                error("commit {}: the image has no file {}, the keys of its remote {}",
                      commit.info().name, printable_line(path), remote)
                    .hinted(
                        "devices could not verify what they pull: put the file there, or correct "
                        "gpgkeypath"));
        }
        std::vector<Certificate> more = read_key_file(
            *content, fmt::format("{} in commit {}", printable_line(path), commit.info().name));
        std::move(more.begin(), more.end(), std::back_inserter(keys));
    }
    return keys;
}

/// The ed25519 keys in a file of the image, or in the files of a directory; none if it has none.
std::vector<std::string> ed25519_keys_in(const CommitView& commit, const Injection& injection,
                                         const std::string& path) {
    std::vector<std::string> keys;
    for (const std::string& file : key_files(commit, path)) {
        std::ranges::move(
            read_ed25519_keys(image_file(commit, injection, file).value_or(std::string())),
            std::back_inserter(keys));
    }
    return keys;
}

/// Those of all remotes (ostree-sign-ed25519.c).
std::vector<std::string> common_ed25519_keys(const CommitView& commit, const Injection& injection) {
    std::vector<std::string> keys;
    std::vector<std::string> revoked;
    for (const std::string directory : {"/etc/ostree/", "/usr/share/ostree/"}) {
        for (const std::string suffix : {"", ".d"}) {
            std::ranges::move(
                ed25519_keys_in(commit, injection, directory + "trusted.ed25519" + suffix),
                std::back_inserter(keys));
            std::ranges::move(
                ed25519_keys_in(commit, injection, directory + "revoked.ed25519" + suffix),
                std::back_inserter(revoked));
        }
    }
    std::erase_if(keys, [&](const std::string& key) {
        return std::ranges::find(revoked, key) != revoked.end();
    });
    return keys;
}

std::vector<std::string> ed25519_keys(const CommitView& commit, const Injection& injection,
                                      const RemoteConfig& remote) {
    if (!takes_ed25519(remote.sign_verify) && !takes_ed25519(remote.sign_verify_summary)) {
        return {};
    }
    if (remote.ed25519_file.empty() && remote.ed25519_key.empty()) {
        return common_ed25519_keys(commit, injection);
    }
    std::vector<std::string> keys = read_ed25519_keys(remote.ed25519_key);
    if (!remote.ed25519_file.empty()) {
        std::vector<std::string> more = ed25519_keys_in(commit, injection, remote.ed25519_file);
        if (more.empty()) {
            throw RefusedCommit(
                error("commit {}: the image has no keys in {}, those of its remote {}",
                      commit.info().name, printable_line(remote.ed25519_file), remote.name)
                    .hinted(
                        "devices could not verify what they pull: put the file there, or correct "
                        "verification-ed25519-file"));
        }
        std::ranges::move(more, std::back_inserter(keys));
    }
    return keys;
}

void check_ed25519(const CommitView& commit, const CommitView& image, const Injection& injection,
                   const RemoteConfig& remote) {
    if (!takes_ed25519(remote.sign_verify)) {
        return;
    }
    const std::vector<std::string> keys = ed25519_keys(image, injection, remote);
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
    for (const auto& [path, text] : remote_files(image, injection)) {
        for (RemoteConfig& found : read_remotes(text)) {
            if (found.name == name) {
                return std::move(found);
            }
        }
    }
    return std::nullopt;
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

std::vector<std::string> ed25519_keys_of(const CommitView& image, const RemoteConfig& remote) {
    return ed25519_keys(image, {}, remote);
}

bool takes_ed25519(const std::vector<std::string>& kinds) {
    return std::ranges::any_of(
        kinds, [](const std::string& kind) { return kind == "true" || kind == "ed25519"; });
}

void check_ed25519_signature(const CommitView& commit, const CommitView& image,
                             const RemoteConfig& remote) {
    check_ed25519(commit, image, {}, remote);
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

std::vector<RemoteConfig> remotes_of(const CommitView& image) {
    std::vector<RemoteConfig> found;
    for (const auto& [path, text] : remote_files(image, {})) {
        std::ranges::move(read_remotes(text), std::back_inserter(found));
    }
    return found;
}

std::vector<Certificate> keys_of_remote(const CommitView& image, const std::string& remote) {
    return keys_of(image, {}, remote);
}

void check_commit_signature(const Context& ctx, const CommitView& commit, const CommitView& image,
                            const std::string& remote, const Injection& injection) {
    if (const std::optional<RemoteConfig> config = find_remote(image, injection, remote);
        config && takes_ed25519(config->sign_verify)) {
        check_ed25519(commit, image, injection, *config);
        if (!config->verifies_by_gpg) {
            return;
        }
    }
    const std::vector<std::string> signatures = signatures_of(commit.detached_metadata().get());
    if (signatures.empty()) {
        throw RefusedCommit(error("commit {} is not signed", commit.info().name)
                                .hinted("set sign in [ostree] of the blueprint, and build again"));
    }
    const std::vector<Certificate> keys =
        remote.empty() ? std::vector<Certificate>() : keys_of(image, injection, remote);
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

void require_signed_commit(const Context& ctx, const CommitView& commit, const CommitView& image) {
    for (const RemoteConfig& remote : remotes_of(image)) {
        check_ed25519_signature(commit, image, remote);
        if (remote.verifies_by_gpg &&
            (!remote.key_paths.empty() || !has_signatures(commit.detached_metadata().get()))) {
            check_commit_signature(ctx, commit, image, remote.name, {});
        }
    }
}

}  // namespace edgegpu
