#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/commit_fixture.hpp"
#include "../support/rpm_fixture.hpp"
#include "commit/repository.hpp"
#include "commit/signing_request.hpp"
#include "kmods/module_file.hpp"
#include "kmods_fixture.hpp"
#include "openpgp/detached_signature.hpp"
#include "signing/channel.hpp"
#include "signing/gpg_signature.hpp"
#include "signing/serve.hpp"
#include "signing/signer.hpp"
#include "signing/signing_keys.hpp"
#include "support/base64.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;
using testing::HasSubstr;
using testing::StartsWith;

std::string failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

/// A repository whose commits a key of its own signs.
class Signing : public testing::Test {
protected:
    Signing() {
        fixture_.blueprint.ostree.sign = key_.address();
        fixture_.blueprint.ostree.gpg_homedir = key_.home();
    }
    [[nodiscard]] std::string object(const std::string& checksum, const char* kind) const {
        return read_file(fixture_.repo() / "objects" / checksum.substr(0, 2) /
                         (checksum.substr(2) + "." + kind));
    }
    [[nodiscard]] std::string summary() const { return read_file(fixture_.repo() / "summary"); }
    [[nodiscard]] SigningKeys keys() const {
        return SigningKeys(signing_request(fixture_.blueprint.ostree, fixture_.blueprint.nvidia));
    }

    test::SigningKey key_;
    CommitFixture fixture_;
};

/// The agent's socket of a GPG home.
fs::path agent_socket(const fs::path& home) {
    std::string path =
        output_of("gpgconf --homedir " + home.string() + " --list-dirs agent-socket");
    path.resize(path.find_last_not_of('\n') + 1);
    return path;
}

TEST_F(Signing, AnAgentOfAnotherHomeIsReplaced) {
    // The agent that is found for the key's home is that of another one (libassuan's redirection of
    // sockets), as with a home that was made anew while its agent lived on.
    const test::SigningKey other("other@example.com");
    output_of("gpgconf --homedir " + key_.home().string() + " --kill gpg-agent");
    output_of("gpgconf --homedir " + other.home().string() + " --launch gpg-agent");
    write_file(agent_socket(key_.home()),
               "%Assuan%\nsocket=" + agent_socket(other.home()).string() + "\n");
    EXPECT_NE(make_gpg_signature(key_.address(), key_.home(), "content"), "");
    // What no agent can find stays an error.
    fs::remove_all(key_.home() / "private-keys-v1.d");
    EXPECT_THAT(failure_of([&] {
                    static_cast<void>(make_gpg_signature(key_.address(), key_.home(), "content"));
                }),
                testing::EndsWith(": no such secret key"));
}

TEST_F(Signing, AMuteAgentIsNotWaitedForForEver) {
    static_cast<void>(output_of("gpgconf --homedir " + key_.home().string() + " --kill gpg-agent"));
    // As an agent that hangs: it is there, and says nothing.
    const fs::path place = agent_socket(key_.home());
    fs::remove(place);
    const Fd mute(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(place.string().size(), sizeof address.sun_path);
    place.string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(mute.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(mute.get(), 8), 0);

    Signer signer(nullptr, std::chrono::seconds(1));
    signer.allow(signing_request(fixture_.blueprint.ostree, fixture_.blueprint.nvidia));
    try {
        static_cast<void>(signer.sign_trial());
        FAIL() << "it was signed";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "no signature after 1 seconds: gpg-agent does not answer");
        EXPECT_THAT(problem.hint(), HasSubstr("--kill gpg-agent"));
    }
    fs::remove(place);
}

