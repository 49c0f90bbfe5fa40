#include "support/text/dns_name.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(DnsName, ALabelHasNoDotsAndNoHyphensAtItsEnds) {
    for (const char* good : {"a", "0", "a-b", "a--0"}) {
        EXPECT_TRUE(is_dns_label(good)) << good;
    }
    for (const char* bad : {"", "-a", "a-", "A", "a.b", "a_b", "ä"}) {
        EXPECT_FALSE(is_dns_label(bad)) << bad;
    }
    EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
    EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
}

TEST(DnsName, OfASubdomainTheWholeIsLimited) {
    for (const char* good : {"a", "a.b-c.0", "a.0"}) {
        EXPECT_TRUE(is_dns_subdomain(good)) << good;
    }
    for (const char* bad : {"", ".", "a.", ".a", "a..b", "a.-b", "a.B"}) {
        EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
    }
    EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a')));
    EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

}  // namespace
}  // namespace edgegpu
