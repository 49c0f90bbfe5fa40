#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "commands/build/builds.hpp"
#include "commands/build/builds_report.hpp"

namespace edgegpu {
namespace {

const std::string checksum(64, 'a');

BuildOutcome good(const std::string& name, bool unchanged = false) {
    const nlohmann::json document = {{"format", "edgegpu-build/1"},
                                     {"unchanged", unchanged},
                                     {"ref", "edge/" + name},
                                     {"commit", checksum}};
    return {"dir/" + name + ".toml", name, "edge/" + name, 0, document.dump(), "", 2.5};
}

BuildOutcome bad(const std::string& name, int status) {
    return {"dir/" + name + ".toml", name, "edge/" + name, status, "", "error: no\n", 0.1};
}

TEST(BuildsReport, EveryBuildHasALine) {
    EXPECT_EQ(builds_summary({good("first"), good("b", true), bad("c", 3), bad("d", 130)}, 12.34),
              "\n"
              "  first  built        edge/first  aaaaaaaaaaaa     2.5 s\n"
              "  b      unchanged    edge/b      aaaaaaaaaaaa     2.5 s\n"
              "  c      failed (3)   edge/c                       0.1 s\n"
              "  d      interrupted  edge/d                       0.1 s\n"
              "\n2 of 4 builds succeeded, 12.3 s\n");
}

TEST(BuildsReport, TheDocumentHasEachBuildsOwn) {
    const auto document = nlohmann::json::parse(builds_document({good("a"), bad("b", 4)}, 3));
    EXPECT_EQ(document["format"], "edgegpu-builds/1");
    ASSERT_EQ(document["builds"].size(), 2U);
    EXPECT_EQ(document["builds"][0]["result"]["commit"], checksum);
    EXPECT_FALSE(document["builds"][0].contains("error"));
    EXPECT_EQ(document["builds"][1]["status"], 4);
    EXPECT_EQ(document["builds"][1]["error"], "error: no\n");
    EXPECT_FALSE(document["builds"][1].contains("result"));
}

TEST(BuildsReport, TheStatusIsThatOfTheFirstFailure) {
    EXPECT_EQ(builds_status({good("a"), good("b")}, false), 0);
    EXPECT_EQ(builds_status({good("a"), bad("b", 4), bad("c", 3)}, true), 4);
    EXPECT_EQ(builds_status({good("a", true), good("b", true)}, false), 0);
    EXPECT_EQ(builds_status({good("a", true), good("b", true)}, true), 77);
    EXPECT_EQ(builds_status({good("a", true), good("b")}, true), 0);
}

TEST(BuildsReport, ABuildWithoutADocumentIsNoCrash) {
    BuildOutcome odd = good("a");
    for (const char* document : {"", "null", "[1]", "{", "\"text\""}) {
        odd.document = document;
        EXPECT_NE(builds_summary({odd, odd}, 1).find("built"), std::string::npos) << document;
        EXPECT_TRUE(nlohmann::json::accept(builds_document({odd, odd}, 1))) << document;
        EXPECT_EQ(builds_status({odd, odd}, true), 0) << document;
    }
}

TEST(BuildsReport, TheErrorBeginsWhereItSaysSo) {
    EXPECT_EQ(error_of_messages("error: a\nhint: b\n"), "error: a\nhint: b\n");
    EXPECT_EQ(error_of_messages("warning: error: w\nerror: a\n  trace\n"), "error: a\n  trace\n");
    EXPECT_EQ(error_of_messages("Killed\n"), "Killed\n");
    EXPECT_EQ(error_of_messages(""), "");
}

TEST(Builds, EventsGetTheBuildsName) {
    EXPECT_EQ(named_event(R"({"event":"stage-begin","stage":"fetch"})", "site-a"),
              "{\"event\":\"stage-begin\",\"build\":\"site-a\",\"stage\":\"fetch\"}\n");
    EXPECT_EQ(named_event(R"({"event":"begin","format":"edgegpu-progress/1"})", "site-a"), "");
    for (const char* line : {"", "{", "[]", "null", "{\"event\":1}", "{\"stage\":\"x\"}", "\xff"}) {
        EXPECT_EQ(named_event(line, "site-a"), "") << line;
    }
}

}  // namespace
}  // namespace edgegpu
