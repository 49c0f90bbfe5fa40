#include "transfer/scheduler.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu::test {
namespace {

class Scheduler : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        repository.id = "local";
        repository.location = {"b.toml", 3, 1};
        make_directories(scratch / "empty");
        host_file("full/a", "a");
    }
    [[nodiscard]] WantedFile wanted(const std::string& location) const {
        WantedFile file;
        file.location = location;
        file.destination = ctx.cache / "got";
        file.promise.limit = 100;
        return file;
    }
    [[nodiscard]] std::string mirror(const std::string& name) const {
        return "file://" + (scratch / name).string();
    }

    Repository repository;
};

TEST_F(Scheduler, TheFileThatEndsTheTransferIsNotOneThatWaits) {
    // The first file waits for its second mirror when the other one, which has a single address,
    // fails.
    const std::vector<TransferResult> results =
        transfer(ctx, repository, {mirror("empty"), mirror("full")},
                 {wanted("a"), wanted(mirror("full") + "/b")});
    EXPECT_EQ(results[0].failures.size(), 1U);
    EXPECT_FALSE(results[0].done);
    EXPECT_FALSE(results[0].given_up);
    EXPECT_TRUE(results[1].given_up);
    EXPECT_EQ(results[1].failures.size(), 1U);
}

TEST_F(Scheduler, AFileOfTheSecondMirrorIsNotGivenUp) {
    const std::vector<TransferResult> results =
        transfer(ctx, repository, {mirror("empty"), mirror("full")}, {wanted("a")});
    EXPECT_TRUE(results[0].done);
    EXPECT_FALSE(results[0].given_up);
    EXPECT_EQ(results[0].mirror, 1U);
}

TEST_F(Scheduler, WithoutMirrorsAFileIsGivenUp) {
    EXPECT_TRUE(transfer(ctx, repository, {}, {wanted("a")}).front().given_up);
}

}  // namespace
}  // namespace edgegpu::test
