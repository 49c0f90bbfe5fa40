#include "upload/remote_name.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(RemoteName, ARemoteHasAColonBeforeAnySlash) {
    for (const char* text : {"s3:", "s3:bucket/path", ":sftp,host=a:path", "s3,acl=public-read:b",
                             ":s3,endpoint='http://a:9000':bucket"}) {
        EXPECT_TRUE(is_remote(text)) << text;
    }
    for (const char* text :
         {"", ":", "s3", "/srv/a", "/srv/a:b", "a/b:c", "-v:x", "--config=x:y"}) {
        EXPECT_FALSE(is_remote(text)) << text;
    }
}

TEST(RemoteName, ParametersAreNotShown) {
    EXPECT_EQ(shown_remote("s3:bucket/path"), "s3:bucket/path");
    EXPECT_EQ(shown_remote(":sftp,host=a,pass=secret:path"), ":sftp,…:path");
    EXPECT_EQ(shown_remote(":s3,secret_access_key=\"a:b,c\":bucket"), ":s3,…:bucket");
    EXPECT_EQ(shown_remote(":sftp,pass=secret"), ":sftp,…");
}

TEST(RemoteName, SecretsAreKnownByTheirNames) {
    EXPECT_EQ(secrets_of_remote(":sftp,host=a,user=b,pass=secret:path"),
              std::vector<std::string>{"secret"});
    EXPECT_EQ(secrets_of_remote(":s3,access_key_id=id,secret_access_key='a:b,c':bucket"),
              (std::vector<std::string>{"'a:b,c'", "a:b,c", "id"}));
    EXPECT_EQ(secrets_of_remote(R"(:sftp,pass="TOP""SECRET":edge)"),
              (std::vector<std::string>{R"("TOP""SECRET")", R"(TOP"SECRET)"}));
    EXPECT_TRUE(secrets_of_remote("s3:bucket,pass=x").empty());
    EXPECT_TRUE(secrets_of_remote(":sftp,pass:x").empty());
}

}  // namespace
}  // namespace edgegpu
