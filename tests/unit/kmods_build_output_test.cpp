#include "kmods/build_output.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "customise_fixture.hpp"
#include "kmods_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

/// What programs of the build root left, and a file of the builder that they may not have.
class BuildOutput : public testing::Test {
protected:
    void SetUp() override {
        make_directories(out() / "modules");
        write_file(directory_.path() / "secret.ko", "SECRET");
        resolution_.kernel_uname = "6.1.0-1";
        resolution_.dkms_source.emplace();
        resolution_.dkms_source->nevra.name = "kmod-dkms";
        conf_.modules = {"a"};
    }
    [[nodiscard]] fs::path out() const { return directory_.path() / "out"; }
    [[nodiscard]] std::map<std::string, std::string> take(int status) const {
        ProcessResult result;
        result.status = status;
        result.output = "said by dkms\n";
        return take_modules(resolution_, conf_, result, ImageRoot(out()));
    }
    /// What the user is told, with all its lines.
    [[nodiscard]] std::string failure(int status) const {
        try {
            static_cast<void>(take(status));
        } catch (const Error& failure) {
            return failure.render();
        }
        return "none";
    }
    void link(const char* path) const {
        fs::create_symlink(directory_.path() / "secret.ko", out() / path);
    }
    void expect_refused(int status, const std::string& why) const {
        const std::string told = failure(status);
        EXPECT_NE(told.find(why), std::string::npos) << told;
        EXPECT_NE(told.find("said by dkms"), std::string::npos) << told;
        EXPECT_EQ(told.find("SECRET"), std::string::npos) << told;
    }

    TemporaryDirectory directory_;
    Resolution resolution_;
    DkmsConf conf_;
};

TEST_F(BuildOutput, ModulesAreTaken) {
    write_file(out() / "modules/a.ko", make_module("vermagic=6.1.0-1 SMP \0"s));
    EXPECT_EQ(take(0).size(), 1U);
}

TEST_F(BuildOutput, TheEndOfTheLogIsTold) {
    write_file(out() / "make.log", "x.c:1: error: no\nmake: stopped\n");
    EXPECT_NE(failure(2).find("make: stopped"), std::string::npos);
}

TEST_F(BuildOutput, ALinkOrAFifoIsNoLog) {
    link("make.log");
    expect_refused(2, "dkms ended with status 2");
    fs::remove(out() / "make.log");
    ASSERT_EQ(::mkfifo((out() / "make.log").c_str(), 0644), 0);
    expect_refused(2, "dkms ended with status 2");
    fs::remove(out() / "make.log");
    write_file(out() / "make.log", "");
    ASSERT_EQ(::truncate((out() / "make.log").c_str(), 1LL << 40), 0);
    expect_refused(2, "dkms ended with status 2");
}

TEST_F(BuildOutput, ALinkOrAFifoIsNoModule) {
    link("modules/a.ko");
    expect_refused(0, "there is no a.ko");
    fs::remove(out() / "modules/a.ko");
    ASSERT_EQ(::mkfifo((out() / "modules/a.ko").c_str(), 0644), 0);
    expect_refused(0, "there is no a.ko");
}

TEST_F(BuildOutput, ALinkedDirectoryLeadsNowhere) {
    make_directories(directory_.path() / "elsewhere");
    write_file(directory_.path() / "elsewhere/a.ko", make_module("vermagic=6.1.0-1 SMP \0"s));
    fs::remove(out() / "modules");
    fs::create_directory_symlink(directory_.path() / "elsewhere", out() / "modules");
    expect_refused(0, "there is no a.ko");
}

}  // namespace
}  // namespace edgegpu::test
