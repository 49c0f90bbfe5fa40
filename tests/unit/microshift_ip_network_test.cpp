#include "microshift/ip_network.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(IpNetworkTest, ReadsAddresses) {
    EXPECT_EQ(IpAddress::parse("10.42.0.1")->family, IpFamily::v4);
    EXPECT_EQ(IpAddress::parse("fd01::1")->family, IpFamily::v6);
    EXPECT_EQ(IpAddress::parse("::ffff:10.42.0.1"), IpAddress::parse("10.42.0.1"));
    for (const std::string& text :
         {std::string(), std::string("10.42.0"), std::string("10.42.0.256"),
          std::string("010.42.0.1"), std::string("fd01::1%eth0"), std::string("10.42.0.1\0", 10),
          std::string(" 10.42.0.1"), std::string(100000, ':')}) {
        EXPECT_FALSE(IpAddress::parse(text)) << text.substr(0, 40);
    }
}

TEST(IpNetworkTest, ReadsNetworks) {
    EXPECT_EQ(IpNetwork::parse("10.42.0.0/16")->host_bits(), 16U);
    EXPECT_EQ(IpNetwork::parse("fd01::/48")->host_bits(), 80U);
    EXPECT_EQ(IpNetwork::parse("::/0")->host_bits(), 128U);
    for (const char* text :
         {"", "/", "10.42.0.0", "10.42.0.0/", "10.42.0.0/33", "10.42.0.0/-1", "10.42.0.0/16x",
          "10.42.0.0/16/16", "fd01::/129", "10.42.0.0/ 16", "10.42.0.0/99999999999"}) {
        EXPECT_FALSE(IpNetwork::parse(text)) << text;
    }
}

TEST(IpNetworkTest, ComparesWhatThePrefixCovers) {
    const IpNetwork network = IpNetwork::parse("10.42.0.0/15").value();
    EXPECT_TRUE(network.contains(IpAddress::parse("10.43.255.255").value()));
    EXPECT_FALSE(network.contains(IpAddress::parse("10.44.0.0").value()));
    EXPECT_FALSE(network.contains(IpAddress::parse("fd01::").value()));
    EXPECT_TRUE(network.same_as(IpNetwork::parse("10.43.7.0/15").value()));
    EXPECT_FALSE(network.same_as(IpNetwork::parse("10.42.0.0/16").value()));
    EXPECT_TRUE(IpNetwork::parse("FD01:0::/48")->same_as(IpNetwork::parse("fd01::/48").value()));
}

}  // namespace
}  // namespace edgegpu
