#include "installer/remote_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "support/ed25519.hpp"
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
    for (RemoteConfig& found : remotes_of(commit, injection)) {
        if (found.name == remote && !found.key_paths.empty()) {
            return std::move(found.key_paths);
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

/// The keyrings that ostree reads for a remote without gpgkeypath (ostree-repo.c,
/// _ostree_repo_gpg_prepare_verifier; ostree-gpg-verifier.c).
std::vector<std::string> common_keyrings(const CommitView& commit) {
    const std::string directory = "/usr/share/ostree/trusted.gpg.d";
    if (!commit.find(directory)) {
        return {};
    }
    std::vector<std::string> files = key_files(commit, directory);
    std::erase_if(files, [](const std::string& file) { return !file.ends_with(".gpg"); });
    return files;
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
    const std::size_t all = std::erase_if(keys, [&](const std::string& key) {
        return std::ranges::find(revoked, key) != revoked.end();
    });
    if (keys.empty() && all != 0) {
        throw RefusedCommit(
            error("commit {}: all ed25519 keys that the image has are revoked there "
                  "(revoked.ed25519)",
                  commit.info().name)
                .hinted("devices would take no commit: put a key that is not into "
                        "/etc/ostree/trusted.ed25519"));
    }
    return keys;
}

/// By its own name, and not by "true".
bool names_ed25519(const RemoteConfig& remote) {
    const auto names = [](const std::vector<std::string>& kinds) {
        return std::ranges::find(kinds, "ed25519") != kinds.end();
    };
    return names(remote.sign_verify) || names(remote.sign_verify_summary);
}

}  // namespace

std::vector<RemoteConfig> remotes_of(const CommitView& image, const Injection& injection) {
    std::vector<RemoteConfig> found;
    for (const auto& [path, text] : remote_files(image, injection)) {
        std::ranges::move(read_remotes(text), std::back_inserter(found));
    }
    return found;
}

std::vector<Certificate> keys_of_remote(const CommitView& commit, const Injection& injection,
                                        const std::string& remote) {
    std::vector<Certificate> keys;
    std::vector<std::string> files;
    const std::vector<std::string> paths = key_paths(commit, injection, remote);
    for (const std::string& path : paths) {
        std::ranges::move(key_files(commit, path), std::back_inserter(files));
    }
    if (paths.empty()) {
        files = common_keyrings(commit);
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

bool takes_ed25519(const std::vector<std::string>& kinds) {
    return std::ranges::any_of(
        kinds, [](const std::string& kind) { return kind == "true" || kind == "ed25519"; });
}

std::vector<std::string> ed25519_keys_of(const CommitView& commit, const Injection& injection,
                                         const RemoteConfig& remote) {
    if (!takes_ed25519(remote.sign_verify) && !takes_ed25519(remote.sign_verify_summary)) {
        return {};
    }
    if (remote.ed25519_file.empty() && remote.ed25519_key.empty()) {
        // ostree-repo-pull-verify.c: a kind that is named is required to have keys of the remote.
        if (names_ed25519(remote)) {
            throw RefusedCommit(
                error("commit {}: its remote {} wants ed25519 signatures and names no key: devices "
                      "refuse all",
                      commit.info().name, remote.name)
                    .hinted("set verification-ed25519-file or verification-ed25519-key there; "
                            "/etc/ostree/trusted.ed25519 counts with sign-verify=true alone"));
        }
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

}  // namespace edgegpu
