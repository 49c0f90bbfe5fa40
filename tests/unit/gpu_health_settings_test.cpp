#include "gpu_health/settings.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

Settings some_settings() {
    Settings settings;
    settings.minimum = 2;
    settings.devices = {"10de:2335"};
    settings.passthrough = true;
    settings.memory = 0xffffffffffffffffULL;
    settings.mig = false;
    settings.mig_layouts = {{"10de:2335", {"1g.18gb", "3g.71gb"}}, {"", {}}};
    settings.workload = {"direct", "podman"};
    settings.workload_image = "quay.io/x@sha256:0";
    settings.deadlines = {{"nvml", 90}, {"kernel-log", 1}};
    settings.textfile = "/var/lib/node_exporter";
    return settings;
}

TEST(GpuHealthSettings, AreTheSameAfterWritingAndReading) {
    const Settings settings = some_settings();
    EXPECT_EQ(read_settings({}, settings_json(settings)), settings);
    EXPECT_EQ(settings_json({}), "{}\n");
}

TEST(GpuHealthSettings, OfADeviceReplaceSingleMembers) {
    Settings expected = some_settings();
    expected.minimum = 1;
    expected.devices = {};
    expected.mig.reset();
    expected.deadlines["workload"] = 600;
    EXPECT_EQ(read_settings(some_settings(), R"({"minimum": 1, "devices": [], "mig": null,
                                                 "deadlines": {"workload": 600}})"),
              expected);
    EXPECT_EQ(expected.deadline(Step::workload), 600U);
    EXPECT_EQ(expected.deadline(Step::nvml), 90U);
    EXPECT_EQ(expected.deadline(Step::cdi), 10U);
}

TEST(GpuHealthSettings, NameTheMemberThatIsWrong) {
    const auto refused = [](const std::string& text, const std::string& why) {
        EXPECT_THAT([&] { static_cast<void>(read_settings({}, text)); },
                    ThrowsMessage<std::runtime_error>(StartsWith(why)))
            << text;
    };
    refused("", "it is no JSON");
    refused("null", "it is no object");
    refused(R"({"minimun": 1})", "minimun: there is no such member");
    refused(R"({"minimum": -1})", "minimum: it must be from 0 to 4294967295");
    refused(R"({"minimum": "1"})", "minimum: it is no whole number");
    refused(R"({"minimum": true})", "minimum: it is no whole number");
    refused(R"({"mig": 1})", "mig: it is neither true nor false");
    refused(R"({"deadlines": {"nvml": 0}})", "deadlines.nvml: it must be from 1 to 600 seconds");
    refused(R"({"deadlines": {"nvml": 601}})", "deadlines.nvml: it must be from 1 to 600 seconds");
    refused(R"({"deadlines": {"nvml": 1.5}})", "deadlines.nvml: it is no whole number");
    refused(R"({"deadlines": {"kernel_log": 5}})", "deadlines.kernel_log: there is no such step");
    refused(R"({"mig_layouts": [{"profile": []}]})", "mig_layouts[0].profile: there is no such");
    refused(R"({"workload": ["docker"]})", "workload: it has \"docker\"");
    refused(R"({"textfile": "x"})", "textfile: it is no absolute path");
}

}  // namespace
}  // namespace edgegpu::gpu_health
