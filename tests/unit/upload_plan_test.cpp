#include "upload/upload_plan.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <gmock/gmock.h>

#include "delta/static_delta.hpp"
#include "unit/rclone_stand_in.hpp"

namespace edgegpu::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string gone(64, 'e');

class UploadPlans : public RcloneStandIn {
protected:
    void SetUp() override {
        RcloneStandIn::SetUp();
        fixture.add_file("/usr/file", "content");
        commit_ = fixture.build().checksum;
        ref_ = "refs/heads/" + fixture.blueprint.ostree.ref;
        answer("check", "");
    }
    /// A file of the repository.
    void file(const std::string& path, const std::string& content) const {
        std::filesystem::create_directories((fixture.repo() / path).parent_path());
        write_file(fixture.repo() / path, content);
    }
    /// The repository as it is now, which is also what the remote has, with each file equal.
    RemoteState same() {
        local_.reset();
        local_.emplace(fixture.ctx(), fixture.repo(), LockWait());
        RemoteState there{local_->files(), {}};
        std::string equal;
        for (const auto& [path, size] : local_->files()) {
            equal += "= " + path + '\n';
            if (step_of(path) >= UploadStep::config) {
                there.heads[path] = local_->content(path);
            }
        }
        answer("check", equal);
        return there;
    }
    [[nodiscard]] UploadPlan plan(const RemoteState& there, bool verify = false) const {
        return plan_upload(fixture.ctx(), *local_, remote(), there, verify);
    }
    /// All that is missing, in the order in which it is sent.
    static std::vector<std::string> missing(const UploadPlan& plan) {
        std::vector<std::string> all;
        for (const auto& [step, paths] : plan.missing) {
            all.insert(all.end(), paths.begin(), paths.end());
        }
        return all;
    }

