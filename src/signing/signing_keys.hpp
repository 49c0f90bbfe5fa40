#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "signing/module_signer.hpp"
#include "signing/request.hpp"

namespace edgegpu {

/// The largest thing of each kind that is signed, bytes.
inline constexpr std::uint64_t commit_limit = 128U << 20U;
inline constexpr std::uint64_t module_limit_to_sign = 1U << 30U;

/// The keys of one build, and what is looked at before one of them is used. Lives in the signing
/// process; what it is given comes from a process that has read everything packages bring, and is
/// not believed:
/// - a commit is a commit object in its one form, bound to the blueprint's ref and to no other; a
///   build has one commit, and a second one is refused;
/// - a summary is a summary in its one form, and says of the blueprint's ref what was signed here;
///   before the commit, one summary may be signed: that which a killed build owes;
/// - a kernel module is a relocatable ELF object without a signature.
/// So a signature made here is never one of a package, of metadata or of a mail, whatever else the
/// key is used for. What is in the tree of the commit and in the code of the module is the build's
/// word.
class SigningKeys {
public:
    /// Reads the key of kernel modules, where there is one. Throws as ModuleSigner does.
    explicit SigningKeys(SigningRequest request);

    /// The detached GPG signature (binary) of a commit object, whose bytes these are. Throws Error:
    /// "refused to sign …", or what `make_gpg_signature` throws.
    [[nodiscard]] std::string sign_commit(std::string_view object);
    /// The same for the content of a repository's file `summary`.
    [[nodiscard]] std::string sign_summary(std::string_view summary);
    /// What is to be appended to a kernel module. Throws Error "refused to sign …", or what
    /// ModuleSigner throws.
    [[nodiscard]] std::string sign_module(std::string_view module) const;
    /// The certificate of `sign_module`; nothing where modules are not signed.
    [[nodiscard]] std::optional<ModuleCertificate> certificate() const;

private:
    [[nodiscard]] std::string gpg_signature(std::string_view content) const;

    SigningRequest request_;
    std::optional<ModuleSigner> modules_;
    /// the commit that was signed, or empty
    std::string commit_;
    bool owed_summary_signed_ = false;
};

}  // namespace edgegpu