TEST_F(Signing, OneSignatureOfOneKey) {
    const Commit commit = fixture_.build();
    EXPECT_TRUE(commit.is_signed);
    const std::string before = object(commit.checksum, "commitmeta");
    // The same commit once more, as after a kill between commit and ref.
    fs::remove(fixture_.repo() / "refs/heads" / commit.ref);
    EXPECT_EQ(fixture_.build().checksum, commit.checksum);
    // The numbers of a signature are a byte shorter now and then; a second one has many more.
    constexpr std::size_t shorter = 8;
    EXPECT_LT(object(commit.checksum, "commitmeta").size(), before.size() + shorter)
        << "a new one instead";
    // Another key's signature stands beside it.
    const test::SigningKey other("other@example.com");
    fs::remove(fixture_.repo() / "refs/heads" / commit.ref);
    fixture_.blueprint.ostree.sign = other.address();
    fixture_.blueprint.ostree.gpg_homedir = other.home();
    EXPECT_EQ(fixture_.build().checksum, commit.checksum);
    EXPECT_GT(object(commit.checksum, "commitmeta").size(), before.size() + shorter);
    for (const test::SigningKey* key : std::vector<const test::SigningKey*>{&key_, &other}) {
        const std::string client = (fixture_.directory() / key->address()).string();
        int status = -1;
        const std::string output = output_of(
            "ostree --repo=" + client + " init --mode=bare-user && ostree --repo=" + client +
                " remote add --set=gpg-verify=true --gpg-import=" + key->public_key().string() +
                " edge file://" + fixture_.repo().string() + " && ostree --repo=" + client +
                " pull edge " + commit.ref,
            &status);
        EXPECT_EQ(status, 0) << output;
    }
}

TEST_F(Signing, ATrialIsOfATextThatNobodyChooses) {
    SigningKeys signing = keys();
    const TrialSignature trial = signing.sign_trial();
    EXPECT_EQ(trial.fingerprint.size(), 40U);
    const std::vector<Certificate> certificates =
        read_key_file(read_file(key_.public_key()), "the key");
    EXPECT_EQ(certificates.front().keys.front().fingerprint, trial.fingerprint);
    EXPECT_EQ(
        check_detached_signature(Context{}, trial_text, trial.signature, certificates).verdict,
        SignatureVerdict::good);
    // It is no commit's, and uses up nothing.
    EXPECT_THAT(failure_of([&] { (void)signing.sign_commit(trial_text); }),
                HasSubstr("something that is not a commit"));
    fixture_.blueprint.ostree.sign.clear();
    EXPECT_THAT(failure_of([&] { (void)keys().sign_trial(); }),
                HasSubstr("refused to sign a trial: the blueprint names no GPG key"));
    fixture_.blueprint.ostree.sign = "nobody@example.com";
    EXPECT_EQ(failure_of([&] { (void)keys().sign_trial(); }),
              "cannot sign with GPG key nobody@example.com: no such secret key");
}

TEST_F(Signing, OnlyTheBuildsOwnCommit) {
    const Commit commit = fixture_.build();
    const std::string bytes = object(commit.checksum, "commit");
    fixture_.blueprint.version = "2";
    const std::string second = object(fixture_.build("x").checksum, "commit");

    SigningKeys keys = this->keys();
    const auto refusal = [&](const std::string& what) {
        return failure_of([&] { (void)keys.sign_commit(what); });
    };
    EXPECT_EQ(refusal(""), "refused to sign something that is not a commit");
    EXPECT_EQ(refusal("Signed-off-by: me\n"), "refused to sign something that is not a commit");
    EXPECT_EQ(refusal(bytes + '\0'), "refused to sign something that is not a commit");
    EXPECT_EQ(refusal(summary()), "refused to sign something that is not a commit");
    EXPECT_EQ(refusal(read_file(fixture_.repo() / "config")),
              "refused to sign something that is not a commit");
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
        EXPECT_THAT(refusal(bytes.substr(0, size)), StartsWith("refused to sign ")) << size;
    }
    EXPECT_NE(keys.sign_commit(bytes).gpg, "");
    EXPECT_NE(keys.sign_commit(bytes).gpg, "") << "the same commit may be asked for twice";
    EXPECT_THAT(refusal(second), StartsWith("refused to sign a second commit"));

    fixture_.blueprint.ostree.ref = "another/ref";
    SigningKeys others = this->keys();
    EXPECT_EQ(failure_of([&] { (void)others.sign_commit(bytes); }),
              "refused to sign a commit that is not bound to ref another/ref alone");
    fixture_.blueprint.ostree.sign = "";
    SigningKeys none = this->keys();
    EXPECT_THAT(failure_of([&] { (void)none.sign_commit(bytes); }), HasSubstr("names no GPG key"));
    EXPECT_THAT(failure_of([&] { (void)none.sign_summary(summary()); }),
                HasSubstr("names no GPG key"));
}

