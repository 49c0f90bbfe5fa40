#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "selinux/policy/policydb.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

/// A directory for a test's small policies, which secilc compiles.
class CilPolicies : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "edgegpu-cil.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    /// What every policy needs, two classes, and types of a container's kind.
    [[nodiscard]] static std::string base() {
        return R"((handleunknown allow)
(mls false)
(common file (ioctl read write getattr open map))
(class chr_file ())
(classcommon chr_file file)
(class process (fork transition))
(classorder (chr_file process))
(sid kernel)
(sidorder (kernel))
(sidcontext kernel (user_u role_r container_t ((s0) (s0))))
(sensitivity s0)
(sensitivityorder (s0))
(user user_u)
(userrole user_u role_r)
(userlevel user_u (s0))
(userrange user_u ((s0) (s0)))
(role role_r)
(roletype role_r container_t)
(type container_t)
(type spc_t)
(type other_t)
(type xserver_misc_device_t)
(type null_device_t)
(typeattribute container_domain)
(typeattributeset container_domain (container_t spc_t))
(typeattribute device_node)
(typeattributeset device_node (xserver_misc_device_t null_device_t))
(expandtypeattribute (container_domain device_node) false)
(allow container_t self (process (fork)))
)";
    }

    /// The binary policy of base() and `rules`.
    [[nodiscard]] selinux::PolicyDb compile(const std::string& rules) const {
        return {Context(), compile_file(rules)};
    }
    [[nodiscard]] std::filesystem::path compile_file(const std::string& rules) const {
        write_file(directory_ / "policy.cil", base() + rules);
        const ProcessResult result = run_process(
            Context{}, {"secilc", "-c", "33", "-f", "/dev/null", "-o",
                        (directory_ / "policy.33").string(), (directory_ / "policy.cil").string()});
        EXPECT_EQ(result.status, 0) << result.output;
        return directory_ / "policy.33";
    }

    std::filesystem::path directory_;
};

}  // namespace edgegpu
