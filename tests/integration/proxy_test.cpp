// Who one is: proxies with a log-in (tinyproxy), HTTP authentication, netrc; and who never hears of
// it.

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/files/file.hpp"
#include "support/web_server.hpp"
#include "transfer/transfer.hpp"
#include "transfer/url.hpp"

namespace edgegpu {
namespace {

/// A variable of the environment for as long as the object lives; "" unsets it.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        const char* old = std::getenv(name);
        had_ = old != nullptr;
        old_ = had_ ? old : "";
        value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    bool had_;
    std::string old_;
};

class LogIn : public testing::Test {
protected:
    LogIn() : console_(Color::never, true), home_variable_("HOME", home_.path().string()) {
        write_file(site_.path() / "file", "hello");
        server_ = std::make_unique<test::OddServer>(site_.path());
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        repository_.id = "web";
        repository_.location = {"/blueprint.toml", 3, 1};
        repository_.transfer.retries = 0;
        repository_.baseurls = {server_->url() + "/plain"};
    }

    /// The error, or nothing if the file came.
    std::string get(const std::string& mirror) {
        WantedFile file;
        file.location = "file";
        file.destination = cache_.path() / "file";
        const TransferResult result = transfer(ctx_, repository_, {mirror}, {file}).front();
        if (!result.done) {
            return transfer_error(repository_, "file", result).render();
        }
        EXPECT_EQ(read_file(file.destination), "hello");
        return "";
    }
    std::string get() { return get(repository_.baseurls.front()); }