TEST_F(Signing, ASummaryHasToNameTheCommit) {
    const Commit first = fixture_.build();
    const std::string old = summary();
    fixture_.blueprint.version = "2";
    const Commit second = fixture_.build("x");

    SigningKeys keys = this->keys();
    const auto refusal = [&](const std::string& what) {
        return failure_of([&] { (void)keys.sign_summary(what); });
    };
    EXPECT_EQ(refusal("x"), "refused to sign something that is not a summary");
    EXPECT_EQ(refusal(object(first.checksum, "commit")),
              "refused to sign something that is not a summary");
    EXPECT_NE(keys.sign_summary(old).gpg, "") << "the one that a killed build owes";
    EXPECT_THAT(refusal(summary()), StartsWith("refused to sign a summary that says of ref "));
    EXPECT_NE(keys.sign_summary(old).gpg, "") << "deltas are withdrawn, and come back";
    EXPECT_NE(keys.sign_summary(old).gpg, "") << "deltas to old versions are removed";
    for (const std::string& more : {summary(), old}) {
        EXPECT_THAT(refusal(more), StartsWith("refused to sign a summary that says of ref "));
    }
    EXPECT_NE(keys.sign_commit(object(second.checksum, "commit")).gpg, "");
    EXPECT_THAT(refusal(old), HasSubstr(first.checksum));
    EXPECT_NE(keys.sign_summary(summary()).gpg, "");
    EXPECT_NE(keys.sign_summary(summary()).gpg, "");
}

TEST_F(Signing, Ed25519BesideGpgOrAlone) {
    const test::TemporaryDirectory directory;
    const fs::path file = directory.path() / "key";
    write_file(file, to_base64(std::string(32, 'k')));
    fixture_.blueprint.ostree.sign_ed25519 = file;
    const Commit both = fixture_.build();
    const std::string bytes = object(both.checksum, "commit");
    Signatures made = keys().sign_commit(bytes);
    EXPECT_NE(made.gpg, "");
    EXPECT_TRUE(verifies_ed25519({keys().ed25519_key()}, bytes, made.ed25519));
    EXPECT_NE(object(both.checksum, "commitmeta").find(made.ed25519), std::string::npos);
    SigningKeys of_summary = keys();
    EXPECT_NE(
        read_file(fixture_.repo() / "summary.sig").find(of_summary.sign_summary(summary()).ed25519),
        std::string::npos);
    fixture_.blueprint.ostree.sign.clear();
    SigningKeys alone = keys();
    EXPECT_EQ(alone.sign_commit(bytes).gpg, "");
    EXPECT_EQ(alone.sign_commit(bytes).ed25519, made.ed25519);
    EXPECT_THAT(failure_of([&] { (void)alone.sign_commit("no commit"); }),
                HasSubstr("refused to sign something that is not a commit"));
    Signer signer;
    signer.allow(signing_request(fixture_.blueprint.ostree, fixture_.blueprint.nvidia));
    EXPECT_TRUE(signer.signs_commits());
    EXPECT_FALSE(signer.signs_with_gpg());
    EXPECT_EQ(signer.ed25519_key(), alone.ed25519_key());
    EXPECT_EQ(signer.sign_commit(bytes).ed25519, made.ed25519);
}

TEST_F(Signing, OnlyKernelModules) {
    const test::TemporaryDirectory directory;
    ModuleKey request;
    request.key = directory.path() / "edge.key";
    request.certificate = directory.path() / "edge.der";
    request.location = {"b.toml", 7, 1};
    test::run({"openssl", "req", "-new", "-x509", "-noenc", "-newkey", "rsa:2048", "-keyout",
               request.key.string(), "-outform", "DER", "-out", request.certificate.string(),
               "-days", "3650", "-subj", "/CN=edge"});
    Signer signer;
    signer.allow({"r", "", "", request});
    ASSERT_TRUE(signer.certificate());
    EXPECT_EQ(signer.certificate()->name, "edge");
    EXPECT_EQ(signer.certificate()->der, read_file(request.certificate));
    EXPECT_FALSE(signer.signs_commits());

    // Larger than any buffer on the way.
    const std::string module = test::make_module(std::string(3000000, 'x'));
    const std::string signature = signer.sign_module(module);
    EXPECT_EQ(signature, ModuleSigner(request).signature(module));
    EXPECT_TRUE(read_module(module + signature, "x.ko").signature);
    const auto refusal = [&](const std::string& what) {
        return failure_of([&] { (void)signer.sign_module(what); });
    };
    EXPECT_EQ(refusal(""), "refused to sign something that is not a kernel module");
    EXPECT_EQ(refusal("#!/bin/sh\n"), "refused to sign something that is not a kernel module");
    EXPECT_EQ(refusal(read_file("/proc/self/exe")),
              "refused to sign something that is not a kernel module");
    EXPECT_EQ(refusal(module + signature),
              "refused to sign a kernel module that is already signed");
    EXPECT_EQ(signer.sign_module(module), signature) << "a refusal ends nothing";

    request.key = request.certificate;
    Signer broken;
    EXPECT_EQ(failure_of([&] {
                  broken.allow({"r", "", "", request});
              }),
              "b.toml:7:1: " + request.key.string() + ": not a private key (PEM)");
}

