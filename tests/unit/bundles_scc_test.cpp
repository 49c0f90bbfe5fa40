#include "bundles/privileges/scc.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using Span = std::pair<std::int64_t, std::int64_t>;

TEST(SccTest, MicroShiftsOwnInTheOrderInWhichTheyAreTried) {
    std::vector<Scc> sccs = microshift_sccs();
    sort_sccs(sccs);
    std::vector<std::string> names;
    names.reserve(sccs.size());
    for (const Scc& scc : sccs) {
        names.push_back(scc.name);
    }
    EXPECT_THAT(names, ElementsAre("anyuid", "restricted-v2", "restricted-v3", "restricted",
                                   "nonroot-v2", "nonroot", "hostmount-anyuid", "hostnetwork-v2",
                                   "hostnetwork", "hostaccess", "privileged"));
}

TEST(SccTest, TheLevelThatAdmitsAllPodsOfAConstraint) {
    const NamespaceIds ids = ids_of_namespace({});
    for (const Scc& scc : microshift_sccs()) {
        const bool strict =
            scc.name == "restricted-v2" || scc.name == "restricted-v3" || scc.name == "nonroot-v2";
        const bool host = scc.name.starts_with("host") || scc.name == "privileged";
        EXPECT_EQ(level_of(scc, ids), strict ? PodSecurityLevel::restricted
                                      : host ? PodSecurityLevel::privileged
                                             : PodSecurityLevel::baseline)
            << scc.name;
    }
}

TEST(SccTest, DefaultsOfTheApi) {
    const Scc scc = read_scc(json::parse(R"({"metadata":{"name":"a"}})"));
    EXPECT_TRUE(scc.allows_escalation);
    EXPECT_THAT(scc.volumes, ElementsAre("* but hostPath"));
    EXPECT_EQ(scc.priority, 0);
    const Scc none = read_scc(json::parse(R"({"volumes":["*"],"allowHostDirVolumePlugin":true})"));
    EXPECT_TRUE(none.volumes.contains("*") && none.volumes.contains("hostPath"));
    EXPECT_THAT(read_scc(json::parse(R"({"volumes":["hostPath","secret"]})")).volumes,
                ElementsAre("secret"));
    for (const char* odd : {"null", "[]", R"({"volumes":7,"runAsUser":[],"priority":"x"})"}) {
        EXPECT_NO_THROW((void)read_scc(json::parse(odd))) << odd;
    }
}

TEST(SccTest, AnyPriorityCanBeCompared) {
    std::vector<Scc> sccs(3);
    sccs[0].priority = std::numeric_limits<std::int64_t>::min();
    sccs[2].priority = std::numeric_limits<std::int64_t>::max();
    sort_sccs(sccs);
    EXPECT_EQ(sccs[0].priority, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(sccs[2].priority, std::numeric_limits<std::int64_t>::min());
}

TEST(SccTest, IdsOfANamespace) {
    const auto users = [](const char* text) {
        const SccIdRange range =
            ids_of_namespace({{"annotations", {{"openshift.io/sa.scc.uid-range", text}}}}).users;
        return Span(range.first, range.last);
    };
    EXPECT_EQ(users("1000/100"), Span(1000, 1099));
    EXPECT_EQ(users("1000-1099"), Span(1000, 1099));
    const auto unknown = Span(1'000'000'000, 1'999'999'999);
    for (const char* text : {"", "1000", "/", "-1/5", "1000/", "a/b", "1/99999999999999999999",
                             "1/9223372036854775807", "9223372036854775807/100"}) {
        EXPECT_EQ(users(text), unknown) << text;
    }
    const NamespaceIds ids = ids_of_namespace(
        {{"annotations", {{"openshift.io/sa.scc.supplemental-groups", "5/5,x,20/2"}}}});
    EXPECT_EQ(ids.groups.size(), 2U);
    EXPECT_EQ(ids.fs_groups.last, 5);
}

}  // namespace
}  // namespace edgegpu
