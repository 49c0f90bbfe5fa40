#include <chrono>

#include <gmock/gmock.h>

#include "support/error.hpp"
#include "unit/rclone_stand_in.hpp"

namespace edgegpu::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class RcloneListing : public RcloneStandIn {};

TEST_F(RcloneListing, FilesHaveSizesAndDirectoriesEndWithASlash) {
    answer("lsf",
           "40;config\n-1;objects/\n0;refs/heads/edge/a\n4294967296;a;b\n;deltas/\n"
           "junk\nx1;no size\n");
    EXPECT_THAT(remote().list(),
                ElementsAre(Pair("a;b", 4294967296U), Pair("config", 40U), Pair("deltas/", 0U),
                            Pair("objects/", 0U), Pair("refs/heads/edge/a", 0U)));
    EXPECT_THAT(calls(), HasSubstr("--format=sp --separator=; -- s3:bucket/repo\n"));
    static_cast<void>(remote().list_directory("edgegpu-upload"));
    EXPECT_THAT(calls(), HasSubstr("-- s3:bucket/repo/edgegpu-upload\n"));
}

TEST_F(RcloneListing, ADirectoryThatIsNotThereIsEmptyUnlessAnotherOneIs) {
    const std::string missing = R"({"level":"error","msg":"error listing: AccessDenied"})"
                                "\n";
    answer("lsf", "", 3);
    EXPECT_THAT(remote().list(), IsEmpty());
    // Half of a list would have the rest sent again, or removed.
    for (const int status : {1, 3}) {
        answer("lsf", "40;config\n", status, missing);
        EXPECT_THROW(static_cast<void>(remote().list()), Error) << status;
    }
}

TEST_F(RcloneListing, ServersSayWhetherTheyHaveHashes) {
    for (const auto& [features, has] : {std::pair{R"({"Hashes": ["md5"]})", true},
                                        {R"({"Hashes": []})", false},
                                        {R"({"Hashes": null})", false},
                                        {"{}", false},
                                        {"[1]", false},
                                        {"no JSON", false}}) {
        answer("backend", features);
        EXPECT_EQ(remote().has_hashes(), has) << features;
    }
}

TEST_F(RcloneListing, HeadersAreReadWhereTheServerKeepsThem) {
    answer("lsjson", R"([{"Path": "summary", "Metadata": {"cache-control": "no-cache"}},
                         {"Path": "config", "Metadata": {"mtime": "x"}},
                         {"Path": "refs/heads/a", "Metadata": {"cache-control": 5}},
                         {"Path": 7}, "odd", {"Path": "bare"}])");
    for (const char* features :
         {"{}", "no JSON", R"({"MetadataInfo": null})", R"({"MetadataInfo": {"System": {}}})"}) {
        answer("backend", features);
        EXPECT_THAT(remote().cache_control({"summary"}), IsEmpty()) << features;
    }
    EXPECT_THAT(calls(), Not(HasSubstr("lsjson")));
    answer("backend", R"({"MetadataInfo": {"System": {"cache-control": {}}}})");
    EXPECT_THAT(remote().cache_control({}), IsEmpty()) << "asks for nothing";
    EXPECT_THAT(remote().cache_control({"summary", "config"}),
                ElementsAre(Pair("bare", ""), Pair("config", ""), Pair("refs/heads/a", ""),
                            Pair("summary", "no-cache")));
}

TEST_F(RcloneListing, TheNewestTimeIsInUtc) {
    answer("lsf", "2026-01-31 22:00:01\n2026-02-01 00:00:00\nodd\n2025-12-31 23:59:59\n");
    EXPECT_EQ(remote().newest({"summary"}), std::chrono::system_clock::from_time_t(1'769'904'000));
    answer("lsf", "");
    EXPECT_EQ(remote().newest({"summary"}), std::nullopt);
}

TEST_F(RcloneListing, OnlyWhatIsSaidToBeEqualIs) {
    answer("check", "= a\n* b\n+ c\n", 1,
           R"({"level":"error","msg":"2 differences found"})"
           "\n");
    EXPECT_THAT(remote().differing("/x", {"a", "b", "c", "d"}, Comparison::known),
                ElementsAre("b", "c", "d"));
    EXPECT_THAT(calls(), Not(HasSubstr("--download")));
    answer("backend", R"({"Hashes": []})");
    static_cast<void>(remote().differing("/x", {"a"}, Comparison::content));
    EXPECT_THAT(calls(), HasSubstr("--download"));
}

TEST_F(RcloneListing, S3IsKnownByWhatRcloneCallsIt) {
    for (const auto& [features, is] : {std::pair{R"({"String": "S3 bucket b path c"})", true},
                                       {R"({"String": "webdav root 'edge/repo'"})", false},
                                       {R"({"String": 3})", false},
                                       {"no JSON", false}}) {
        answer("backend", features);
        EXPECT_EQ(remote().is_s3(), is) << features;
    }
}

TEST_F(RcloneListing, ObjectsAreSentWholeUnlessTheUserSaysOtherwise) {
    const auto cutoff = [&](const std::string& backend, const std::string& configuration) {
        answer("backend", backend);
        answer("config", configuration);
        answer("copy", "");
        EXPECT_FALSE(remote().put(scratch(), {"config"}, "Cache-Control: no-cache", {}));
        return read_file(scratch() / "copy.cutoff");
    };
    const std::string in_parts = R"({"s3": {"type": "s3", "upload_cutoff": "90M"}})";
    EXPECT_EQ(cutoff(R"({"Name": "s3"})", R"({"s3": {"type": "s3"}})"), "5G");
    EXPECT_EQ(cutoff(R"({"Name": "other"})", in_parts), "5G");
    EXPECT_EQ(cutoff(R"({"Name": "s3"})", in_parts), "");
    EXPECT_EQ(cutoff("no JSON", "no JSON"), "5G");
    ::setenv("RCLONE_S3_UPLOAD_CUTOFF", "7M", 1);
    EXPECT_EQ(cutoff(R"({"Name": "s3"})", "{}"), "7M");
    ::unsetenv("RCLONE_S3_UPLOAD_CUTOFF");
}

}  // namespace
}  // namespace edgegpu::test
