// The file server with real clients: libcurl, the program ostree, and sockets that misbehave.

#include "machine/file_server.hpp"

#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using CurlHandle = Handle<CURL, curl_easy_cleanup>;
using ListHandle = Handle<curl_slist, curl_slist_free_all>;

struct Answer {
    CURLcode result = CURLE_OK;
    long status = 0;
    std::string body;
};

std::size_t keep_answer(char* data, std::size_t size, std::size_t count, void* text) {
    static_cast<std::string*>(text)->append(data, size * count);
    return size * count;
}

class FileServerTest : public testing::Test {
protected:
    FileServerTest() {
        fs::create_directories(directory() / "refs/heads");
        write_file(directory() / "config", "0123456789");
        write_file(directory() / "a b+%41", "odd name");
        write_file(outer_.path() / "secret", "secret");
        fs::create_symlink("../secret", directory() / "out");
        fs::create_symlink(outer_.path() / "secret", directory() / "out-absolute");
        fs::create_symlink("config", directory() / "in");
        EXPECT_EQ(::mkfifo((directory() / "fifo").c_str(), 0600), 0);
        server_.emplace(ctx_, directory(), "127.0.0.1");
        write_file(authority(), server_->certificate());
    }
    [[nodiscard]] fs::path directory() const { return outer_.path() / "repo"; }
    [[nodiscard]] fs::path authority() const { return outer_.path() / "ca.pem"; }
    [[nodiscard]] std::string url(const std::string& path) const {
        return fmt::format("https://127.0.0.1:{}{}", server_->port(), path);
    }
    [[nodiscard]] Answer ask(const std::string& path, const char* method = nullptr,
                             const std::vector<std::string>& headers = {}) const {
        Answer answer;
        const CurlHandle curl(curl_easy_init());
        ListHandle list;
        for (const std::string& header : headers) {
            list.reset(curl_slist_append(list.release(), header.c_str()));
        }
        curl_easy_setopt(curl.get(), CURLOPT_URL, url(path).c_str());
        curl_easy_setopt(curl.get(), CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(curl.get(), CURLOPT_CAINFO, authority().c_str());
        curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list.get());
        curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, keep_answer);
        curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
        curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 60L);
        if (method != nullptr) {
            curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, method);
            curl_easy_setopt(curl.get(), CURLOPT_NOBODY,
                             std::string_view(method) == "HEAD" ? 1L : 0L);
        }
        answer.result = curl_easy_perform(curl.get());
        curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
        return answer;
    }

    Context ctx_;
    test::TemporaryDirectory outer_;
    std::optional<FileServer> server_;
};

TEST_F(FileServerTest, KnowsWhatItHasSent) {
    write_file(directory() / "refs/heads/a", "x");
    EXPECT_EQ(ask("/refs/heads/none").status, 404);
    EXPECT_EQ(ask("/config", "HEAD").status, 200);
    EXPECT_TRUE(server_->sent().empty());
    EXPECT_EQ(ask("/config").status, 200);
    EXPECT_EQ(ask("/refs/heads/%61").status, 200);
    EXPECT_EQ(server_->sent(), (std::set<std::string>{"config", "refs/heads/a"}));
}

TEST_F(FileServerTest, ServesFilesWithVerifiedTls) {
    const Answer answer = ask("/config");
    EXPECT_EQ(answer.result, CURLE_OK) << curl_easy_strerror(answer.result);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "0123456789");
    EXPECT_EQ(ask("/in").body, "0123456789");
    EXPECT_EQ(ask("/a%20b+%2541").body, "odd name");
    EXPECT_EQ(ask("/config?x=1").body, "0123456789");
    EXPECT_GE(server_->requests(), 4U);
    EXPECT_GE(server_->bytes(), 38U);
}

TEST_F(FileServerTest, AnotherCertificateIsNotAccepted) {
    const FileServer other(ctx_, directory(), "127.0.0.1");
    write_file(authority(), other.certificate());
    EXPECT_EQ(ask("/config").result, CURLE_PEER_FAILED_VERIFICATION);
    const FileServer elsewhere(ctx_, directory(), "10.0.2.2");
    write_file(authority(), elsewhere.certificate());
    server_.emplace(ctx_, directory(), "10.0.2.2");
    write_file(authority(), server_->certificate());
    EXPECT_EQ(ask("/config").result, CURLE_PEER_FAILED_VERIFICATION);
}

TEST_F(FileServerTest, HeadAndRanges) {
    const Answer head = ask("/config", "HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    const auto range = [&](const std::string& value) {
        const Answer answer = ask("/config", nullptr, {"Range: " + value});
        return fmt::format("{} {}", answer.status, answer.body);
    };
    EXPECT_EQ(range("bytes=2-4"), "206 234");
    EXPECT_EQ(range("bytes=7-"), "206 789");
    EXPECT_EQ(range("bytes=-3"), "206 789");
    EXPECT_EQ(range("bytes=0-999999999999999"), "206 0123456789");
    EXPECT_EQ(range("bytes=-99"), "206 0123456789");
    EXPECT_EQ(range("bytes=10-"), "416 ");
    EXPECT_EQ(range("bytes=-0"), "416 ");
    for (const char* whole : {"bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b",
                              "bytes=", "bytes=-", "bytes=99999999999999999999-", "bytes"}) {
        EXPECT_EQ(range(whole), "200 0123456789") << whole;
    }
}

