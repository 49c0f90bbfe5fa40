#include <gtest/gtest.h>

#include "support/error.hpp"
#include "transfer/arrival.hpp"
#include "transfer/failure_text.hpp"
#include "transfer/mirrors.hpp"
#include "transfer/url.hpp"

namespace edgegpu {
namespace {

TEST(TransferUrl, LocationsAreBelowTheirMirror) {
    EXPECT_EQ(join_url("http://h/r", "a/b.rpm"), "http://h/r/a/b.rpm");
    EXPECT_EQ(join_url("http://h/r//", "/a"), "http://h/r/a");
    EXPECT_EQ(join_url("http://h/r?token=x/y", "a"), "http://h/r/a?token=x/y");
    EXPECT_EQ(join_url("/srv/r", "a b#c"), "/srv/r/a b#c");
}

TEST(TransferUrl, WhatIsNotAllowedInAPathIsEscapedOnce) {
    EXPECT_EQ(join_url("http://h", "g++ ^1~2.rpm"), "http://h/g++%20%5E1~2.rpm");
    EXPECT_EQ(join_url("http://h", "a%2Bb"), "http://h/a%2Bb");
    EXPECT_EQ(join_url("http://h", "100%"), "http://h/100%25");
    EXPECT_EQ(join_url("http://h", "a?b#c"), "http://h/a%3Fb%23c");
    EXPECT_EQ(join_url("http://h", "a\r\nX: y"), "http://h/a%0D%0AX:%20y");
    EXPECT_EQ(join_url("http://h", "\xc3\xa4"), "http://h/%C3%A4");
}

TEST(TransferUrl, FilesOfThisMachine) {
    EXPECT_EQ(local_file("/a b"), "/a b");
    EXPECT_EQ(local_file("file:///a%20b"), "/a b");
    EXPECT_EQ(local_file("FILE://localhost/a"), "/a");
    EXPECT_EQ(local_file("file:/a"), "/a");
    for (const char* url : {"file://other/a", "file:a", "http://h/a", "a", ""}) {
        EXPECT_EQ(local_file(url), std::nullopt) << url;
    }
}

TEST(TransferUrl, OriginIsSchemeHostAndPort) {
    EXPECT_EQ(origin_of("https://u:p@Host/x"), origin_of("https://host:443/"));
    EXPECT_NE(origin_of("http://host/"), origin_of("https://host/"));
    EXPECT_NE(origin_of("http://host/"), origin_of("http://host:8080/"));
    EXPECT_NE(origin_of("http://host/"), origin_of("http://host.other/"));
    EXPECT_EQ(origin_of("file:///host"), "");
    EXPECT_EQ(origin_of(""), "");
}

TEST(TransferUrl, PasswordsAreNotShown) {
    EXPECT_EQ(redacted("https://user:pass@host:1/a@b?c@d"), "https://host:1/a@b?…");
    EXPECT_EQ(redacted("https://us@er:p@host"), "https://host");
    EXPECT_EQ(redacted("/a@b"), "/a@b");
    // Passwords that make a URL malformed.
    EXPECT_EQ(redacted("http://user:pa/ss@host/a"), "http://host/a");
    EXPECT_EQ(redacted("http://user:p?s#s@host/a"), "http://host/a");
    EXPECT_EQ(redacted("https://u:p@host/a?token=s3cret&b"), "https://host/a?…");
    EXPECT_EQ(redacted("https://host/a=b?c"), "https://host/a=b?…");
    EXPECT_EQ(redacted("https://host/a?Zm9vYmFy"), "https://host/a?…");
    EXPECT_EQ(redacted("https://host/a?"), "https://host/a?");
}

TEST(TransferFailures, PasswordsOfProxiesAreNotShown) {
    const std::string reason = "the proxy's URL is malformed or of a scheme that is not supported";
    EXPECT_EQ(curl_problem(CURLE_COULDNT_CONNECT,
                           "Unsupported proxy scheme for 'ftp://p:pr0xy@h:1'", false)
                  .reason,
              reason);
    EXPECT_EQ(curl_problem(CURLE_COULDNT_RESOLVE_PROXY,
                           "Unsupported proxy syntax in 'p:pr0xy@h h': Bad hostname", false)
                  .reason,
              reason);
    EXPECT_EQ(curl_problem(CURLE_NOT_BUILT_IN, "Unsupported proxy 'https://p:pr0xy@h'", false)
                  .reason.find("pr0xy"),
              std::string::npos);
}

TEST(TransferMirrors, WebPagesAreKnownByTheirBeginning) {
    for (const char* page :
         {"<html>", "<HTML lang='x'>", "\xef\xbb\xbf\r\n <!DOCTYPE HTML PUBLIC"}) {
        EXPECT_TRUE(looks_like_web_page(page)) << page;
    }
    for (const char* other : {"", " ", "<", "<?xml version='1.0'?><repomd>", "<!doctype repomd"}) {
        EXPECT_FALSE(looks_like_web_page(other)) << other;
    }
}

TEST(TransferMirrors, ListsLeaveOutWhatIsNoMirror) {
    using List = std::vector<std::string>;
    EXPECT_EQ(read_mirrorlist("http://a/\n#http://b\n\n  https://c \r\nftp://d\nfile:///e", false),
              (List{"http://a/", "https://c"}));
    EXPECT_EQ(read_mirrorlist("file:///e\n/f", true), (List{"file:///e", "/f"}));
    EXPECT_EQ(read_mirrorlist("", true), List{});
    EXPECT_EQ(read_mirrorlist(std::string("\0\xff\n", 3), true), List{});
}

TEST(TransferMirrors, DamagedMetalinksAreErrors) {
    const Repository repository;
    const std::string good =
        "<?xml version=\"1.0\"?><metalink xmlns=\"http://www.metalinker.org/\"><files>"
        "<file name=\"repomd.xml\"><verification><hash type=\"sha256\">" +
        std::string(64, 'a') +
        "</hash></verification><resources><url protocol=\"https\" preference=\"1\">"
        "https://h/r/repodata/repomd.xml</url></resources></file></files></metalink>";
    EXPECT_EQ(read_metalink(repository, good).mirrors, std::vector<std::string>{"https://h/r/"});
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 1}) {
        EXPECT_THROW((void)read_metalink(repository, good.substr(0, size)), Error) << size;
    }
    std::string bad = good;
    EXPECT_THROW((void)read_metalink(repository, bad.replace(bad.find("aaa"), 3, "xyz")), Error);
    std::string other = good;
    EXPECT_THROW(
        (void)read_metalink(repository, other.replace(other.find("repomd.xml"), 10, "other.file")),
        Error);
}

TEST(TransferFailures, WhatMayPassIsTold) {
    using Kind = TransferFailureKind;
    EXPECT_EQ(status_kind(404), Kind::missing);
    EXPECT_EQ(status_kind(410), Kind::missing);
    EXPECT_EQ(status_kind(429), Kind::broken);
    EXPECT_EQ(status_kind(503), Kind::broken);
    EXPECT_EQ(status_kind(401), Kind::refused);
    EXPECT_EQ(status_kind(403), Kind::refused);
    EXPECT_EQ(status_reason(418), "answers 418");
    EXPECT_EQ(curl_problem(CURLE_COULDNT_CONNECT, "", false).kind, Kind::unreachable);
    EXPECT_EQ(curl_problem(CURLE_RECV_ERROR, "", true).kind, Kind::broken);
    EXPECT_EQ(curl_problem(CURLE_PEER_FAILED_VERIFICATION, "", false).kind, Kind::refused);
}

}  // namespace
}  // namespace edgegpu
