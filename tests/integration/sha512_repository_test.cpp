// The lab's nvidia-sha512, which is made as NVIDIA's container toolkit repository is: SHA-512
// checksums, packages signed by a subkey that expired since, both signatures checked.

#include <gtest/gtest.h>

#include <algorithm>

#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class Sha512Repository : public testing::Test {
protected:
    Sha512Repository() : console_(Color::never, true) {
        ctx_.cache = work_.path() / "cache";
        ctx_.console = &console_;
        Repository repository;
        repository.id = "nvidia";
        repository.baseurls = {"file://" + (lab() / "repos/nvidia-sha512").string()};
        repository.gpgkeys = {(lab() / "RPM-GPG-KEY-lab-nvidia").string()};
        repository.location = {"/blueprint.toml", 3, 1};
        blueprint_.path = "/blueprint.toml";
        blueprint_.repositories.push_back(repository);
        blueprint_.packages.push_back({"libnvidia-container1", {"/blueprint.toml", 9, 5}});
    }

    void SetUp() override {
        if (!fs::exists(lab() / "repos/nvidia-sha512")) {
            GTEST_SKIP() << "the lab is not made (tests/lab/make-lab)";
        }
    }

    static fs::path lab() { return fs::path(EDGEGPU_SOURCE_DIR) / "build/lab"; }

    PackageFiles fetch() {
        const Resolution resolution = resolve(ctx_, blueprint_);
        return fetch_packages(ctx_, blueprint_, resolution);
    }

    test::TemporaryDirectory work_;
    Console console_;
    Context ctx_;
    Blueprint blueprint_;
};

TEST_F(Sha512Repository, ResolvesAndFetchesWithBothSignaturesChecked) {
    ASSERT_TRUE(blueprint_.repositories[0].gpgcheck);
    ASSERT_TRUE(blueprint_.repositories[0].repo_gpgcheck);
    const PackageFiles files = fetch();
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].package.nevra.name, "libnvidia-container1");
}

TEST_F(Sha512Repository, TheLabsOwnKeyIsNoKeyOfIt) {
    blueprint_.repositories[0].gpgkeys = {(lab() / "RPM-GPG-KEY-lab").string()};
    blueprint_.repositories[0].repo_gpgcheck = false;
    try {
        (void)fetch();
        FAIL() << "nothing was thrown";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_TRUE(problem.message().ends_with(" was not signed with a key of its repository"))
            << problem.message();
    }
}

}  // namespace
}  // namespace edgegpu
