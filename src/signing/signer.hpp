#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "log/log.hpp"
#include "signing/channel.hpp"
#include "signing/gpg_signature.hpp"
#include "signing/request.hpp"

namespace edgegpu {

/// The build's side of the signing process, which holds the keys of a build. The process is forked
/// before the build enters its user namespace and reads anything from packages or repositories, and
/// stays in the caller's namespaces with the caller's id, so that GnuPG finds the caller's agent.
/// It accepts once what it may sign (`allow`), opens no files but those keys, has no descriptors
/// but its end of a socket, and cannot be traced or read by processes of the same user. It ends
/// with the build, however that ends. It exists even if nothing is signed.
///
/// Not thread-safe.
class Signer {
public:
    /// How long a signature may take: gpg-agent asks nobody for a passphrase, and a smart card
    /// waits for a touch for some seconds.
    static constexpr std::chrono::seconds patience{120};

    /// Forks; no other thread may run yet. Waiting for an answer ends with ErrorKind::interrupted
    /// when `cancelled` (may be null) is set, and with an Error after `limit`. Throws Error if the
    /// process cannot be created.
    explicit Signer(const std::atomic<bool>* cancelled = nullptr,
                    std::chrono::milliseconds limit = patience);
    Signer(const Signer&) = delete;
    Signer& operator=(const Signer&) = delete;
    /// Ends the process and waits for it.
    ~Signer();

    /// Sets what may be signed; to be called once. The keys of kernel modules and of ed25519 are
    /// read now; throws the errors of ModuleSigner, Ed25519Signer and Ed25519Command.
    void allow(const SigningRequest& request);
    /// Sets the log for requests.
    void log_to(const Log& log) { log_ = log; }
    /// Whether commits and summaries are signed, with a key of either kind. Throws Error before
    /// `allow`, as all below.
    [[nodiscard]] bool signs_commits() const;
    /// Whether they are with a GPG key.
    [[nodiscard]] bool signs_with_gpg() const;
    /// The public key (32 bytes) of their ed25519 signatures; empty without such.
    [[nodiscard]] const std::string& ed25519_key() const;
    /// The certificate of kernel modules' signatures; nothing if modules are not signed.
    [[nodiscard]] const std::optional<ModuleCertificate>& certificate() const;

    /// A signature of a text of the signing process, to see whether the key can be used; made once.
    /// Throws the errors of make_gpg_signature.
    [[nodiscard]] const TrialSignature& sign_trial();
    /// See SigningKeys: the detached signatures of a commit object, of a summary, and what has to
    /// be appended to a kernel module.
    [[nodiscard]] Signatures sign_commit(std::string_view object);
    [[nodiscard]] Signatures sign_summary(std::string_view summary);
    [[nodiscard]] std::string sign_module(std::string_view module);

    /// The id of the process, for tests.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    [[nodiscard]] const SigningRequest& request() const;
    /// The next message of the process. Throws Error if it does not come in time.
    std::optional<Message> answer();
    Message ask(std::uint32_t kind, const std::vector<std::string_view>& fields);
    Signatures ask_for_signatures(std::uint32_t kind, std::string_view content);

    pid_t pid_ = -1;
    Log log_;
    Channel channel_;
    std::chrono::milliseconds limit_;
    std::optional<SigningRequest> request_;
    std::optional<ModuleCertificate> certificate_;
    std::string ed25519_key_;
    std::optional<TrialSignature> trial_;
};

}  // namespace edgegpu
