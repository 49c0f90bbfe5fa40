#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "signing/channel.hpp"
#include "signing/request.hpp"
#include "support/log.hpp"

namespace edgegpu {

/// The process that holds the keys of a build, as the build sees it. It is forked before the build
/// enters its user namespace and reads anything that a package or a repository brings, and stays
/// where the caller is: in his namespaces and under his id, so that GnuPG finds his agent. It is
/// told once what it may sign (`allow`), opens no file but those keys, holds no descriptor but its
/// end of a socket, and cannot be traced or read by processes of the same user. It ends when the
/// build does, however that ends. A build that signs nothing has it, too: it sleeps.
///
/// The members that sign are for one thread.
class Signer {
public:
    /// Forks. No other thread may run yet. Waiting for an answer ends with ErrorKind::interrupted
    /// when `cancelled` is set (may be null). Throws Error where there can be no process.
    explicit Signer(const std::atomic<bool>* cancelled = nullptr);
    Signer(const Signer&) = delete;
    Signer& operator=(const Signer&) = delete;
    /// Ends the process and waits for it.
    ~Signer();

    /// Fixes what may be signed; once. The key of kernel modules is read now: throws what
    /// ModuleSigner throws.
    void allow(const SigningRequest& request);
    /// Where each request goes that the process is asked from now on.
    void log_to(const Log& log) { log_ = log; }
    /// Whether commits and summaries are signed. Throws Error before `allow`, as all below.
    [[nodiscard]] bool signs_commits() const;
    /// The certificate of kernel modules' signatures; nothing: they are not signed.
    [[nodiscard]] const std::optional<ModuleCertificate>& certificate() const;

    /// As SigningKeys: the detached signature of a commit object, of a summary, and what is
    /// appended to a kernel module.
    [[nodiscard]] std::string sign_commit(std::string_view object);
    [[nodiscard]] std::string sign_summary(std::string_view summary);
    [[nodiscard]] std::string sign_module(std::string_view module);

    /// The process, for tests.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    [[nodiscard]] const SigningRequest& request() const;
    Message ask(std::uint32_t kind, const std::vector<std::string_view>& fields);
    std::string ask_for_signature(std::uint32_t kind, std::string_view content);

    pid_t pid_ = -1;
    Log log_;
    Channel channel_;
    std::optional<SigningRequest> request_;
    std::optional<ModuleCertificate> certificate_;
};

}  // namespace edgegpu
