#include "pipeline/check.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

class CheckWithoutImage : public ::testing::Test {
protected:
    /// Adds a policy module with this source.
    void add_module(const std::string& name, const std::string& source) {
        const std::filesystem::path file = directory_.path() / name;
        write_file(file, source);
        blueprint_.selinux.modules.push_back(file);
    }
    /// All errors, with the temporary directory taken out.
    std::string errors() {
        Mistakes mistakes;
        warnings_ = check_without_image(Context{}, blueprint_, mistakes);
        try {
            mistakes.throw_any("b.toml");
        } catch (const Error& failure) {
            std::string text = render_error(failure, false);
            const std::string own = directory_.path().string() + "/";
            for (std::size_t at = 0; (at = text.find(own)) != std::string::npos;) {
                text.erase(at, own.size());
            }
            return text;
        }
        return "";
    }

    test::TemporaryDirectory directory_;
    Blueprint blueprint_;
    std::vector<std::string> warnings_;
};

TEST_F(CheckWithoutImage, GpusAreComparedWithTheRequestedBranch) {
    NvidiaRequest& nvidia = blueprint_.nvidia.emplace();
    nvidia.driver = "550";
    nvidia.devices = {"10de:2901"};
    nvidia.devices_location = {"b.toml", 7, 11};
    EXPECT_EQ(errors(),
              "error: b.toml:7:11: NVIDIA driver 550 does not support NVIDIA B200 (10de:2901): its "
              "first branch is 570\nhint: set driver = \"570\" or a later branch\n");
    nvidia.devices = {"10de:ffff"};
    EXPECT_EQ(errors(), "");
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_TRUE(warnings_[0].ends_with("does not have 10de:ffff: not checked")) << warnings_[0];
    EXPECT_TRUE(warnings_[0].starts_with("b.toml:7:11: edgegpu's GPU table (")) << warnings_[0];
}

TEST_F(CheckWithoutImage, TheWorkloadsImageIsOnBoard) {
    GpuHealthRequest& health = blueprint_.gpu_health.emplace();
    EXPECT_EQ(errors(), "");
    EXPECT_TRUE(warnings_.empty());
    health.workload_image = "quay.io/x/cuda:1";
    health.workload_image_location = {"b.toml", 9, 18};
    EXPECT_EQ(errors(), "");
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_TRUE(warnings_[0].starts_with("b.toml:9:18: this image has no container images"));
    blueprint_.containers.push_back({"docker://quay.io/x/app:1", "", "quay.io/x/app:1", true, {}});
    EXPECT_EQ(errors(),
              "error: b.toml:9:18: workload_image quay.io/x/cuda:1 is none of the container images "
              "that this image has: quay.io/x/app:1\nhint: add it as [[containers]], or name one "
              "of these: gpu-health pulls nothing\n");
    blueprint_.microshift.embed_images.push_back({});
    EXPECT_EQ(errors(), "") << "it is not known yet which";
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(CheckWithoutImage, ModulesWithoutMacrosAreCompiled) {
    add_module("good.te",
               "module good 1.0;\nrequire { type a_t; class file read; }\n"
               "allow a_t self:file read;\n");
    EXPECT_EQ(errors(), "");
    add_module("bad.te", "module bad 1.0;\nrequire { type a_t; }\nalow a_t self:file read;\n");
    add_module("other.te", "module another 1.0;\nrequire { type a_t; }\n");
    EXPECT_EQ(errors(),
              "error: bad.te:3: syntax error at 'alow'\n"
              "error: other.te: the name of the module is 'another'\n"
              "hint: a module must have the name of its file: module NAME VERSION; in NAME.te\n");
}

TEST_F(CheckWithoutImage, OfMacrosTheBracketsAreChecked) {
    add_module("good.te",
               "policy_module(good, 1.0)\n# it's (\noptional_policy(`\n"
               "\tfiles_read(x_t, \"a'(\")\n')\n");
    EXPECT_EQ(errors(), "");
    add_module("open.te", "policy_module(open, 1.0)\noptional_policy(`\n\tfiles_read(x_t)\n)\n");
    add_module("call.te", "policy_module(call, 1.0)\n\nfiles_read(x_t\n");
    add_module("close.te", "policy_module(close, 1.0)\nfiles_read(x_t))\n");
    EXPECT_EQ(errors(),
              "error: open.te:2: a quote ` that no ' closes\n"
              "error: call.te:3: a '(' without ')'\n"
              "error: close.te:2: a ')' without '('\n");
}

}  // namespace
}  // namespace edgegpu
