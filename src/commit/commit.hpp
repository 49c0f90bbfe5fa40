#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// An open ostree repository with a lock on one ref, so that two builds cannot write the same ref.
class Repo {
public:
    /// Opens the repository, or creates it (mode archive); removes what killed builds of `ref`
    /// left. Throws Error if it cannot be written or is not in archive mode, or if another build
    /// has locked `ref` (the message has its pid); ErrorKind::usage if `ref` is malformed.
    Repo(const Context& ctx, const std::filesystem::path& path, const std::string& ref);
    Repo(Repo&&) noexcept;
    Repo& operator=(Repo&&) noexcept;
    ~Repo();

    struct Impl;
    [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

/// The parent commit of a build.
struct Parent {
    std::string checksum;
    /// `edgegpu.inputs-digest` and `version` of its metadata, or empty
    std::string inputs_digest;
    std::string version;
    ParentAccounts accounts;
    /// Version of its package microshift ("4.18.14"), or empty.
    std::string microshift;
    /// Its /etc/microshift/config.yaml and the YAML files of config.d: path → content. Empty
    /// without that package.
    std::map<std::string, std::string> microshift_config;
    /// Why these files cannot be read, or empty: objects are missing, or they are more than 1024
    /// files and directories, 4 MiB, or 32 directories in each other.
    std::string microshift_config_problem;
    /// The keys with which its devices verify what they pull (/etc/pki/edgegpu): path → content;
    /// empty if they cannot be read.
    std::map<std::string, std::string> device_keys;
};

/// The parent commit: the one that `[ostree] parent` names, else that of the ref; nothing if the
/// ref does not exist yet. If a killed build has not updated the summary, it is generated now and
/// signed by `signer`. Throws ErrorKind::usage if `[ostree] parent` does not exist, Error if the
/// commit cannot be read.
[[nodiscard]] std::optional<Parent> read_parent(const Repo& repo, const OstreeRequest& ostree,
                                                Signer& signer);

/// The files of a commit below the directories in which MicroShift looks for manifests
/// (/etc/microshift and /usr/lib/microshift, there "manifests" and "manifests.d"): path on a device
/// → content. Links are left out. Throws Error for what cannot be read, for more than 8192 files
/// and directories or 64 MiB, and for more than 32 directories in each other.
[[nodiscard]] std::map<std::string, std::string> read_manifests(const Repo& repo,
                                                                const std::string& checksum);

/// A finished commit.
struct Commit {
    std::string ref;
    std::string checksum;
    /// checksum of the parent, or empty
    std::string parent;
    std::string version;
    /// number of files and links; uncompressed bytes of the files
    std::uint64_t files = 0;
    std::uint64_t size = 0;
    /// objects that were added to the repository, and their bytes
    std::uint64_t new_objects = 0;
    std::uint64_t new_bytes = 0;
    bool is_signed = false;
};

/// Writes the objects (`.filez` from cached deflate streams, in parallel), then the commit with its
/// metadata, then the signature; finally sets the ref and updates the summary. `inputs_digest` is
/// part of the metadata; `signer` signs commit and summary if the blueprint names a key. If it is
/// killed at any time, the ref is the old or the new commit, and that is complete. Throws Error.
[[nodiscard]] Commit write_commit(const Context& ctx, const Blueprint& blueprint,
                                  const Resolution& resolution, const Tree& tree, const Repo& repo,
                                  const std::optional<Parent>& parent,
                                  const std::string& inputs_digest, Signer& signer);

}  // namespace edgegpu
