// Certificates: the server's and one's own, against nginx.

#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/web_server.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A certificate NAME.pem with its key NAME.key in `place`, of the authority ca.pem there.
void make_certificate(const fs::path& place, const std::string& name) {
    const auto file = [&](const std::string& what) { return (place / what).string(); };
    write_file(place / (name + ".ext"), "subjectAltName=IP:127.0.0.1\n");
    test::run({"openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout",
               file(name + ".key"), "-out", file(name + ".csr")});
    test::run({"openssl", "x509", "-req", "-in", file(name + ".csr"), "-CA", file("ca.pem"),
               "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "7300", "-extfile",
               file(name + ".ext"), "-out", file(name + ".pem")});
}

class Tls : public testing::Test {
protected:
    static void SetUpTestSuite() {
        place_ = new test::TemporaryDirectory;
        const std::string ca = (place_->path() / "ca").string();
        test::run({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "7300",
                   "-subj", "/CN=authority", "-keyout", ca + ".key", "-out", ca + ".pem"});
        make_certificate(place_->path(), "server");
        make_certificate(place_->path(), "client");
        write_file(place_->path() / "file", "hello");
        nginx_ = new test::Nginx(place_->path(), place_->path());
    }
    static void TearDownTestSuite() {
        delete nginx_;
        delete place_;
    }

    Tls() : console_(Color::never, true) {
        ctx_.cache = cache_.path();
        ctx_.console = &console_;
        repository_.id = "web";
        repository_.baseurls = {"https://127.0.0.1:" + std::to_string(nginx_->port())};
        repository_.transfer.retries = 0;
        repository_.sslcacert = place_->path() / "ca.pem";
        repository_.sslclientcert = place_->path() / "client.pem";
        repository_.sslclientkey = place_->path() / "client.key";
    }

    /// The error, or nothing if the file came.
    std::string get() {
        WantedFile file;
        file.location = "file";
        file.destination = cache_.path() / "file";
        const TransferResult result =
            transfer(ctx_, repository_, repository_.baseurls, {file}).front();
        return result.done ? "" : transfer_error(repository_, "file", result).render();
    }

    static test::TemporaryDirectory* place_;
    static test::Nginx* nginx_;
    test::TemporaryDirectory cache_;
    Console console_;
    Context ctx_;
    Repository repository_;
};

test::TemporaryDirectory* Tls::place_ = nullptr;
test::Nginx* Tls::nginx_ = nullptr;

TEST_F(Tls, BothSidesAreKnown) {
    EXPECT_EQ(get(), "");
}

TEST_F(Tls, ServerOfAnUnknownAuthority) {
    repository_.sslcacert.clear();
    const std::string text = get();
    EXPECT_NE(text.find("/file: has a certificate that cannot be trusted: "), std::string::npos)
        << text;
    EXPECT_NE(
        text.find("\nhint: set sslcacert of the repository to the certificate of its authority"),
        std::string::npos)
        << text;
    repository_.sslverify = false;
    EXPECT_EQ(get(), "");
}

TEST_F(Tls, WithoutClientCertificate) {
    repository_.sslclientcert.clear();
    repository_.sslclientkey.clear();
    EXPECT_NE(get().find("/file: answers 400 (bad request)"), std::string::npos) << get();
}

TEST_F(Tls, CertificatesThatAreNone) {
    write_file(cache_.path() / "none.pem", "no certificate\n");
    repository_.sslclientcert = cache_.path() / "none.pem";
    const std::string own = get();
    EXPECT_NE(own.find("sslclientcert"), std::string::npos) << own;
    repository_.sslclientcert = place_->path() / "client.pem";
    repository_.sslcacert = cache_.path() / "nowhere.pem";
    const std::string authority = get();
    EXPECT_NE(authority.find("sslcacert cannot be read"), std::string::npos) << authority;
}

}  // namespace
}  // namespace edgegpu