    // NOLINTBEGIN(*-non-private-*)
    std::optional<PublishedState> local_;
    std::string commit_;
    std::string ref_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(UploadPlans, AnEmptyRemoteLacksEverythingInTheOrderOfSteps) {
    static_cast<void>(same());
    const UploadPlan all = plan({});
    EXPECT_EQ(missing(all).size(), local_->files().size());
    const std::vector<std::string> order = missing(all);
    const auto place = [&](const std::string& path) {
        return std::ranges::find(order, path) - order.begin();
    };
    EXPECT_LT(place(object_file(commit_, "commit")), place("config"));
    EXPECT_LT(place("config"), place(ref_));
    EXPECT_LT(place(ref_), place("summary"));
    EXPECT_LT(place("summary"), static_cast<std::ptrdiff_t>(order.size()));
    EXPECT_EQ(step_of(order.front()), UploadStep::contents);
    EXPECT_TRUE(all.changes_heads());
    EXPECT_THAT(all.superfluous, IsEmpty());
}

TEST_F(UploadPlans, WhatIsThereIsNotSentAgain) {
    const RemoteState there = same();
    const UploadPlan nothing = plan(there);
    EXPECT_THAT(missing(nothing), IsEmpty());
    EXPECT_FALSE(nothing.changes_heads());
    EXPECT_THAT(asked(), Not(HasSubstr(".filez"))) << "a ref there needs them";
    EXPECT_THAT(missing(plan(there, true)), IsEmpty());
    EXPECT_THAT(asked(), HasSubstr(".filez"));
}

TEST_F(UploadPlans, SizesThatDifferAreEnoughAndHeadsAreComparedByContent) {
    RemoteState there = same();
    const std::string object = object_file(commit_, "commit");
    there.files[object] += 1;
    // As long as the other one.
    there.heads["summary"].back() ^= 1;
    const UploadPlan two = plan(there);
    EXPECT_THAT(missing(two), ElementsAre(object, "summary"));
    EXPECT_TRUE(two.changes_heads());
}

TEST_F(UploadPlans, WithoutARefThereItsObjectsAreDoubted) {
    RemoteState there = same();
    there.files.erase(ref_);
    there.heads.erase(ref_);
    const std::string object = object_file(commit_, "commit");
    std::string equal;
    for (const auto& [path, size] : local_->files()) {
        equal += (path == object ? "* " : "= ") + path + '\n';
    }
    answer("check", equal, 1);
    EXPECT_THAT(missing(plan(there)), ElementsAre(object, ref_)) << "an upload was interrupted";
    // A ref of a commit that nobody knows proves nothing.
    there.files[ref_] = gone.size() + 1;
    there.heads[ref_] = gone + '\n';
    EXPECT_THAT(missing(plan(there)), ElementsAre(object, ref_));
}

TEST_F(UploadPlans, WhatIsSuperfluousGoesBeforeWhatItRefersTo) {
    RemoteState there = same();
    const std::string delta = delta_path("", gone);
    const std::vector<std::string> others{"refs/heads/gone",
                                          index_path(gone),
                                          delta + "/superblock",
                                          delta + "/0",
                                          object_file(gone, "commitmeta"),
                                          object_file(gone, "commit"),
                                          object_file(gone, "dirtree"),
                                          object_file(gone, "filez")};
    for (const std::string& path : others) {
        there.files[path] = 3;
    }
    for (const char* kept : {"index.html", ".lock", "tmp/x", "edgegpu-locks/a.lock"}) {
        there.files[kept] = 3;
    }
    there.files["summary.sig"] = 3;
    const UploadPlan less = plan(there);
    EXPECT_EQ(less.superfluous, others);
    EXPECT_THAT(less.stale_summary, ElementsAre("summary.sig"));
    EXPECT_TRUE(less.changes_heads()) << "clients verify by it, or no more";
    EXPECT_THAT(missing(less), IsEmpty());
}

TEST_F(UploadPlans, SuperblocksThatClientsMayKnowOtherwiseComeAfterTheSummary) {
    const std::string delta = delta_path("", commit_);
    file(delta + "/superblock", "new");
    file(delta + "/0", "part");
    RemoteState there = same();
    const std::string superblock = delta + "/superblock";
    const std::string part = delta + "/0";
    for (const std::string& path : {superblock, part}) {
        there.files.erase(path);
    }
    UploadPlan fresh = plan(there);
    EXPECT_THAT(fresh.missing[UploadStep::superblocks], ElementsAre(superblock));
    EXPECT_THAT(fresh.missing[UploadStep::delta_parts], ElementsAre(part));
    EXPECT_THAT(fresh.late_superblocks, IsEmpty());
    // An index, or a summary, that names it: that of the file before it.
    there.files[index_path(commit_)] = 3;
    EXPECT_THAT(plan(there).late_superblocks, ElementsAre(superblock));
    there.files.erase(index_path(commit_));
    there.heads["summary"] += commit_;
    EXPECT_THAT(plan(there).late_superblocks, ElementsAre(superblock));
    // It is there, and another one: it goes before its parts are replaced, of which nothing is
    // known but their sizes.
    there = same();
    there.files[superblock] += 1;
    UploadPlan other = plan(there);
    EXPECT_THAT(other.replaced_superblocks, ElementsAre(superblock));
    EXPECT_THAT(other.late_superblocks, ElementsAre(superblock));
    EXPECT_THAT(other.missing[UploadStep::superblocks], IsEmpty());
    EXPECT_THAT(other.missing[UploadStep::delta_parts], IsEmpty()) << "hashes tell";
    answer("backend", R"({"Hashes": []})");
    EXPECT_THAT(plan(there).missing[UploadStep::delta_parts], ElementsAre(part));
}

TEST_F(UploadPlans, HeadersAreMended) {
    const RemoteState there = same();
    answer("backend", R"({"Hashes": ["md5"], "MetadataInfo": {"System": {"cache-control": {}}}})");
    const std::string object = object_file(commit_, "commit");
    answer("lsjson",
           R"([{"Path": "summary", "Metadata": {"cache-control": "max-age=3600"}},
               {"Path": "config", "Metadata": {"cache-control": "no-cache"}},
               {"Path": "index.html", "Metadata": {}}, {"Path": ")" +
               object +
               R"(", "Metadata": {"cache-control": "public, max-age=31536000, immutable"}}])");
    const UploadPlan some = plan(there);
    EXPECT_THAT(missing(some), ElementsAre("summary"));
    EXPECT_EQ(some.wrong_headers, 1U);
    EXPECT_THAT(asked(), Not(HasSubstr(object + '\n'))) << "a request for each file";
    static_cast<void>(plan(there, true));
    EXPECT_THAT(asked(), HasSubstr(object + '\n'));
}

}  // namespace
}  // namespace edgegpu::test
