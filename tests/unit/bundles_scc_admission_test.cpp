#include "bundles/privileges/scc_admission.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

/// '-' refused, else the strictest level that admits what the constraint made of the pod.
char verdict_of(const Scc& scc, const json& pod, const NamespaceIds& ids) {
    const SccVerdict verdict = apply_scc(scc, pod, ids);
    if (!verdict.problems.empty()) {
        return '-';
    }
    char best = 'p';
    for (const PodSecurityLevel level :
         {PodSecurityLevel::baseline, PodSecurityLevel::restricted}) {
        if (pod_security_violations(verdict.pod, level, {35}).empty()) {
            best = name_of(level).front();
        }
    }
    return best;
}

TEST(SccAdmissionTest, TheVerdictsOfOpenShiftsOwnAdmission) {
    const std::string text =
        read_file(std::filesystem::path(EDGEGPU_SOURCE_DIR) / "tests/data/scc_admission.txt");
    std::vector<Scc> sccs = microshift_sccs();
    std::sort(sccs.begin(), sccs.end(), [](const Scc& a, const Scc& b) { return a.name < b.name; });
    std::size_t pods = 0;
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
        json annotations = {{"openshift.io/sa.scc.uid-range", fields[0]},
                            {"openshift.io/sa.scc.mcs", "s0:c26,c5"}};
        if (fields[1] != "-") {
            annotations["openshift.io/sa.scc.supplemental-groups"] = fields[1];
        }
        const NamespaceIds ids = ids_of_namespace({{"annotations", annotations}});
        const json pod = json::parse(rest);
        std::string verdicts;
        for (const Scc& scc : sccs) {
            verdicts += verdict_of(scc, pod, ids);
        }
        EXPECT_EQ(verdicts, fields[2]) << line;
        ++pods;
    }
    EXPECT_GE(pods, 200U);
}

std::vector<std::string> refused(const std::string& scc, const char* pod,
                                 const json& annotations = json::object()) {
    const std::vector<Scc> sccs = microshift_sccs();
    const auto found =
        std::find_if(sccs.begin(), sccs.end(), [&](const Scc& each) { return each.name == scc; });
    std::vector<std::string> said;
    const NamespaceIds ids = ids_of_namespace({{"annotations", annotations}});
    for (const SccProblem& each : apply_scc(*found, json::parse(pod), ids).problems) {
        EXPECT_FALSE(each.hint.empty());
        said.push_back(each.pointer + ": " + each.message);
    }
    return said;
}

TEST(SccAdmissionTest, WhatOfANamespaceIsUnknownIsNoProblem) {
    const char* allotted = R"({"spec":{"securityContext":{"runAsUser":1000620000,
        "fsGroup":1000620000,"seLinuxOptions":{"level":"s0:c1,c2"}},"containers":[{"name":"c"}]}})";
    EXPECT_THAT(refused("restricted-v2", allotted), ElementsAre());
    EXPECT_EQ(refused("restricted-v2", allotted,
                      {{"openshift.io/sa.scc.uid-range", "1000/100"},
                       {"openshift.io/sa.scc.mcs", "s0:c26,c5"}})
                  .size(),
              3U);
    const char* low = R"({"spec":{"securityContext":{"runAsUser":1000},"containers":[{"name":"c"},
        {"name":"d","securityContext":{"runAsUser":1000000000}}]}})";
    EXPECT_THAT(refused("restricted-v2", low),
                ElementsAre("/spec/securityContext/runAsUser: container \"c\" runs as user 1000, "
                            "outside of the namespace's range"));
    EXPECT_THAT(refused("nonroot-v2", low), ElementsAre());
}

TEST(SccAdmissionTest, EachProblemHasItsPlace) {
    const char* pod = R"({"spec":{"hostPID":true,"volumes":[{"name":"a","emptyDir":{}},
        {"name":"b","hostPath":{"path":"/"}}],"containers":[{"name":"c","ports":[{"hostPort":80}],
        "securityContext":{"privileged":true,"capabilities":{"add":["CHOWN"]}}}]}})";
    EXPECT_THAT(
        refused("restricted-v2", pod),
        ElementsAre("/spec/hostPID: the pod asks for hostPID",
                    "/spec/volumes/1/hostPath: volume \"b\" is of the type hostPath",
                    "/spec/containers/0/securityContext/capabilities/add/0: container \"c\" adds "
                    "the capability CHOWN",
                    "/spec/containers/0/securityContext/privileged: container \"c\" is privileged",
                    "/spec/containers/0/ports/0/hostPort: container \"c\" takes a port of the "
                    "host"));
    EXPECT_THAT(refused("privileged", pod), ElementsAre());
}

TEST(SccAdmissionTest, WhatIsNoPodIsNoReasonToFail) {
    for (const char* pod :
         {"{}", R"({"spec":[]})", R"({"spec":{"containers":{},"volumes":"x"}})",
          R"({"spec":{"containers":[null,7,{"securityContext":[]}],"volumes":[0]}})",
          R"({"spec":{"securityContext":[],"hostNetwork":"true","containers":[{}]}})"}) {
        for (const Scc& scc : microshift_sccs()) {
            EXPECT_NO_THROW((void)apply_scc(scc, json::parse(pod), ids_of_namespace({}))) << pod;
        }
    }
}

}  // namespace
}  // namespace edgegpu