TEST_F(FileServerTest, NothingOutsideAndNothingButFiles) {
    for (const char* path :
         {"/../secret", "/refs/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/%2e%2e%2fsecret",
          "//etc/passwd", "/%2fetc/passwd", "/out", "/out-absolute", "/refs", "/refs/", "/", "/.",
          "/fifo", "/config/", "/config%00.txt", "/%00", "/none", "/config/../../secret"}) {
        const Answer answer = ask(path);
        EXPECT_EQ(answer.status, 404) << path;
        EXPECT_EQ(answer.body, "") << path;
    }
    EXPECT_EQ(ask("/" + std::string(5000, 'a')).status, 404);
}

TEST_F(FileServerTest, OnlyGetAndHead) {
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "X"}) {
        const Answer answer = ask("/config", method);
        EXPECT_EQ(answer.status, 405) << method;
        EXPECT_EQ(answer.body, "") << method;
    }
    EXPECT_EQ(read_file(directory() / "config"), "0123456789");
}

TEST_F(FileServerTest, AHugeHeaderIsRefused) {
    const Answer answer = ask("/config", nullptr, {"X: " + std::string(1U << 20U, 'a')});
    EXPECT_NE(answer.status, 200);
    EXPECT_EQ(ask("/config").status, 200);
}

Fd connect_to(std::uint16_t port) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool connected =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    return connected ? std::move(socket) : Fd();
}

TEST_F(FileServerTest, SurvivesAThousandConnectionsAndThoseThatSpeakNoTls) {
    allow_open_files();
    {
        constexpr std::size_t connections = 1000;
        std::vector<Fd> sockets;
        sockets.reserve(connections);
        for (std::size_t i = 0; i < connections; ++i) {
            sockets.push_back(connect_to(server_->port()));
        }
        for (const Fd& socket : sockets) {
            if (socket) {
                (void)::send(socket.get(), "GET /config HTTP/1.0\r\n\r\n", 24, MSG_NOSIGNAL);
            }
        }
    }
    // It may still be busy closing them, and refuse new ones while it is.
    Answer answer = ask("/config");
    for (int attempt = 0; attempt < 600 && answer.status != 200; ++attempt) {
        ::usleep(50000);
        answer = ask("/config");
    }
    EXPECT_EQ(answer.status, 200) << curl_easy_strerror(answer.result);
}

TEST_F(FileServerTest, SlowClientsDoNotStopOthers) {
    std::vector<Fd> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(connect_to(server_->port()));
        ASSERT_TRUE(slow.back());
        (void)::send(slow.back().get(), "\x16\x03", 2, MSG_NOSIGNAL);
    }
    constexpr std::size_t others = 16;
    std::vector<std::future<Answer>> answers;
    answers.reserve(others);
    for (std::size_t i = 0; i < others; ++i) {
        answers.push_back(std::async(std::launch::async, [&] { return ask("/config"); }));
    }
    for (std::future<Answer>& answer : answers) {
        EXPECT_EQ(answer.get().status, 200);
    }
}

TEST(FileServerPull, OstreePullsACommitOverTls) {
    test::CommitFixture fixture;
    const Commit commit = fixture.build();
    const Context ctx;
    const FileServer server(ctx, fixture.repo(), "127.0.0.1");
    const fs::path authority = fixture.directory() / "ca.pem";
    write_file(authority, server.certificate());
    const std::string target = (fixture.directory() / "device").string();
    const auto pull = [&](const std::string& option, int* status) {
        return test::output_of(
            fmt::format("rm -rf {0}; ostree --repo={0} init --mode=bare-user && "
                        "ostree --repo={0} remote add --no-gpg-verify {1} edge "
                        "https://127.0.0.1:{2} && ostree --repo={0} pull edge {3} 2>&1",
                        target, option, server.port(), commit.ref),
            status);
    };
    int status = -1;
    EXPECT_NE(pull("", &status), "");
    EXPECT_NE(status, 0) << "without the certificate";
    const std::string said = pull("--set=tls-ca-path=" + authority.string(), &status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_EQ(test::output_of("ostree --repo=" + target + " rev-parse edge:" + commit.ref),
              commit.checksum + "\n");
    EXPECT_GT(server.bytes(), 0U);
}

TEST(FileServerStart, ADirectoryThatIsNoneIsAnError) {
    const Context ctx;
    EXPECT_THROW(FileServer(ctx, "/nonexistent/directory", "127.0.0.1"), Error);
}

}  // namespace
}  // namespace edgegpu
