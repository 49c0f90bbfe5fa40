// What a report makes of a guest's output, which may be anything.

#include "machine/rehearsal/test_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::Not;

/// ESC, an invalid byte, a NUL, the end of CDATA, a noncharacter, a surrogate in UTF-8.
const std::string hostile = std::string("\x1b[31mred\xff") + '\0' +
                            " ]]> <a href=\"x\"> & \xEF\xBF\xBF \xED\xA0\x80 \x7f end";

Rehearsal some_rehearsal() {
    Rehearsal rehearsal;
    rehearsal.repository = "/srv/repo";
    rehearsal.ref = "lab/12/x86_64/edge-gpu";
    rehearsal.commit = std::string(64, 'a');
    rehearsal.accelerator = "KVM";
    Phase phase{"boot", rehearsal.commit, {}, 61.5};
    phase.results.push_back(
        {"multi-user", Verdict::passed, "multi-user.target was reached", {}, 1});
    phase.results.push_back({"services", Verdict::failed, hostile, {"first", hostile}, 0.25});
    phase.results.push_back({"greenboot", Verdict::skipped, "the image has none", {}, 0});
    phase.results.push_back({hostile, Verdict::passed, hostile, {"not shown"}, 0, {hostile}});
    rehearsal.phases.push_back(phase);
    return rehearsal;
}

TEST(TestReport, TextHasALinePerCheckAndDetailsOfFailures) {
    const std::string text = rehearsal_text(some_rehearsal(), false);
    EXPECT_THAT(text,
                HasSubstr("lab/12/x86_64/edge-gpu at aaaaaaaaaaaa\nmachine: UEFI firmware, KVM\n"));
    EXPECT_THAT(text, HasSubstr("\nboot of aaaaaaaaaaaa (62 s)\n"));
    EXPECT_THAT(text, HasSubstr("  FAILED  services "));
    EXPECT_THAT(text, HasSubstr("\n          first\n"));
    EXPECT_THAT(text, HasSubstr("  skipped greenboot "));
    EXPECT_THAT(text, Not(HasSubstr("not shown")));
    EXPECT_THAT(text, HasSubstr("\n2 passed, 1 failed, 1 skipped\n"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_THAT(rehearsal_text(some_rehearsal(), true), HasSubstr("\x1b[31;1mFAILED"));
}

TEST(TestReport, JsonIsValidWhateverTheGuestSays) {
    const nlohmann::json document = nlohmann::json::parse(rehearsal_json(some_rehearsal()));
    EXPECT_EQ(document["format"], "edgegpu-test/1");
    EXPECT_EQ(document["failed"], 1);
    EXPECT_EQ(document["phases"][0]["checks"][1]["verdict"], "failed");
    EXPECT_EQ(document["phases"][0]["checks"][1]["details"][0], "first");
}

TEST(TestReport, NothingOfTheGuestReachesATerminal) {
    Rehearsal rehearsal = some_rehearsal();
    // CSI of ECMA-48 as one character, DEL, and a name of a file that is longer than a terminal.
    rehearsal.phases[0].results[1].text = "\xC2\x9B 2J \x7f";
    rehearsal.phases[0].results[1].details.assign(300, "line");
    rehearsal.phases[0].results[0].name = std::string(255, 'n') + "\n\033[2J";
    const std::string text = rehearsal_text(rehearsal, false);
    for (const std::string& document :
         {text, rehearsal_json(rehearsal), rehearsal_junit(rehearsal)}) {
        EXPECT_EQ(document.find_first_of("\x1b\x7f"), std::string::npos);
        EXPECT_EQ(document.find("\xC2\x9B"), std::string::npos);
    }
    EXPECT_THAT(text, HasSubstr("          (200 lines before)\n          line\n"));
    EXPECT_THAT(text, HasSubstr("  skipped greenboot" + std::string(33, ' ') + "the image"));
    EXPECT_EQ(nlohmann::json::parse(rehearsal_json(rehearsal))["phases"][0]["checks"][1]["text"],
              "\xC2\x9B 2J \x7f");
}

TEST(TestReport, NotesAreShownWhateverTheVerdict) {
    Rehearsal rehearsal = some_rehearsal();
    rehearsal.phases[0].results[0].notes = {"allowed, 1 denial"};
    EXPECT_THAT(rehearsal_text(rehearsal, false),
                HasSubstr("reached\n          allowed, 1 denial\n"));
    EXPECT_THAT(rehearsal_junit(rehearsal), HasSubstr("reached\nallowed, 1 denial\n"));
    EXPECT_EQ(
        nlohmann::json::parse(rehearsal_json(rehearsal))["phases"][0]["checks"][0]["notes"][0],
        "allowed, 1 denial");
}

TEST(TestReport, JsonSatisfiesItsSchema) {
    const test::TemporaryDirectory directory;
    Rehearsal rehearsal = some_rehearsal();
    rehearsal.from = std::string(64, 'b');
    rehearsal.records = {"/tmp/console.log"};
    for (const char* name : {"before-upgrade", "upgrade", "before-rollback", "rollback"}) {
        rehearsal.phases.push_back({name, rehearsal.from, {}, 1});
    }
    const std::string file = directory.path() / "test.json";
    write_file(file, rehearsal_json(rehearsal));
    int status = -1;
    const std::string said = test::output_of(
        "python3 -c 'import json, jsonschema, sys; d, s = (json.load(open(f)) for f in "
        "sys.argv[1:]); jsonschema.Draft7Validator(s).validate(d)' " +
            file + " " EDGEGPU_SOURCE_DIR "/docs/schemas/test.json",
        &status);
    EXPECT_EQ(status, 0) << said;
}

TEST(TestReport, JunitIsXmlWhateverTheGuestSays) {
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() / "junit.xml";
    write_file(file, rehearsal_junit(some_rehearsal()));
    // expat is strict about characters.
    int status = -1;
    const std::string said = test::output_of(
        "python3 -c 'import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); "
        "s = r[0]; c = s.findall(\"testcase\"); print(r.tag, r.get(\"tests\"), "
        "r.get(\"failures\"), "
        "s.get(\"skipped\"), len(c), c[1].find(\"failure\").text.split()[0], "
        "c[2].find(\"skipped\").get(\"message\"), "
        "repr(c[1].find(\"failure\").get(\"message\")))' " +
            file,
        &status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_THAT(said, HasSubstr("testsuites 4 1 1 4 first the image has none"));
    EXPECT_THAT(said, HasSubstr(R"(\\x1b[31mred)"));
    EXPECT_THAT(said, HasSubstr("end"));
}

}  // namespace
}  // namespace edgegpu
