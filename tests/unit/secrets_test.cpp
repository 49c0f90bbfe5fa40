// What must not be shown, in the forms in which it turns up, and what looks like it and is none.

#include "support/secrets.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

const std::string secret = "S3cr3t-Passw0rd";

std::string repeated(const std::string& text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

/// The forms in which a text may hold a secret; each with what has to be left of it.
struct Form {
    std::string text;
    std::string shown;
};

void expect_hidden(const std::vector<Form>& forms) {
    for (const Form& form : forms) {
        const std::string shown = hide_secrets(form.text);
        EXPECT_EQ(shown, form.shown);
        EXPECT_EQ(shown.find(secret), std::string::npos) << form.text;
        EXPECT_EQ(hide_secrets(shown), shown) << "hiding it again changes it";
    }
}

TEST(Secrets, UserAndPasswordOfUrls) {
    expect_hidden({
        {"get http://ann:" + secret + "@host/x failed", "get http://[hidden]@host/x failed"},
        {"HTTPS://ANN:" + secret + "@HOST/", "HTTPS://[hidden]@HOST/"},
        {"ftp://ann:" + secret + "@host", "ftp://[hidden]@host"},
        {"git+ssh://ann:" + secret + "@host", "git+ssh://[hidden]@host"},
        {"https://" + secret + "@host/", "https://[hidden]@host/"},
        {"http://ann:a/" + secret + "@host/", "http://[hidden]@host/"},
        {"http://ann:a@b" + secret + "@host/", "http://[hidden]@host/"},
        {"http://ann:a?" + secret + "@host/", "http://[hidden]@host/"},
        {"http://ann:'" + secret + "'@host/", "http://[hidden]@host/"},
        {"(http://ann:" + secret + "@host/)\nnext", "(http://[hidden]@host/)\nnext"},
        {"http://a/,http://ann:" + secret + "@host/", "http://[hidden]@host/"},
        {"//ann:" + secret + "@host/", "//[hidden]@host/"},
    });
}

TEST(Secrets, UrlsWrittenWithEscapes) {
    expect_hidden({
        {"http%3A%2F%2Fann%3a" + secret + "%40host/", "http%3A%2F%2F[hidden]%40host/"},
        {"http:\\/\\/ann:" + secret + "@host", "http:\\/\\/[hidden]@host"},
        {"http:\\u002f\\u002Fann:" + secret + "@host", "http:\\u002f\\u002F[hidden]@host"},
        {"http://ann:my%20" + secret + "%20x@host", "http://[hidden]@host"},
        {"http://ann:my%0A" + secret + "@host", "http://[hidden]@host"},
    });
}

TEST(Secrets, Queries) {
    expect_hidden({
        {"https://host/x?token=" + secret + " and more", "https://host/x?[hidden] and more"},
        {"https://host/x?a=1&SIG=" + secret, "https://host/x?[hidden]"},
        {"\"https://host/x?t=" + secret + "\", 200", "\"https://host/x?[hidden]\", 200"},
        {"https://host/x?" + secret + " and more", "https://host/x?[hidden] and more"},
        {"is it https://host/x? or //x?y", "is it https://host/x? or //x?y"},
        {"https://ann@host/x?t=" + secret, "https://[hidden]@host/x?[hidden]"},
    });
}

TEST(Secrets, HeadersThatAuthorize) {
    expect_hidden({
        {"> Authorization: Basic " + secret, "> Authorization: [hidden]"},
        {"PROXY-AUTHORIZATION:Digest a=\"" + secret + "\"", "PROXY-AUTHORIZATION:[hidden]"},
        {"Set-Cookie: session=" + secret + "; Path=/", "Set-Cookie: [hidden]"},
        {"X-Auth-Token: " + secret, "X-Auth-Token: [hidden]"},
        {"PRIVATE-TOKEN: " + secret, "PRIVATE-TOKEN: [hidden]"},
        {"with bearer abc." + secret + " sent", "with bearer [hidden] sent"},
    });
}

TEST(Secrets, NamedValues) {
    expect_hidden({
        {"curl --proxy-password=" + secret + " x", "curl --proxy-password=[hidden] x"},
        {"REPO_PASSWORD=\"" + secret + " of two words\" x", "REPO_PASSWORD=[hidden]"},
        {"env PASSWD=\"" + secret + " of two words\" x", "env PASSWD=[hidden]\" x"},
        {"API_KEY=" + secret + "&x=1", "API_KEY=[hidden]&x=1"},
        {"{\"password\": \"" + secret + "\", \"x\": 1}", "{\"password\": \"[hidden]\", \"x\": 1}"},
        {"  proxy_password = " + secret, "  proxy_password = [hidden]"},
        {"token: " + secret, "token: [hidden]"},
    });
}

TEST(Secrets, HashesAndTokensOfKnownForms) {
    for (const std::string kind : {"1", "2b", "5", "6", "7", "y", "gy"}) {
        expect_hidden(
            {{"root:$" + kind + "$" + secret + ":19000", "root:$" + kind + "$[hidden]:19000"}});
    }
    expect_hidden({
        {"{SSHA}U2FsdGVkX1" + std::string("9abc"), "{SSHA}[hidden]"},
        {"glpat-" + secret, "glpat-[hidden]"},
        {"a ghp_0123456789abcdef0123 b", "a ghp_[hidden] b"},
        {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.SflKxw", "eyJhbGciOiJIUzI1NiJ9.[hidden]"},
    });
}

TEST(Secrets, PrivateKeys) {
    const std::string begin = "-----BEGIN RSA PRIVATE KEY-----\n";
    const std::string end = "-----END RSA PRIVATE KEY-----\n";
    expect_hidden({
        {"a\n" + begin + secret + "\n" + secret + "\n" + end + "b",
         "a\n" + begin + "[hidden]" + end + "b"},
        // What was cut off at either end.
        {"a\n" + begin + secret + "\n", "a\n" + begin + "[hidden]"},
        {secret + "\n" + end + "b", "[hidden]" + end + "b"},
    });
    // On one line, as JSON has it, and as OpenPGP names it.
    EXPECT_EQ(hide_secrets("{\"key\": \"-----BEGIN PRIVATE KEY-----\\n" + secret + "\\n\"}"),
              "{\"key\": \"-----BEGIN PRIVATE KEY[hidden]");
    EXPECT_EQ(hide_secrets("-----BEGIN PGP PRIVATE KEY BLOCK-----\n" + secret),
              "-----BEGIN PGP PRIVATE KEY BLOCK-----\n[hidden]");
    const std::string two = hide_secrets(begin + secret + "\n" + end + "x\n" + begin + secret);
    EXPECT_EQ(two.find(secret), std::string::npos);
    EXPECT_NE(two.find("\nx\n"), std::string::npos);
}

TEST(Secrets, OrdinaryTextStays) {
    for (const std::string text :
         {"", "/usr/lib/systemd/system/getty@.service:12: Unknown key", "https://host:8080/path/x",
          "https://registry.example/@scope/name", "package a-1:2.0-3.x86_64@repo", "50% of 100%",
          "blueprint.toml:4:7: \"customizations.user.password\" must be a crypt(3) hash",
          "$1 and $2", "/etc/passwd: updated", "basic functionality is there",
          "the token is missing", "a = b", "-----BEGIN CERTIFICATE-----\nMIIB\n"}) {
        EXPECT_EQ(hide_secrets(text), text);
    }
}

TEST(Secrets, HugeAndHostileTextTakesNoLonger) {
    const auto began = std::chrono::steady_clock::now();
    const std::string urls = hide_secrets(repeated("http://", 400000) + "ann:" + secret + "@host");
    EXPECT_EQ(urls.find(secret), std::string::npos);
    for (const char* piece : {"password", "\"password\"", "x-a", "bearer ", "$6$", "%", "\\u00",
                              "eyJ.", "authorization ", "@", "   token   "}) {
        static_cast<void>(hide_secrets(repeated(piece, 100000)));
    }
    const std::string lines = repeated("an ordinary line of a program = 1\n", 30000);
    EXPECT_EQ(hide_secrets(lines), lines);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(Secrets, AValueThatWasToBeAUrl) {
    EXPECT_EQ(url_to_show("gopher://x"), "gopher://x");
    EXPECT_EQ(url_to_show("ftp://ann:" + secret + "@host/x"), "ftp://[hidden]@host/x");
    EXPECT_EQ(url_to_show("ann:" + secret + "@host"), "[hidden]@host");
    EXPECT_EQ(url_to_show("http:/ann:" + secret + "@host"), "[hidden]@host");
    EXPECT_EQ(url_to_show("http://ann:two words " + secret + "@host"), "http://[hidden]@host");
    EXPECT_EQ(url_to_show("http://ann:a\n" + secret + "@host"), "http://[hidden]@host");
    EXPECT_EQ(url_to_show("ftp://host/?token=" + secret), "ftp://host/?[hidden]");
}

TEST(Secrets, WhatIsKnownIsHiddenHoweverItIsWritten) {
    const Secrets secrets;
    secrets.add("Pa ss/wör\nd\"%1");
    for (const std::string text :
         {"Pa ss/wör\nd\"%1", "PA SS/WöR\nD\"%1", "Pa%20ss%2Fw%C3%B6r%0Ad%22%251",
          "Pa+ss%2fw%c3%b6r%0ad%22%251", "Pa ss/wör\\nd\\\"%1", "Pa ss\\/wör\\nd\\u0022%1",
          "Pa ss/w\\xc3\\xb6r\\x0ad\"%1"}) {
        EXPECT_EQ(secrets.hide("<" + text + ">"), "<[hidden]>");
    }
    EXPECT_EQ(secrets.hide("Pa ss/wör d"), "Pa ss/wör d");
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): copies are what is tested
    const Secrets same = secrets;
    same.add("known-to-both");
    EXPECT_EQ(secrets.hide("known-to-both"), "[hidden]");
}

TEST(Secrets, ShortOnesAreWordsOrNothing) {
    const Secrets secrets;
    secrets.add("lab");
    secrets.add("admin1");
    EXPECT_EQ(secrets.hide("lab"), "lab");
    EXPECT_EQ(secrets.hide("sysadmin12 admin1 (Admin1)"), "sysadmin12 [hidden] ([hidden])");
}

TEST(Secrets, LoginsAndUrls) {
    const Secrets secrets;
    secrets.add_login("ann", "open sesame");
    EXPECT_EQ(secrets.hide("open sesame YW5uOm9wZW4gc2VzYW1l ann"), "[hidden] [hidden] ann");
    secrets.add_url("http://bob:p%40ss%2Fword@host/repo?arch=x86&token=0123456789");
    EXPECT_EQ(secrets.hide("p@ss/word p%40ss%2fword 0123456789 x86 bob"),
              "[hidden] [hidden] [hidden] x86 bob");
    secrets.add_url("https://abcdefgh@host");
    EXPECT_EQ(secrets.hide("abcdefgh host"), "[hidden] host");
    secrets.add_url("");
    secrets.add_url("file:///srv/repo");
    EXPECT_EQ(secrets.hide("/srv/repo"), "/srv/repo");
}

}  // namespace
}  // namespace edgegpu