TEST_F(Signing, NoKeyNoPassphraseOneError) {
    // Without it, an agent measures for seconds how slow a passphrase has to be.
    write_file(key_.home() / "gpg-agent.conf", "s2k-count 65536\n");
    test::run({"gpgconf", "--homedir", key_.home().string(), "--kill", "gpg-agent"});
    test::run({"gpg", "--homedir", key_.home().string(), "--batch", "--pinentry-mode", "loopback",
               "--passphrase", "secret", "--quick-generate-key", "locked@example.com", "ed25519",
               "sign", "never"});
    test::run({"gpgconf", "--homedir", key_.home().string(), "--kill", "gpg-agent"});
    fixture_.blueprint.ostree.sign = "locked@example.com";
    EXPECT_THAT(
        failure_of([&] { (void)fixture_.build(); }),
        StartsWith(fixture_.repo().string() + ": cannot sign with GPG key locked@example.com: "));
    fixture_.blueprint.ostree.sign = "nobody@example.com";
    EXPECT_THAT(failure_of([&] { (void)fixture_.build(); }),
                HasSubstr("cannot sign with GPG key nobody@example.com: no such secret key"));
}

/// The state of a process in the words of /proc, "" where it is gone.
std::string state_of(pid_t pid, const std::string& key) {
    const std::string path = "/proc/" + std::to_string(pid) + "/status";
    std::string line = output_of("grep '^" + key + ":' " + path + " 2>/dev/null");
    return line.empty() ? "" : line.substr(0, line.size() - 1);
}

TEST(SigningProcess, HoldsNothingAndCannotBeRead) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    Signer signer;
    signer.allow({"r", "", "", {}});
    // Were the writing end open there, too, this would wait for ever.
    ::close(ends[1]);
    pollfd event{ends[0], POLLIN, 0};
    EXPECT_EQ(::poll(&event, 1, 5000), 1) << "it holds a descriptor of the build";
    ::close(ends[0]);

    const std::string proc = "/proc/" + std::to_string(signer.pid());
    EXPECT_EQ(output_of("cut -d' ' -f5 " + proc + "/stat"), std::to_string(signer.pid()) + "\n")
        << "a process group of its own";
    if (::geteuid() != 0) {
        char byte = 0;
        iovec here{&byte, 1};
        iovec there{&byte, 1};
        EXPECT_EQ(::process_vm_readv(signer.pid(), &here, 1, &there, 1, 0), -1);
        EXPECT_EQ(errno, EPERM);
        EXPECT_THAT(output_of("cat " + proc + "/mem"), HasSubstr("Permission denied"));
        EXPECT_THAT(output_of("readlink -v " + proc + "/fd/3"), HasSubstr("Permission denied"));
    }
}

TEST(SigningProcess, OutlastsSignalsAndEndsWithTheBuild) {
    pid_t pid = 0;
    const auto begin = std::chrono::steady_clock::now();
    {
        Signer signer;
        pid = signer.pid();
        signer.allow({"r", "", "", {}});
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            ASSERT_EQ(::kill(pid, signal), 0);
        }
        EXPECT_THAT(failure_of([&] { (void)signer.sign_commit("x"); }), HasSubstr("refused"));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    EXPECT_EQ(::kill(pid, 0), -1) << "reaped";
    EXPECT_EQ(errno, ESRCH);
}

