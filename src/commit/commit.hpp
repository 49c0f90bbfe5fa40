#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// An ostree repository that this build holds: opened or created (mode archive), with a lock on
/// the ref so that two builds on one ref exclude each other, and leftovers of killed builds
/// removed.
class Repo {
public:
    /// Throws Error if the repository cannot be written, is not in archive mode, or another
    /// build holds `ref` (the message names its pid).
    Repo(const Context& ctx, const std::filesystem::path& path, const std::string& ref);
    Repo(Repo&&) noexcept;
    Repo& operator=(Repo&&) noexcept;
    ~Repo();

    struct Impl;
    [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

/// What the ref pointed to before this build.
struct Parent {
    std::string checksum;
    /// value of `edgegpu.inputs-digest` in its metadata, or empty
    std::string inputs_digest;
    std::string version;
    ParentAccounts accounts;
};

/// The parent commit of the build, or nothing where the ref does not exist yet. A summary that a
/// killed build owes is made, and signed by `signer`.
[[nodiscard]] std::optional<Parent> read_parent(const Repo& repo, const OstreeRequest& ostree,
                                                Signer& signer);

/// A finished commit.
struct Commit {
    std::string ref;
    std::string checksum;
    /// checksum of the parent, or empty
    std::string parent;
    std::string version;
    /// number of files and links, bytes uncompressed
    std::uint64_t files = 0;
    std::uint64_t size = 0;
    /// objects and bytes newly written to the repository
    std::uint64_t new_objects = 0;
    std::uint64_t new_bytes = 0;
    bool is_signed = false;
};

/// Writes every object (`.filez` from cached deflate streams, in parallel), then the commit with
/// its metadata, then the signature; the ref and the summary move last. `inputs_digest` goes into
/// the metadata; `signer` signs what its request says. Killed at any instant it leaves the old ref
/// or the new, both complete.
[[nodiscard]] Commit write_commit(const Context& ctx, const Blueprint& blueprint,
                                  const Resolution& resolution, const Tree& tree, const Repo& repo,
                                  const std::optional<Parent>& parent,
                                  const std::string& inputs_digest, Signer& signer);

}  // namespace edgegpu
