#include "upload/contents.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "delta/static_delta.hpp"

namespace edgegpu {
namespace {

const std::string step_object = "objects/ab/" + std::string(62, 'c');
const std::string step_from(64, '1');
const std::string step_to(64, 'f');

TEST(UploadContents, EachFileThatClientsReadHasAStep) {
    for (const auto& [path, step] :
         {std::pair{step_object + ".filez", UploadStep::contents},
          {step_object + ".dirmeta", UploadStep::contents},
          {step_object + ".dirtree", UploadStep::directories},
          {step_object + ".commit", UploadStep::commits},
          {step_object + ".commitmeta", UploadStep::commit_metadata},
          {step_object + ".tombstone-commit", UploadStep::commit_metadata},
          {delta_path(step_from, step_to) + "/0", UploadStep::delta_parts},
          {delta_path(step_from, step_to) + "/12", UploadStep::delta_parts},
          {delta_path("", step_to) + "/superblock", UploadStep::superblocks},
          {index_path(step_to), UploadStep::delta_indexes},
          {std::string("config"), UploadStep::config},
          {std::string("refs/heads/a/b-c.d"), UploadStep::refs},
          {std::string("summary"), UploadStep::summary},
          {std::string("summary.sig"), UploadStep::summary}}) {
        EXPECT_EQ(step_of(path), step) << path;
    }
}

TEST(UploadContents, NothingElseHas) {
    for (const std::string& path : {std::string(),
                                    std::string("tmp/x"),
                                    std::string(".lock"),
                                    "state/" + step_from + ".commitpartial",
                                    std::string("edgegpu-locks/a.lock"),
                                    std::string("refs/remotes/edge/a"),
                                    std::string("refs/heads/"),
                                    std::string("refs/heads/../../config"),
                                    std::string("refs/heads/.new-a"),
                                    std::string("config/x"),
                                    std::string("summary.sig.x"),
                                    step_object,
                                    step_object + ".",
                                    step_object + ".file",
                                    step_object + ".filez.x",
                                    step_object + "d.filez",
                                    "objects/AB/" + std::string(62, 'c') + ".filez",
                                    "objects/../" + step_object + ".filez",
                                    delta_path(step_from, step_to),
                                    delta_path(step_from, step_to) + "/superblock.x",
                                    delta_path(step_from, step_to) + "/../superblock",
                                    std::string("deltas/ab/c/superblock"),
                                    index_path(step_to) + ".x",
                                    std::string("index.html")}) {
        EXPECT_EQ(step_of(path), std::nullopt) << path;
    }
}

TEST(UploadContents, DeltasNameTheirCommits) {
    const std::string slashes = "ff" + std::string(62, 'f');
    for (const std::string& commit : {step_from, slashes}) {
        const DeltaCommits both = commits_of_delta(delta_path(commit, step_to) + "/0");
        EXPECT_EQ(both.from, commit);
        EXPECT_EQ(both.to, step_to);
        const DeltaCommits alone = commits_of_delta(delta_path("", commit) + "/superblock");
        EXPECT_EQ(alone.from, "");
        EXPECT_EQ(alone.to, commit);
    }
    EXPECT_EQ(superblock_of_part(delta_path(step_from, step_to) + "/3"),
              delta_path(step_from, step_to) + "/superblock");
}

TEST(UploadContents, CachesKeepOnlyWhatKeepsItsContent) {
    for (UploadStep step = UploadStep::contents; step <= last_step;
         step = static_cast<UploadStep>(static_cast<int>(step) + 1)) {
        EXPECT_EQ(is_immutable(step), step <= UploadStep::commits) << name_of(step);
        EXPECT_EQ(cache_control_of(step),
                  step <= UploadStep::commits ? "public, max-age=31536000, immutable" : "no-cache")
            << name_of(step);
    }
}

TEST(UploadContents, ObjectsAreNamedByTheirChecksums) {
    const std::string file = object_file(step_from, "dirtree");
    EXPECT_EQ(file, "objects/11/" + std::string(62, '1') + ".dirtree");
    EXPECT_EQ(checksum_of_object(file), step_from);
    EXPECT_EQ(extension_of_object(file), "dirtree");
}

}  // namespace
}  // namespace edgegpu
