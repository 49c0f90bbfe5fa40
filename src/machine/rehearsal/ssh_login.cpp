#include "machine/rehearsal/ssh_login.hpp"

#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* authority_file = "/etc/ssh/edgegpu-test-authority.pub";

/// Whether sshd reads drop-ins before any setting of its own.
bool reads_drop_ins(const std::string& config) {
    for (const std::string_view line : lines_of(config)) {
        const std::vector<std::string_view> words = words_of(line, " \t\r\"=");
        if (words.size() >= 2 && begins_with_any_case(words[0], "include") &&
            words[1] == "/etc/ssh/sshd_config.d/*.conf") {
            return true;
        }
    }
    return false;
}

void make_key(const Context& ctx, const std::filesystem::path& file) {
    const ProcessResult result = run_process(ctx, {"ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                                                   "-C", "edgegpu test", "-f", file.string()});
    if (result.status != 0) {
        throw error("ssh-keygen cannot make a key: {}", result.output);
    }
}

}  // namespace

Injection trust_authority(const CommitFacts& facts, const std::string& ca) {
    if (!facts.sshd_config) {
        return {};
    }
    // The first value is the one that sshd takes.
    const std::string setting =
        fmt::format("TrustedUserCAKeys {}\nAuthorizedPrincipalsFile none\n", authority_file);
    Injection injection{{Injected::Type::file, authority_file, ca + '\n', 0644, 0, 0}};
    if (reads_drop_ins(*facts.sshd_config)) {
        injection.push_back({Injected::Type::file, "/etc/ssh/sshd_config.d/00-edgegpu-test.conf",
                             setting, 0600, 0, 0});
    } else {
        injection.push_back({Injected::Type::file, "/etc/ssh/sshd_config",
                             setting + *facts.sshd_config, 0600, 0, 0});
    }
    return injection;
}

TestCredential::TestCredential(const Context& ctx, std::filesystem::path place,
                               const std::vector<KeyedUser>& users)
    : place_(std::move(place)) {
    try {
        make_key(ctx, place_ / "authority");
        make_key(ctx, place_ / "key");
    } catch (Error& failure) {
        throw failure.hinted("install OpenSSH's client (openssh-client, openssh-clients)");
    }
    std::string names;
    for (const KeyedUser& user : users) {
        names += (names.empty() ? "" : ",") + user.name;
    }
    // A day each way: the machine's clock may be that of another time zone.
    const ProcessResult signed_key = run_process(
        ctx, {"ssh-keygen", "-q", "-s", (place_ / "authority").string(), "-I", "edgegpu-test", "-n",
              names.empty() ? "nobody" : names, "-V", "-1d:+1d", (place_ / "key.pub").string()});
    if (signed_key.status != 0) {
        throw error("ssh-keygen cannot sign the test's key: {}", signed_key.output);
    }
    authority_ = trim(read_file(place_ / "authority.pub"));
    // Nothing else is to be signed, even if this process is killed and the directory stays.
    std::filesystem::remove(place_ / "authority");
}

CheckResult TestCredential::log_in(const Context& ctx, const KeyedUser& user,
                                   std::uint16_t port) const {
    ProcessRequest request;
    // ssh takes blanks and percent signs in names of files for its own.
    request.cwd = place_;
    request.argv = {"ssh",
                    "-F",
                    "none",
                    "-p",
                    std::to_string(port),
                    "-i",
                    "key",
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "IdentitiesOnly=yes",
                    "-o",
                    "IdentityAgent=none",
                    "-o",
                    "PreferredAuthentications=publickey",
                    "-o",
                    "StrictHostKeyChecking=accept-new",
                    "-o",
                    "GlobalKnownHostsFile=none",
                    "-o",
                    "UserKnownHostsFile=known_hosts",
                    "-o",
                    "ConnectTimeout=60",
                    "-o",
                    "LogLevel=ERROR",
                    "-l",
                    user.name,
                    "127.0.0.1",
                    "id -un"};
    request.limits.time = std::chrono::seconds(120);
    const ProcessResult result = run_process(ctx, request);
    CheckResult check;
    for (const std::string_view line : lines_of(result.output)) {
        if (!line.empty()) {
            check.details.emplace_back(trim_end(line));
        }
    }
    const bool logged_in =
        result.status == 0 && !check.details.empty() && check.details.back() == user.name;
    check.verdict = logged_in ? Verdict::passed : Verdict::failed;
    check.text =
        logged_in ? user.name + " can log in over SSH"
        : result.ended == Ended::time
            ? user.name + " cannot log in over SSH: no answer within two minutes"
            : fmt::format("{} cannot log in over SSH (status {})", user.name, result.status);
    if (logged_in) {
        check.details.clear();
    }
    return check;
}

std::uint16_t free_port() {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // The interface of sockets takes any kind of address by this cast.
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    if (!socket || ::bind(socket.get(), place, size) != 0 ||
        ::getsockname(socket.get(), place, &size) != 0) {
        throw errno_error("a port of loopback", errno);
    }
    return ntohs(address.sin_port);
}

}  // namespace edgegpu
