// What console, log and errors get to know of the stages of a command.

#include "execution/stage.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/toml/mistakes.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::Not;

class StageTest : public testing::Test {
protected:
    StageTest() {
        ctx_.console = &console_;
        ctx_.log = Log("x:1");
        ctx_.log.add_file(file(), LogFormat::text);
    }
    [[nodiscard]] std::filesystem::path file() const { return directory_.path() / "log"; }
    [[nodiscard]] std::string log() const { return read_file(file()); }
    static ConsoleOutput output(std::string& text) {
        ConsoleOutput made;
        made.write = [&text](std::string_view piece) { text += piece; };
        return made;
    }

    std::string text_;
    Console console_{output(text_)};
    Context ctx_;
    test::TemporaryDirectory directory_;
};

TEST_F(StageTest, ConsoleAndLogShowHowLongItTook) {
    Stages stages(ctx_, "b.toml");
    const int made = stages.run([&] {
        stages.begin_quietly("snapshot", "copying");
        EXPECT_EQ(ctx_.log.stage(), "snapshot");
        stages.end("");
        EXPECT_EQ(ctx_.log.stage(), "");
        stages.begin("fetch", "fetching the packages of");
        stages.end("2 packages");
        return 7;
    });
    EXPECT_EQ(made, 7);
    EXPECT_THAT(text_, testing::MatchesRegex("- fetch +0.0. s  2 packages\n"));
    EXPECT_THAT(log(), HasSubstr("[x:1] snapshot: stage begins\n"));
    EXPECT_THAT(log(), testing::ContainsRegex("fetch: stage ended seconds=0.0.* result=\"2 p"));
    EXPECT_THAT(log(), Not(HasSubstr("failed")));
}

TEST_F(StageTest, AnErrorSaysWhereItHappened) {
    {
        Stages stages(ctx_, "b.toml");
        try {
            stages.run([&]() -> int {
                stages.begin("compose", "composing");
                throw error("package a: no").traced("inner");
            });
            FAIL();
        } catch (const Error& failure) {
            EXPECT_EQ(failure.render(),
                      "error: package a: no\n  inner\n  while composing b.toml\n");
            EXPECT_EQ(failure.stage(), "compose");
        }
    }
    EXPECT_THAT(log(), HasSubstr("compose: stage failed"));
    EXPECT_EQ(ctx_.log.stage(), "");
}

TEST_F(StageTest, SeveralMistakesSayItOnce) {
    Stages stages(ctx_, "b.toml");
    try {
        stages.run([&]() -> int {
            stages.begin("snapshot", "copying the files named by");
            throw MistakesError({error(ErrorKind::usage, "one"), error(ErrorKind::usage, "two")});
        });
        FAIL();
    } catch (const Error& failure) {
        EXPECT_EQ(render_error(failure, false),
                  "error: one\nerror: two\n  while copying the files named by b.toml\n");
    }
}

TEST_F(StageTest, BetweenStagesAndWhenInterruptedThereIsNothingToSay) {
    Stages stages(ctx_, "b.toml");
    const auto thrown = [&](ErrorKind kind, bool inside) {
        try {
            stages.run([&]() -> int {
                if (inside) {
                    stages.begin("label", "labelling");
                }
                throw Error(kind, "x");
            });
        } catch (const Error& failure) {
            return failure.render();
        }
        return std::string();
    };
    EXPECT_EQ(thrown(ErrorKind::failure, false), "error: x\n");
    EXPECT_EQ(thrown(ErrorKind::interrupted, true), "error: x\n");
}

}  // namespace
}  // namespace edgegpu