TEST(SigningProcess, EndsWhenTheBuildIsKilled) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t build = ::fork();
    if (build == 0) {
        const Signer signer;
        const pid_t pid = signer.pid();
        (void)!::write(ends[1], &pid, sizeof pid);
        ::pause();
        ::_exit(0);
    }
    pid_t signer = 0;
    ASSERT_EQ(::read(ends[0], &signer, sizeof signer), static_cast<ssize_t>(sizeof signer));
    ASSERT_EQ(::kill(build, SIGKILL), 0);
    ASSERT_EQ(::waitpid(build, nullptr, 0), build);
    std::string state = "R";
    for (int i = 0; i < 500 && !state.empty() && !state.ends_with("Z (zombie)"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        state = state_of(signer, "State");
    }
    EXPECT_TRUE(state.empty() || state.ends_with("Z (zombie)")) << state;
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(SigningProcess, AnInterruptEndsTheWaiting) {
    std::atomic<bool> cancelled{false};
    Signer signer(&cancelled);
    signer.allow({"r", "key", "", {}});
    ASSERT_EQ(::kill(signer.pid(), SIGSTOP), 0);
    std::jthread interrupt([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        cancelled = true;
    });
    EXPECT_EQ(failure_of([&] { (void)signer.sign_commit("x"); }), "interrupted");
}

TEST(SigningProcess, IsToldOnceWhatItMaySign) {
    Signer signer;
    EXPECT_THAT(failure_of([&] { (void)signer.sign_commit("x"); }),
                HasSubstr("has no configuration"));
    EXPECT_THAT(failure_of([&] { (void)signer.signs_commits(); }),
                HasSubstr("has no configuration"));
    signer.allow({"r", "", "", {}});
    EXPECT_NE(failure_of([&] { signer.allow({"other", "key", "", {}}); }), "");
    EXPECT_NE(failure_of([&] { (void)signer.sign_commit("x"); }), "") << "it is gone";
    EXPECT_FALSE(signer.signs_commits());
}

/// A process that serves what this test writes to it.
struct Served {
    Served() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            throw Error("socketpair");
        }
        const pid_t self = ::getpid();
        pid = ::fork();
        if (pid == 0) {
            become_signing_process(ends[1], self);
        }
        ::close(ends[1]);
        socket = Fd(ends[0]);
    }
    /// Exit status after the bytes and an end of file; all that it answered into `answer`.
    int end(const std::string& bytes) {
        (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ::shutdown(socket.get(), SHUT_WR);
        char buffer[4096];
        for (ssize_t got = 0; (got = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) {
            answer.append(buffer, static_cast<std::size_t>(got));
        }
        int status = -1;
        ::waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    pid_t pid = -1;
    Fd socket;
    std::string answer;
};

std::string number32(std::uint32_t number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}
std::string number64(std::uint64_t number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}
std::string message(std::uint32_t kind, const std::vector<std::string>& fields) {
    std::string bytes = number32(kind) + number32(static_cast<std::uint32_t>(fields.size()));
    for (const std::string& field : fields) {
        bytes += number64(field.size()) + field;
    }
    return bytes;
}

TEST(SigningProcess, EndsAtTheFirstThingThatNoBuildSends) {
    using namespace signing_message;
    const std::string allowed = message(allow, {"r", "", "", "", "", ""});
    EXPECT_EQ(Served().end(""), 0);
    EXPECT_EQ(Served().end(allowed), 0);
    for (std::size_t size = 1; size < allowed.size(); ++size) {
        EXPECT_EQ(Served().end(allowed.substr(0, size)), 1) << size;
    }
    const std::vector<std::string> hostile{
        message(commit, {"x"}),  // before it was told anything
        message(99, {"x"}),
        message(allow, {"r", "", "", "", "", ""}) + message(99, {}),
        allowed + allowed,  // told twice
        allowed + message(commit, {}),
        allowed + message(commit, {"a", "b"}),
        allowed + message(trial, {"a text of the build"}),
        allowed + number32(commit) + number32(1U << 31U),
        allowed + number32(commit) + number32(1) + number64(~0ULL),
        allowed + number32(module) + number32(1) + number64(1ULL << 30U) + "short",
    };
    for (const std::string& bytes : hostile) {
        Served served;
        EXPECT_EQ(served.end(bytes), 1) << testing::PrintToString(bytes);
    }
    for (const std::vector<std::string>& fields :
         {std::vector<std::string>{},
          {"r"},
          {"r", "", "", "", "", "", "k", "c", "f", "seven", "1"}}) {
        Served served;
        EXPECT_EQ(served.end(message(allow, fields) + allowed), 0) << "told why, and nothing more";
        EXPECT_EQ(served.answer.substr(0, 4), number32(failed));
    }
}

}  // namespace
}  // namespace edgegpu
