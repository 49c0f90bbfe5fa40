#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// What devices verify, asked before anything is written for them. `image` is always the one that
/// they run when they do. Where it names no keys, they have others, of which nothing is known.

/// Throws Error for a commit that has no signature, if devices that run it verify any.
void require_some_signature(const CommitView& commit);

/// Throws Error for a commit to which nobody has answered for: it gets a signature only if it has
/// one already, by a key with which devices that run `head` verify commits (without such keys, by
/// one of its own image), or by the key of `signer`. Nothing is asked where nobody verifies or
/// signs.
void require_signed_source(const Context& ctx, const CommitView& source,
                           const std::optional<CommitView>& head, Signer& signer);

/// Throws Error unless devices will take a commit that `signer` signs, if they verify any.
void require_commit_key(const Context& ctx, const CommitView& image, Signer& signer);

/// Throws Error unless devices will take a summary that `signer` signs, if they verify any.
void require_summary_key(const Context& ctx, const CommitView& image, Signer& signer);

/// Whether what `signer` signs is verified by a key that the image has, for each of its remotes
/// that verify commits and have keys.
[[nodiscard]] bool verifies_key(const Context& ctx, const CommitView& image, Signer& signer);

/// Throws ErrorKind::usage for a repository whose summary is signed if `signer` does not sign:
/// clients with gpg-verify-summary refuse a summary without a signature.
void require_signed_summary(const std::filesystem::path& target, const Signer& signer);

/// Throws Error for a commit that is bound to other refs: clients take it for no other ref than
/// those that it names.
void require_bound(const CommitView& commit, const std::string& ref);

/// Throws Error unless the repository has all of the commit, and its directories are what their
/// checksums say. So is what they name then, or devices refuse that when they get it.
void require_whole(const Context& ctx, const CommitView& commit);

/// Whether the commit has a signature, whoever made it.
[[nodiscard]] bool is_signed(const CommitView& commit);

/// The collection of a repository (core.collection-id), or empty.
[[nodiscard]] std::string collection_of(const RepositoryView& repository);

/// The commit that a ref has; nothing if there is no such ref. Throws Error if it cannot be read.
[[nodiscard]] std::optional<CommitView> head_of(const RepositoryView& repository,
                                                const std::string& ref);

/// The checksum of the commit that a ref of a repository has. Throws ErrorKind::usage if there is
/// no such ref.
[[nodiscard]] std::string commit_of_ref(const RepositoryView& repository, const std::string& ref);
/// The same among `refs`, those of the repository with the checksums of their commits.
[[nodiscard]] std::string commit_of_ref(const RepositoryView& repository,
                                        const std::map<std::string, std::string>& refs,
                                        const std::string& ref);

/// Whether the signatures in `metadata`, which may be null, of a commit object or a summary
/// (`content`) have none by one of the keys with which `signer` signs.
[[nodiscard]] bool lacks_signature(GVariant* metadata, std::string_view content, Signer& signer);

}  // namespace edgegpu
