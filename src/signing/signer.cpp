#include "signing/signer.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "signing/serve.hpp"
#include "support/error.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t answer_limit = 16U << 20U;
/// How long the process may take to end by itself, which it does at once unless GnuPG is running.
constexpr int end_patience_ms = 50;

std::string_view request_name(std::uint32_t kind) {
    switch (kind) {
        case signing_message::allow:
            return "allow";
        case signing_message::commit:
            return "commit";
        case signing_message::summary:
            return "summary";
        case signing_message::trial:
            return "trial";
        default:
            return "kernel module";
    }
}

/// Writes a request to the signing process to the log on destruction, with its result.
class SigningRecord {
public:
    SigningRecord(const Log& log, pid_t pid, std::uint32_t kind, std::size_t bytes)
        : log_(log), pid_(pid), kind_(kind), bytes_(bytes) {}
    SigningRecord(const SigningRecord&) = delete;
    SigningRecord& operator=(const SigningRecord&) = delete;
    ~SigningRecord() {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began_;
        log_.info("signing process", {{"request", request_name(kind_)},
                                      {"pid", pid_},
                                      {"bytes", bytes_},
                                      {"seconds", time.count()},
                                      {"result", result_}});
    }
    void ended(std::string_view result) { result_ = result; }

private:
    const Log& log_;
    pid_t pid_;
    std::uint32_t kind_;
    std::size_t bytes_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::string_view result_ = "no answer";
};

/// The Error in the fields of `failed`.
Error error_of(const std::vector<std::string>& fields) {
    int kind = 0;
    if (fields.size() < 3) {
        return Error("the signing process gave no reason");
    }
    std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), kind);
    Error problem(static_cast<ErrorKind>(kind), fields[1]);
    problem.hinted(fields[2]);
    for (std::size_t i = 3; i < fields.size(); ++i) {
        problem.traced(fields[i]);
    }
    return problem;
}

}  // namespace

Signer::Signer(const std::atomic<bool>* cancelled, std::chrono::milliseconds limit)
    : channel_(Fd(), cancelled), limit_(limit) {
    std::pair<Fd, Fd> sockets = make_sockets();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) {
        throw errno_error("fork", errno);
    }
    if (pid_ == 0) {
        become_signing_process(sockets.second.get(), parent);
    }
    ::setpgid(pid_, pid_);  // also called by the child: whichever runs first sets it
    channel_ = Channel(std::move(sockets.first), cancelled, limit);
}

Signer::~Signer() {
    channel_.close();
    // glibc 2.36 declares pidfd_open without C linkage.
    const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    pollfd ended{handle.get(), POLLIN, 0};
    int ready = -1;
    while (handle && (ready = ::poll(&ended, 1, end_patience_ms)) < 0 && errno == EINTR) {
    }
    if (ready != 1) {
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
    }
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Signer::allow(const SigningRequest& request) {
    const std::string home = request.gpg_homedir.string();
    const std::string ed25519 = request.ed25519_key.string();
    const std::string command = request.ed25519_command.string();
    const std::string public_key = request.ed25519_public_key.string();
    std::vector<std::string_view> fields{request.ref, request.gpg_key, home,
                                         ed25519,     command,         public_key};
    std::vector<std::string> modules;
    if (request.module_key) {
        const ModuleKey& boot = *request.module_key;
        modules = {boot.key.string(), boot.certificate.string(), boot.location.file,
                   std::to_string(boot.location.line), std::to_string(boot.location.column)};
        fields.insert(fields.end(), modules.begin(), modules.end());
    }
    Message answer = ask(signing_message::allow, fields);
    if (answer.fields.size() != 3) {
        throw Error("the signing process gave no answer");
    }
    if (request.module_key) {
        certificate_ = {std::move(answer.fields[0]), std::move(answer.fields[1])};
    }
    ed25519_key_ = std::move(answer.fields[2]);
    request_ = request;
}

const SigningRequest& Signer::request() const {
    if (!request_) {
        throw Error("the signing process has no configuration");
    }
    return *request_;
}

bool Signer::signs_commits() const {
    return signs_with_gpg() || !ed25519_key_.empty();
}

bool Signer::signs_with_gpg() const {
    return !request().gpg_key.empty();
}

const std::string& Signer::ed25519_key() const {
    static_cast<void>(request());
    return ed25519_key_;
}

const std::optional<ModuleCertificate>& Signer::certificate() const {
    static_cast<void>(request());
    return certificate_;
}

std::optional<Message> Signer::answer() {
    try {
        return channel_.receive(answer_limit);
    } catch (const SilentPeer&) {
        const std::string home = request_ ? request_->gpg_homedir.string() : "";
        throw error("no signature after {} seconds: gpg-agent does not answer",
                    std::chrono::duration_cast<std::chrono::seconds>(limit_).count())
            .hinted("end it, and build again: " +
                    (home.empty()
                         ? "gpgconf --kill gpg-agent"
                         : fmt::format("gpgconf --homedir {} --kill gpg-agent", shell_word(home))));
    }
}

Message Signer::ask(std::uint32_t kind, const std::vector<std::string_view>& fields) {
    SigningRecord record(log_, pid_, kind, fields.empty() ? 0 : fields.front().size());
    channel_.send(kind, fields);
    std::optional<Message> answer = this->answer();
    if (!answer) {
        throw Error("the signing process has ended unexpectedly")
            .hinted("if it was not killed, this is a bug in edgegpu");
    }
    if (answer->kind != signing_message::done) {
        record.ended("refused");
        throw error_of(answer->fields);
    }
    record.ended("done");
    return *std::move(answer);
}

Signatures Signer::ask_for_signatures(std::uint32_t kind, std::string_view content) {
    static_cast<void>(request());
    Message answer = ask(kind, {content});
    if (answer.fields.size() != 2 || answer.fields[0].empty() == signs_with_gpg() ||
        answer.fields[1].empty() != ed25519_key_.empty()) {
        throw Error("the signing process gave no signature");
    }
    return {std::move(answer.fields[0]), std::move(answer.fields[1])};
}

const TrialSignature& Signer::sign_trial() {
    static_cast<void>(request());
    if (trial_) {
        return *trial_;
    }
    Message answer = ask(signing_message::trial, {});
    if (answer.fields.size() != 3 || answer.fields[0].empty()) {
        throw Error("the signing process gave no signature");
    }
    return trial_.emplace(TrialSignature{std::move(answer.fields[0]), std::move(answer.fields[1]),
                                         std::move(answer.fields[2])});
}

Signatures Signer::sign_commit(std::string_view object) {
    return ask_for_signatures(signing_message::commit, object);
}

Signatures Signer::sign_summary(std::string_view summary) {
    return ask_for_signatures(signing_message::summary, summary);
}

std::string Signer::sign_module(std::string_view module) {
    static_cast<void>(request());
    Message answer = ask(signing_message::module, {module});
    if (answer.fields.size() != 1 || answer.fields[0].empty()) {
        throw Error("the signing process gave no signature");
    }
    return std::move(answer.fields[0]);
}

}  // namespace edgegpu