    test::TemporaryDirectory site_;
    test::TemporaryDirectory cache_;
    test::TemporaryDirectory home_;
    std::unique_ptr<test::OddServer> server_;
    Console console_;
    Context ctx_;
    Repository repository_;
    Variable home_variable_;
    Variable no_proxy_{"no_proxy", ""};
    Variable no_proxy_upper_{"NO_PROXY", ""};
    Variable http_proxy_{"http_proxy", ""};
};

TEST_F(LogIn, ProxyWithPassword) {
    const test::Proxy proxy;
    repository_.transfer.proxy = proxy.url();
    repository_.transfer.proxy_username = "p";
    repository_.transfer.proxy_password = "pr0xy";
    EXPECT_EQ(get(), "");
    EXPECT_EQ(proxy.count("Established connection"), 1) << proxy.log();
    repository_.transfer.proxy_auth_method = ProxyAuthentication::basic;
    EXPECT_EQ(get(), "");
}

TEST_F(LogIn, ProxyWithTheWrongPassword) {
    const test::Proxy proxy;
    repository_.transfer.proxy = proxy.url();
    repository_.transfer.proxy_username = "p";
    repository_.transfer.proxy_password = "wr0ng";
    const std::string hint =
        "  repository defined at /blueprint.toml:3:1\n"
        "hint: check proxy, proxy_username and proxy_password of the repository, or http_proxy and "
        "https_proxy of the environment\n";
    const std::string begin = "error: repository 'web': cannot get file\n  ";
    EXPECT_EQ(
        get(),
        begin + server_->url() +
            "/plain/file: answers 401 (unauthorized) after the proxy asked for authentication\n" +
            hint);
    EXPECT_EQ(server_->count("/plain/file"), 0);
    // To a server with TLS the proxy says it before there is a connection.
    EXPECT_EQ(get("https://127.0.0.1:1"),
              begin + "https://127.0.0.1:1/file: the proxy answers 401 (unauthorized)\n" + hint);
    // Others say 407 again.
    const test::OddServer strict(site_.path());
    repository_.transfer.proxy = strict.url();
    EXPECT_EQ(get(), begin + server_->url() +
                         "/plain/file: answers 407 (the proxy rejects the credentials)\n" + hint);
}

TEST_F(LogIn, ProxyOfTheEnvironment) {
    const test::Proxy proxy;
    const std::string url = "http://p:pr0xy@127.0.0.1:" + std::to_string(proxy.port());
    const Variable environment("http_proxy", url);
    EXPECT_EQ(get(), "");
    EXPECT_EQ(proxy.count("Established connection"), 1) << proxy.log();
    {
        const Variable exception("no_proxy", "127.0.0.1");
        EXPECT_EQ(get(), "");
    }
    repository_.transfer.proxy = "_none_";
    EXPECT_EQ(get(), "");
    EXPECT_EQ(proxy.count("Established connection"), 1) << proxy.log();
}

TEST_F(LogIn, ProxyThatIsNoneKeepsItsPassword) {
    for (const char* url : {"ftp://p:pr0xy@127.0.0.1:1", "http://p:pr0xy@127.0.0.1:none"}) {
        const Variable environment("http_proxy", url);
        const std::string text = get();
        EXPECT_NE(text.find("the proxy's URL is malformed or of a scheme that is not supported"),
                  std::string::npos)
            << text;
        EXPECT_EQ(text.find("pr0xy"), std::string::npos) << text;
    }
}

TEST_F(LogIn, ProxyThatIsGone) {
    {
        const test::Proxy proxy;
        repository_.transfer.proxy = proxy.url();
    }
    EXPECT_NE(get().find("cannot be reached: "), std::string::npos);
}

TEST_F(LogIn, UserAndPassword) {
    repository_.baseurls = {server_->url() + "/auth"};
    repository_.transfer.username = "u";
    repository_.transfer.password = "s3cret";
    EXPECT_EQ(get(), "");
    EXPECT_EQ(server_->count("401"), 0);
    repository_.transfer.password = "wr0ng";
    const std::string text = get();
    EXPECT_EQ(text, "error: repository 'web': cannot get file\n  " + server_->url() +
                        "/auth/file: answers 401 (unauthorized)\n"
                        "  repository defined at /blueprint.toml:3:1\n"
                        "hint: the server requires authentication: set username and password of "
                        "the repository, or add an entry to ~/.netrc\n");
}

TEST_F(LogIn, UserAndPasswordInTheUrlAreNotShown) {
    const std::string host = "127.0.0.1:" + std::to_string(server_->port());
    EXPECT_EQ(get("http://u:s3cret@" + host + "/auth"), "");
    const std::string text = get("http://u:wr0ng@" + host + "/auth");
    EXPECT_EQ(text.find("wr0ng"), std::string::npos) << text;
    EXPECT_NE(text.find("http://" + host + "/auth/file: answers 401"), std::string::npos) << text;
    EXPECT_EQ(redacted("https://a:b@c:1/d@e?f"), "https://c:1/d@e?…");
    EXPECT_EQ(redacted("https://c/d@e"), "https://c/d@e");
    EXPECT_EQ(redacted("https://a@b@c/d"), "https://c/d");
}

TEST_F(LogIn, Netrc) {
    write_file(home_.path() / ".netrc", "machine 127.0.0.1 login u password s3cret\n", 0600);
    EXPECT_EQ(get(server_->url() + "/auth"), "");
}

TEST_F(LogIn, OtherServersDoNotHearThePassword) {
    const test::OddServer other(site_.path());
    repository_.transfer.username = "u";
    repository_.transfer.password = "s3cret";
    const std::string there = std::to_string(other.port());
    // A redirect, a mirror that the repository does not name, and its own server.
    EXPECT_EQ(get(server_->url() + "/to/" + there + "/plain"), "");
    EXPECT_EQ(get(other.url() + "/plain"), "");
    EXPECT_EQ(other.count("200 /plain/file -"), 2) << other.log();
    EXPECT_EQ(server_->count("Basic "), 1) << server_->log();
    EXPECT_EQ(get(), "");
    EXPECT_EQ(server_->count("200 /plain/file Basic "), 1) << server_->log();
}

}  // namespace
}  // namespace edgegpu
