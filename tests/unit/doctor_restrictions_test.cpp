#include "doctor/restrictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

/// A root directory with the files of a machine that restricts nothing.
class DoctorRestrictions : public testing::Test {
protected:
    DoctorRestrictions() {
        put("proc/sys/user/max_user_namespaces", "95000\n");
        put("proc/sys/kernel/unprivileged_userns_clone", "1\n");
        put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n");
        put("proc/self/status",
            "Name:\tedgegpu\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n");
        put("proc/self/attr/current", "unconfined\n");
    }

    void put(const fs::path& name, const std::string& content) {
        fs::create_directories((directory_ / name).parent_path());
        write_file(directory_ / name, content, 0644);
    }
    [[nodiscard]] std::vector<std::string> found() const { return restrictions(directory_.path()); }

private:
    edgegpu::TemporaryDirectory directory_{fs::temp_directory_path() / "edgegpu-test"};
};

TEST_F(DoctorRestrictions, NoneOfAnOrdinaryMachine) {
    EXPECT_THAT(found(), IsEmpty());
    put("proc/self/attr/current", "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023");
    EXPECT_THAT(found(), IsEmpty());
    EXPECT_THAT(restrictions("/nonexistent"), IsEmpty());
}

TEST_F(DoctorRestrictions, Sysctls) {
    put("proc/sys/user/max_user_namespaces", "0\n");
    put("proc/sys/kernel/unprivileged_userns_clone", "0\n");
    put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    EXPECT_THAT(found(), ElementsAre(HasSubstr("user.max_user_namespaces is 0"),
                                     HasSubstr("kernel.unprivileged_userns_clone is 0"),
                                     HasSubstr("apparmor_restrict_unprivileged_userns is 1")));
}

TEST_F(DoctorRestrictions, OfAProcess) {
    put("proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n");
    EXPECT_THAT(found(), ElementsAre(HasSubstr("Seccomp: 2"), HasSubstr("no_new_privs")));
}

TEST_F(DoctorRestrictions, SecurityModulesByTheProcessesLabel) {
    put("proc/self/attr/current", "docker-default (enforce)\n");
    EXPECT_THAT(found(), ElementsAre(HasSubstr("docker-default (enforce)")));
    put("proc/self/attr/current", std::string("system_u:system_r:container_t:s0:c1,c2\0", 39));
    put("sys/fs/selinux/enforce", "1");
    EXPECT_THAT(found(), ElementsAre(AllOf(HasSubstr("SELinux confines this process"),
                                           HasSubstr(":container_t:s0:c1,c2"))));
}

TEST_F(DoctorRestrictions, Containers) {
    put("run/.containerenv", "");
    put(".dockerenv", "");
    EXPECT_THAT(found(), ElementsAre(HasSubstr("podman"), HasSubstr("Docker")));
}

}  // namespace
}  // namespace edgegpu
