#include "bundles/privileges/pod_security.hpp"

#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::string controls_of(const std::vector<PodSecurityViolation>& violations) {
    std::set<std::string> names;
    for (const PodSecurityViolation& each : violations) {
        names.emplace(name_of(each.control));
    }
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ",") + name;
    }
    return text.empty() ? "-" : text;
}

/// "POINTER: MESSAGE" of each violation.
std::vector<std::string> said_of(const std::string& pod, PodSecurityLevel level) {
    std::vector<std::string> said;
    for (const PodSecurityViolation& each :
         pod_security_violations(json::parse(pod), level, {33})) {
        EXPECT_FALSE(each.hint.empty());
        said.push_back(each.pointer + ": " + each.message);
    }
    return said;
}

TEST(PodSecurityTest, TheVerdictsOfKubernetesItself) {
    const std::string text =
        read_file(std::filesystem::path(EDGEGPU_SOURCE_DIR) / "tests/data/pod_security.txt");
    std::size_t pods = 0;
    std::size_t admitted = 0;
    for (const std::string_view line : lines_of(text)) {
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        std::vector<std::string> fields;
        std::string_view rest = line;
        for (int i = 0; i < 3; ++i) {
            fields.emplace_back(rest.substr(0, rest.find(' ')));
            rest.remove_prefix(fields.back().size() + 1);
        }
        const json pod = json::parse(rest);
        const KubernetesVersion version{static_cast<unsigned>(std::stoul(fields[0]))};
        const std::string baseline =
            controls_of(pod_security_violations(pod, PodSecurityLevel::baseline, version));
        const std::string restricted =
            controls_of(pod_security_violations(pod, PodSecurityLevel::restricted, version));
        EXPECT_EQ(baseline, fields[1]) << line;
        EXPECT_EQ(restricted, fields[2]) << line;
        ++pods;
        admitted += restricted == "-" ? 1U : 0U;
    }
    EXPECT_GE(pods, 300U);
    EXPECT_GE(admitted, 20U);
}

TEST(PodSecurityTest, EachViolationHasItsPlace) {
    const std::string pod = R"({"spec":{"hostNetwork":true,"initContainers":[{"name":"i"}],
        "containers":[{"name":"c","ports":[{},{"hostPort":80}],
        "securityContext":{"privileged":true,"capabilities":{"add":["CHOWN","SYS_ADMIN"]}}}],
        "volumes":[{"name":"v","hostPath":{"path":"/"}}]}})";
    EXPECT_THAT(
        said_of(pod, PodSecurityLevel::baseline),
        ElementsAre(
            "/spec/hostNetwork: the pod asks for hostNetwork",
            "/spec/containers/0/securityContext/privileged: container \"c\" is privileged",
            "/spec/containers/0/ports/1/hostPort: container \"c\" takes port 80 of the host",
            "/spec/containers/0/securityContext/capabilities/add/1: container \"c\" adds "
            "the capability SYS_ADMIN",
            "/spec/volumes/0/hostPath: volume \"v\" is a path of the host"));
    EXPECT_THAT(said_of(pod, PodSecurityLevel::privileged), ElementsAre());
}

TEST(PodSecurityTest, WhatIsNoPodIsNoReasonToFail) {
    for (const char* pod :
         {"null", "[]", "{}", R"({"spec":[]})", R"({"spec":{"containers":{},"volumes":"x"}})",
          R"({"spec":{"containers":[null,7,{"securityContext":[],"ports":[1]}],"volumes":[0]}})",
          R"({"spec":{"securityContext":{"sysctls":[1],"runAsUser":"0"},"hostNetwork":"true"}})"}) {
        for (const PodSecurityLevel level :
             {PodSecurityLevel::baseline, PodSecurityLevel::restricted}) {
            EXPECT_NO_THROW((void)pod_security_violations(json::parse(pod), level, {35})) << pod;
        }
    }
}

TEST(PodSecurityTest, NamesOfLevelsAndVersions) {
    EXPECT_EQ(pod_security_level("baseline"), PodSecurityLevel::baseline);
    EXPECT_EQ(pod_security_level("Baseline"), std::nullopt);
    EXPECT_EQ(pod_security_level(""), std::nullopt);
    EXPECT_EQ(pod_security_version("latest", {33}), KubernetesVersion{33});
    EXPECT_EQ(pod_security_version("v1.0", {33}), KubernetesVersion{0});
    EXPECT_EQ(pod_security_version("v1.28", {33}), KubernetesVersion{28});
    for (const char* name : {"", "1.28", "v1.", "v1.028", "v1.28.1", "v2.1", "v1.-1", "Latest"}) {
        EXPECT_EQ(pod_security_version(name, {33}), std::nullopt) << name;
    }
}

}  // namespace
}  // namespace edgegpu
