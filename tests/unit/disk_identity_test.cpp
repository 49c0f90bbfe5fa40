#include "disk/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace edgegpu {
namespace {

using ::testing::MatchesRegex;

const std::string identity_commit(64, 'c');

TEST(DiskIdentity, UuidsHaveVersion8AndTheVariantOfTheStandard) {
    const DiskIdentity identity(identity_commit, {});
    for (int i = 0; i < 100; ++i) {
        EXPECT_THAT(
            identity.uuid("purpose " + std::to_string(i)),
            MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    }
}

TEST(DiskIdentity, IsThatOfCommitAndRequest) {
    DiskRequest request;
    request.kernel_arguments = {"a", "b"};
    request.injection = {{Injected::Type::file, "/etc/x", "content"}};
    const std::string uuid = DiskIdentity(identity_commit, request).uuid("disk");
    EXPECT_EQ(DiskIdentity(identity_commit, request).uuid("disk"), uuid);
    EXPECT_NE(DiskIdentity(identity_commit, request).uuid("partition root"), uuid);
    EXPECT_NE(DiskIdentity(std::string(64, 'd'), request).uuid("disk"), uuid);
    DiskRequest other = request;
    other.kernel_arguments = {"a b"};
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
    other = request;
    other.injection[0].content = "other";
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
    other = request;
    other.injection[0].mode = 0600;
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
    other = request;
    other.size = 1;
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
    other = request;
    other.encryption = Encryption::tpm2;
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
    request.volumes = other.volumes = {{1, "", {}, ""}};
    request.encryption = Encryption::tpm2;
    EXPECT_EQ(DiskIdentity(identity_commit, other).uuid("disk"),
              DiskIdentity(identity_commit, request).uuid("disk"));
    other.volumes[0].group = "site";
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"),
              DiskIdentity(identity_commit, request).uuid("disk"));
    other.encryption = Encryption::none;
    EXPECT_NE(DiskIdentity(identity_commit, other).uuid("disk"), uuid);
}

TEST(DiskIdentity, FatVolumesHaveANumber) {
    const DiskIdentity identity(identity_commit, {});
    EXPECT_NE(identity.fat_volume_id("esp"), 0U);
    EXPECT_NE(identity.fat_volume_id("esp"), identity.fat_volume_id("other"));
    EXPECT_EQ(fat_volume_name(0x0012abcdU), "0012-ABCD");
}

}  // namespace
}  // namespace edgegpu
