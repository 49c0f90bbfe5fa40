#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "signing/ed25519_command.hpp"
#include "signing/ed25519_signer.hpp"
#include "signing/gpg_signature.hpp"
#include "signing/module_signer.hpp"
#include "signing/request.hpp"

namespace edgegpu {

/// Largest size of commits and summaries, and of kernel modules, in bytes.
inline constexpr std::uint64_t commit_limit = 128U << 20U;
inline constexpr std::uint64_t module_limit_to_sign = 1U << 30U;

/// The keys of one build, and the checks before one is used. Lives in the signing process. Content
/// comes from a process that has read untrusted packages, and is therefore checked:
/// - a commit must be a commit object in normal form, bound to the blueprint's ref and to no other;
///   a build has one commit, and a second one is refused;
/// - a summary must be a summary in normal form, in which the blueprint's ref has the commit that
///   was signed; before the commit, one may be signed, that of a killed build, and
///   another one that says the same of the ref, which has deltas that are given signatures;
/// - a kernel module must be a relocatable ELF object without a signature;
/// - for a trial it takes a text of its own.
/// So a signature made here is never one of a package, of metadata or of a mail, whatever else the
/// key is used for. The content of the commit's tree and of the module is not checked.
class SigningKeys {
public:
    /// Reads the key of kernel modules and that of ed25519, if there are such. Throws the errors of
    /// ModuleSigner, Ed25519Signer and Ed25519Command.
    explicit SigningKeys(SigningRequest request);

    /// Signs `trial_text`, and nothing that the caller chooses. Throws Error "refused to sign …",
    /// or the errors of make_gpg_signature.
    [[nodiscard]] TrialSignature sign_trial() const;
    /// The signatures of a commit object, by all keys. Throws Error "refused to sign …", or the
    /// errors of make_gpg_signature.
    [[nodiscard]] Signatures sign_commit(std::string_view object);
    /// The same for the content of a repository's file `summary`.
    [[nodiscard]] Signatures sign_summary(std::string_view summary);
    /// What has to be appended to a kernel module. Throws Error "refused to sign …", or the errors
    /// of ModuleSigner.
    [[nodiscard]] std::string sign_module(std::string_view module) const;
    /// The certificate of `sign_module`; nothing if modules are not signed.
    [[nodiscard]] std::optional<ModuleCertificate> certificate() const;
    /// The public ed25519 key, 32 bytes; empty if there is none.
    [[nodiscard]] std::string ed25519_key() const;

private:
    [[nodiscard]] bool signs() const;
    [[nodiscard]] Signatures signatures(std::string_view content) const;

    SigningRequest request_;
    std::optional<ModuleSigner> modules_;
    std::optional<Ed25519Signer> ed25519_;
    std::optional<Ed25519Command> ed25519_command_;
    /// checksum of the commit that was signed, or empty
    std::string commit_;
    /// what summaries that were signed before the commit say of the ref
    std::vector<std::string> owed_summaries_;
};

}  // namespace edgegpu
