#include "transfer/address_guard.hpp"

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace edgegpu {
namespace {

// What is connected to, and what is not, is shown by integration/private_addresses_test.
bool is_public(const std::string& text) {
    struct sockaddr_storage address {};
    auto& v4 = reinterpret_cast<struct sockaddr_in&>(address);
    auto& v6 = reinterpret_cast<struct sockaddr_in6&>(address);
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
        address.ss_family = AF_INET;
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
        address.ss_family = AF_INET6;
    } else {
        ADD_FAILURE() << text;
    }
    return is_public_address(reinterpret_cast<const struct sockaddr&>(address));
}

TEST(AddressGuard, AddressesOfTheInternet) {
    for (const char* address :
         {"1.1.1.1",        "9.255.255.255",  "11.0.0.0",         "100.63.255.255",
          "100.128.0.0",    "126.1.2.3",      "128.0.0.1",        "169.253.1.1",
          "172.15.255.255", "172.32.0.0",     "192.167.1.1",      "192.169.0.0",
          "198.17.0.1",     "198.20.0.1",     "223.255.255.254",  "2606:4700::1111",
          "2a00:1450::1",   "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"}) {
        EXPECT_TRUE(is_public(address)) << address;
    }
}

TEST(AddressGuard, AllOthers) {
    for (const char* address : {"0.0.0.0",
                                "0.1.2.3",
                                "10.0.0.1",
                                "100.64.0.1",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.255",
                                "169.254.169.254",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.1",
                                "192.0.2.1",
                                "192.168.1.1",
                                "198.18.0.1",
                                "198.19.255.255",
                                "198.51.100.1",
                                "203.0.113.1",
                                "224.0.0.1",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::ffff:127.0.0.1",
                                "::ffff:10.0.0.1",
                                "64:ff9b::7f00:1",
                                "2002:7f00:1::1",
                                "fe80::1",
                                "fec0::1",
                                "fc00::1",
                                "fd12:3456::1",
                                "ff02::1",
                                "2001:db8::1",
                                "2001::1",
                                "100::1"}) {
        EXPECT_FALSE(is_public(address)) << address;
    }
}

}  // namespace
}  // namespace edgegpu
