// The lab's nvidia-sha512, which is made as NVIDIA's container toolkit repository is: SHA-512
// checksums, packages signed by a subkey that expired since, both signatures checked.

#include <gtest/gtest.h>

#include <algorithm>

#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class Sha512Repository : public testing::Test {
protected:
    Sha512Repository() : console_(Color::never, true) {
        ctx_.cache = work_.path() / "cache";
        ctx_.console = &console_;
        blueprint_.path = "/blueprint.toml";
        Repository nvidia = repository("nvidia", lab() / "repos/nvidia-sha512");
        nvidia.gpgkeys = {(lab() / "RPM-GPG-KEY-lab-nvidia").string()};
        // Every image has a kernel; this one brings what the library asks of glibc, too.
        test::build_rpm(work_.path() / "base",
                        test::simple_spec("kernel-core", "6.1.0", "1",
                                          "Provides: kernel-uname-r = 6.1.0-1.x86_64\n"
                                          "Provides: rtld(GNU_HASH)\n"));
        test::createrepo(work_.path() / "base");
        Repository base = repository("base", work_.path() / "base");
        base.gpgcheck = base.repo_gpgcheck = false;
        blueprint_.repositories = {nvidia, base};
        blueprint_.packages.push_back({"libnvidia-container1", {"/blueprint.toml", 9, 5}});
    }

    void SetUp() override {
        if (!fs::exists(lab() / "repos/nvidia-sha512")) {
            GTEST_SKIP() << "the lab is not made (tests/lab/make-lab)";
        }
    }

    static Repository repository(const std::string& id, const fs::path& place) {
        Repository repository;
        repository.id = id;
        repository.baseurls = {"file://" + place.string()};
        repository.location = {"/blueprint.toml", 3, 1};
        return repository;
    }

    static fs::path lab() { return fs::path(EDGEGPU_SOURCE_DIR) / "build/lab"; }

    PackageFiles fetch() {
        const Resolution resolution = resolve(ctx_, blueprint_);
        return fetch_packages(ctx_, make_plan(resolution, blueprint_.repositories)).image;
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
    ASSERT_EQ(files.size(), 2U);
    EXPECT_TRUE(std::any_of(files.begin(), files.end(), [](const PackageFile& file) {
        return file.package.nevra.name == "libnvidia-container1" &&
               file.package.repository == "nvidia";
    }));
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
