#include "signing/serve.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "signing/signing_keys.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t request_limit = module_limit_to_sign + 4096;
/// The socket's descriptor in the signing process: the first after the standard ones.
constexpr int own_socket = 3;

std::uint32_t number_of(const std::string& text) {
    std::uint32_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size()) {
        throw Error("not a number in a request");
    }
    return number;
}

/// Parses the fields of `allow`: ref, GPG key, GPG home, ed25519 key, command, public key; if
/// modules are signed, also key, certificate, and file, line and column of the blueprint.
SigningRequest request_of(const std::vector<std::string>& fields) {
    if (fields.size() != 6 && fields.size() != 11) {
        throw Error("a request of another form");
    }
    SigningRequest request{fields[0], fields[1], fields[2], {}, fields[3], fields[4], fields[5]};
    if (fields.size() == 11) {
        ModuleKey& modules = request.module_key.emplace();
        modules.key = fields[6];
        modules.certificate = fields[7];
        modules.location = {fields[8], number_of(fields[9]), number_of(fields[10])};
    }
    return request;
}

std::vector<std::string> answer(std::optional<SigningKeys>& keys, const Message& asked) {
    if (asked.kind == signing_message::allow) {
        keys.emplace(request_of(asked.fields));
        const ModuleCertificate certificate = keys->certificate().value_or(ModuleCertificate());
        return {certificate.name, certificate.der, keys->ed25519_key()};
    }
    if (asked.kind == signing_message::trial) {
        TrialSignature trial = keys->sign_trial();
        return {std::move(trial.signature), std::move(trial.fingerprint),
                std::move(trial.public_key)};
    }
    const std::string& content = asked.fields.at(0);
    if (asked.kind == signing_message::module) {
        return {keys->sign_module(content)};
    }
    Signatures made = asked.kind == signing_message::commit ? keys->sign_commit(content)
                                                            : keys->sign_summary(content);
    return {std::move(made.gpg), std::move(made.ed25519)};
}

void send_error(Channel& channel, const Error& problem) {
    const std::string kind = std::to_string(static_cast<int>(problem.kind()));
    std::vector<std::string_view> fields{kind, problem.message(), problem.hint()};
    const std::size_t most = std::min<std::size_t>(problem.traces().size(), 100);
    fields.insert(fields.end(), problem.traces().begin(),
                  problem.traces().begin() + static_cast<std::ptrdiff_t>(most));
    channel.send(signing_message::failed, fields);
}

extern "C" void stay(int /*signal*/) {}

/// Ignores signals that all processes of a build get (^C, a service manager): this process ends
/// with the build. By a handler, as GnuPG and its agent would inherit SIG_IGN.
void outlast_signals() noexcept {
    struct sigaction action {};
    action.sa_handler = stay;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        ::sigaction(signal, &action, nullptr);
    }
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, nullptr);
    sigset_t none{};
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Closes everything but the socket; standard descriptors become /dev/null.
bool keep_socket_only(int socket) noexcept {
    if (socket != own_socket && ::dup3(socket, own_socket, O_CLOEXEC) != own_socket) {
        return false;
    }
    if (::close_range(own_socket + 1, ~0U, 0) != 0) {
        return false;
    }
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (null < 0 || ::dup2(null, standard) != standard) {
            return false;
        }
    }
    ::close(null);
    return true;
}

/// Disables core dumps, and tracing and reading of memory by other processes of the user.
void hide_memory() noexcept {
    ::prctl(PR_SET_DUMPABLE, 0);
    const struct rlimit none {};
    ::setrlimit(RLIMIT_CORE, &none);
    // Not dumpable, GPGME cannot list its descriptors, and closes all possible ones instead.
    struct rlimit files {};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
        files.rlim_cur = 1024;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
}

}  // namespace

void serve_signatures(Channel& channel) {
    std::optional<SigningKeys> keys;
    while (const std::optional<Message> asked = channel.receive(request_limit)) {
        const bool first = asked->kind == signing_message::allow;
        const bool trial = asked->kind == signing_message::trial;
        const bool known = first || trial || asked->kind == signing_message::commit ||
                           asked->kind == signing_message::summary ||
                           asked->kind == signing_message::module;
        const std::size_t fields = trial ? 0 : 1;
        if (!known || first == keys.has_value() || (!first && asked->fields.size() != fields)) {
            throw Error("a request that no build sends");
        }
        try {
            const std::vector<std::string> fields = answer(keys, *asked);
            channel.send(signing_message::done, {fields.begin(), fields.end()});
        } catch (const Error& problem) {
            send_error(channel, problem);
        } catch (const std::exception& problem) {
            send_error(channel, error("the signing process: {}", problem.what()));
        }
        if (!keys) {
            return;  // `allow` failed, and is not accepted again
        }
    }
}

void become_signing_process(int socket, pid_t parent) noexcept {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(1);
    }
    outlast_signals();
    hide_memory();
    if (!keep_socket_only(socket)) {
        ::_exit(1);
    }
    try {
        Channel channel{Fd(own_socket)};
        serve_signatures(channel);
    } catch (...) {
        // Errors were sent already, or the build is gone or sent an invalid request.
        ::_exit(1);
    }
    ::_exit(0);
}

}  // namespace edgegpu
