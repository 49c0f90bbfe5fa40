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
            throw error("commit {}: the image has no file {}, the keys of its remote {}",
                        commit.info().name, printable_line(path), remote)
                .hinted(
                    "devices could not verify what they pull: put the file there, or correct "
                    "gpgkeypath");
        }
        std::vector<Certificate> more = read_key_file(
            *content, fmt::format("{} in commit {}", printable_line(path), commit.info().name));
        std::move(more.begin(), more.end(), std::back_inserter(keys));
    }
    return keys;
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
    const std::vector<std::string> signatures = signatures_of(commit.detached_metadata().get());
    if (signatures.empty()) {
        throw error("commit {} is not signed", commit.info().name)
            .hinted("set sign in [ostree] of the blueprint, and build again");
    }
    const std::vector<Certificate> keys =
        remote.empty() ? std::vector<Certificate>() : keys_of(image, injection, remote);
    if (keys.empty()) {
        throw error("commit {}: the image has no remote whose keys verify it", commit.info().name)
            .hinted(
                "set ostree.url and ostree.gpg_public_key in the blueprint, name the remote "
                "with --remote");
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
    throw failure;
}

}  // namespace edgegpu
