#include "support/text/deployed_path.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(DeployedPath, FollowsTheLinksOfADeployment) {
    EXPECT_EQ(deployed_path("/home/a"), "/var/home/a");
    EXPECT_EQ(deployed_path("/home"), "/var/home");
    EXPECT_EQ(deployed_path("/root"), "/var/roothome");
    EXPECT_EQ(deployed_path("/media/usb"), "/run/media/usb");
    EXPECT_EQ(deployed_path("/usr/local/bin"), "/var/usrlocal/bin");
    for (const char* same : {"/var/lib/a", "/homes/a", "/usr/localx", "/", "home", ""}) {
        EXPECT_EQ(deployed_path(same), same);
    }
}

}  // namespace
}  // namespace edgegpu
