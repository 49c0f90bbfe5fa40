#include "publish/retention_record.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using std::chrono::days;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::string one(64, '1');
const std::string two(64, '2');

constexpr std::int64_t now = 1'800'000'000;
constexpr std::int64_t day = 86400;

TEST(RetentionRecord, IsReadAsItWasWritten) {
    RetentionRecord record;
    record.pins[one] = 5;
    record.commits[two] = now;
    record.deltas[one + '-' + two] = 7;
    record.deltas[two] = 8;
    EXPECT_EQ(parse_retention(retention_text(record), "x"), record);
    EXPECT_EQ(parse_retention(retention_text({}), "x"), RetentionRecord());
    // As edgegpu wrote it before it counted the lines.
    EXPECT_EQ(parse_retention("pin " + one + " 5\n", "x").pins,
              (RetentionRecord{{{one, 5}}, {}, {}}.pins));
}

TEST(RetentionRecord, IsRefusedIfItWasCut) {
    const std::string text = retention_text({{{one, 5}, {two, 6}}, {{two, 7}}, {}});
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_THROW((void)parse_retention(text.substr(0, size), "x"), Error) << size;
    }
    EXPECT_THROW((void)parse_retention(text + "pin " + one + " 5\n", "x"), Error);
}

TEST(RetentionRecord, RefusesWhatItDoesNotKnow) {
    for (const std::string& line :
         {"pin " + one, "pin " + one + " ", "pin " + one + " 5x", "pin " + one + " 5 6",
          "pin " + one.substr(1) + " 5", "keep " + one + " 5", "delta " + one + "-x 5",
          "delta " + one + '-' + two + '-' + one + " 5", std::string(" "), std::string("\n")}) {
        try {
            (void)parse_retention("commit " + two + " 5\n" + line + '\n', "repo/record");
            ADD_FAILURE() << line;
        } catch (const Error& failure) {
            EXPECT_THAT(failure.message(), HasSubstr("repo/record: line 2 is not one"));
            EXPECT_THAT(failure.hint(), HasSubstr("rm 'repo/record'"));
        }
    }
}

TEST(RetentionRecord, WhatIsNewWaits) {
    const Unneeded judged = judge_unneeded({one, two}, {{two, now - 7 * day}}, now, days(7));
    EXPECT_THAT(judged.due, ElementsAre(Pair(two, now - 7 * day)));
    EXPECT_THAT(judged.waiting, ElementsAre(Pair(one, now)));
    EXPECT_THAT(judge_unneeded({two}, {{two, now - 7 * day + 1}}, now, days(7)).due, IsEmpty());
}

TEST(RetentionRecord, WithoutGraceNothingWaits) {
    EXPECT_THAT(judge_unneeded({one}, {}, now, seconds(0)).due, ElementsAre(Pair(one, now)));
}

TEST(RetentionRecord, ATimeInTheFutureIsNow) {
    // By a clock that was wrong: it would wait for years.
    const Unneeded judged = judge_unneeded({one}, {{one, now + 900 * day}}, now, days(7));
    EXPECT_THAT(judged.waiting, ElementsAre(Pair(one, now)));
}

TEST(RetentionRecord, WhatIsNeededAgainIsForgotten) {
    const Unneeded judged = judge_unneeded({}, {{one, now - 100 * day}}, now, days(7));
    EXPECT_THAT(judged.due, IsEmpty());
    EXPECT_THAT(judged.waiting, IsEmpty());
}

}  // namespace
}  // namespace edgegpu
