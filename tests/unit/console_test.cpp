// What a user sees on stderr, byte for byte, with a terminal and a clock that are ours.

#include "log/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A stderr that remembers, and a clock that stands still until it is told to go on.
struct FakeTerminal {
    std::string text;
    std::string events;
    unsigned columns = 80;
    ConsoleOutput::Clock::time_point time{seconds(1000)};

    ConsoleOutput output(bool terminal) {
        ConsoleOutput made;
        made.write = [this](std::string_view piece) { text += piece; };
        made.write_event = [this](std::string_view line) { events += line; };
        if (terminal) {
            made.columns = [this] { return columns; };
        }
        made.now = [this] { return time; };
        made.unicode = terminal;
        return made;
    }
    std::string take() { return std::exchange(text, {}); }
};

TEST(Console, PlainLinesWithoutATerminal) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("fetch");
    console.progress(1, 252, "packages, 1.0 MB");
    console.note("mirror two");
    fake.time += milliseconds(1500);
    console.progress(252, 252, "packages, 193 MB");
    console.end_stage("252 packages, 193 MB");
    EXPECT_EQ(fake.text,
              "  mirror two\n"
              "- fetch          1.50 s  252 packages, 193 MB\n");
}

TEST(Console, ALogGetsALineEveryTenSeconds) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("compose");
    for (std::size_t done = 1; done <= 25; ++done) {
        fake.time += seconds(1);
        console.progress(done, 25, "packages imported");
    }
    EXPECT_EQ(fake.text,
              "  compose: 10/25 packages imported\n"
              "  compose: 20/25 packages imported\n");
}

TEST(Console, TheLiveLineIsRedrawnInPlace) {
    FakeTerminal fake;
    Console console(fake.output(true));
    console.begin_stage("fetch");
    EXPECT_EQ(fake.take(), "\r  fetch           0.0 s  …\033[K");
    fake.time += milliseconds(400);
    console.progress(126, 252, "packages, 80 MB");
    EXPECT_EQ(fake.take(),
              "\r  fetch           0.4 s  ██████████░░░░░░░░░░ 126/252 packages, 80 MB\033[K");
    fake.time += milliseconds(99);
    console.progress(127, 252, "packages, 81 MB");
    EXPECT_EQ(fake.take(), "") << "redrawn more than ten times a second";
    fake.time += seconds(2);
    console.redraw();
    EXPECT_EQ(fake.take(),
              "\r  fetch           2.5 s  ██████████░░░░░░░░░░ 127/252 packages, 81 MB\033[K")
        << "the timer goes on where nothing is reported";
    console.end_stage("252 packages");
    EXPECT_EQ(fake.take(), "\r\033[K✓ fetch          2.50 s  252 packages\n");
    console.redraw();
    EXPECT_EQ(fake.take(), "") << "no live line between stages";
}

TEST(Console, AStageBeginsWithoutTheCountOfTheOneBefore) {
    FakeTerminal fake;
    Console console(fake.output(true));
    console.begin_stage("compose");
    fake.time += seconds(1);
    console.progress(3, 4, "packages imported");
    console.end_stage("");
    fake.take();
    console.begin_stage("policy");
    EXPECT_EQ(fake.take(), "\r  policy          0.0 s  …\033[K");
}

TEST(Console, TheLiveLineNeverWraps) {
    FakeTerminal fake;
    fake.columns = 30;
    Console console(fake.output(true));
    console.begin_stage("fetch");
    fake.time += seconds(1);
    console.progress(1, 2, "packages");
    EXPECT_EQ(fake.take(),
              "\r  fetch           0.0 s  …\033[K"
              "\r  fetch           1.0 s  ███…\033[K");
    fake.columns = 1;
    console.redraw();
    EXPECT_EQ(fake.take(), "\r \033[K");
}

TEST(Console, TheLiveLineGoesAwayWithTheConsole) {
    FakeTerminal fake;
    {
        Console console(fake.output(true));
        console.begin_stage("commit");
        fake.take();
    }
    EXPECT_EQ(fake.text, "\r\033[K");
}

TEST(Console, AsciiWhereTheTerminalShowsNoUtf8) {
    FakeTerminal fake;
    ConsoleOutput output = fake.output(true);
    output.unicode = false;
    Console console(std::move(output));
    console.begin_stage("label");
    fake.time += seconds(1);
    console.progress(1, 4, "labels");
    console.end_stage("4 paths");
    EXPECT_EQ(fake.text,
              "\r  label           0.0 s  ...\033[K"
              "\r  label           1.0 s  #####............... 1/4 labels\033[K"
              "\r\033[K- label          1.00 s  4 paths\n");
}

TEST(Console, WarningsWaitForTheEndOfTheirStage) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("compose");
    console.warn("odd owner");
    console.warn("odd owner");
    EXPECT_EQ(fake.text, "");
    console.end_stage("done");
    console.warn("between");
    EXPECT_EQ(fake.text,
              "- compose        0.00 s  done\n"
              "warning: odd owner\n"
              "warning: between\n");
    EXPECT_THAT(console.warnings(), testing::ElementsAre("odd owner", "between"));
}

TEST(Console, WarningsOfAKindAreOneLine) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("compose");
    for (const char* item : {"/a", "/b", "/c", "/d", "/e", "/f"}) {
        console.warn_of("left out", item);
    }
    console.warn_of("unknown owner", "x");
    console.end_stage("done");
    EXPECT_EQ(fake.text,
              "- compose        0.00 s  done\n"
              "warning: left out: /a, /b, /c, /d and 2 more\n"
              "warning: unknown owner: x\n");
    EXPECT_THAT(console.warnings(),
                testing::ElementsAre("left out: /a, /b, /c, /d, /e, /f", "unknown owner: x"))
        << "the document has all";
}

TEST(Console, AWarningOfAFailedStageIsShown) {
    FakeTerminal fake;
    {
        Console console(fake.output(false));
        console.begin_stage("compose");
        console.warn("a hint at what follows");
    }
    EXPECT_EQ(fake.text, "warning: a hint at what follows\n");
}

TEST(Console, QuietLeavesWarnings) {
    FakeTerminal fake;
    ConsoleOutput output = fake.output(true);
    output.quiet = true;
    Console console(std::move(output));
    console.begin_stage("fetch");
    console.note("note");
    fake.time += seconds(20);
    console.progress(1, 2, "packages");
    console.redraw();
    console.warn("look out");
    console.end_stage("done");
    EXPECT_EQ(fake.text, "warning: look out\n");
}

TEST(Console, Colours) {
    FakeTerminal fake;
    ConsoleOutput output = fake.output(false);
    output.colored = true;
    Console console(std::move(output));
    console.begin_stage("fetch");
    console.end_stage("done");
    console.warn("look out");
    EXPECT_EQ(fake.text,
              "\033[32m-\033[0m fetch          0.00 s  done\n"
              "\033[33mwarning\033[0m: look out\n");
}

TEST(Console, WhatComesFromOutsideCannotDriveTheTerminal) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("resolve");
    console.note("evil\033]0;title\007\nline");
    console.end_stage("a\rb");
    console.warn("\033[2J");
    console.warn(
        "\xc2\x9b"
        "2J \xc2\x80\xc2\xa0\xc3\x9f\xc2");
    EXPECT_EQ(fake.text,
              "  evil\\x1b]0;title\\x07 line\n"
              "- resolve        0.00 s  a\\x0db\n"
              "warning: \\x1b[2J\n"
              "warning: \\u009b2J \\u0080\xc2\xa0\xc3\x9f\\xc2\n");
}

TEST(Console, EventsAreJsonLines) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("fetch");
    console.progress(1, 3, "packages");
    console.progress(2, 3, "packages");
    fake.time += milliseconds(250);
    console.progress(3, 3, "packages");
    console.warn("bad \xff byte");
    console.note("note");
    console.end_stage("3 packages");
    EXPECT_EQ(fake.events,
              "{\"event\":\"begin\",\"format\":\"edgegpu-progress/1\"}\n"
              "{\"event\":\"stage-begin\",\"stage\":\"fetch\"}\n"
              "{\"event\":\"progress\",\"stage\":\"fetch\",\"done\":1,\"total\":3,"
              "\"what\":\"packages\"}\n"
              "{\"event\":\"progress\",\"stage\":\"fetch\",\"done\":3,\"total\":3,"
              "\"what\":\"packages\"}\n"
              "{\"event\":\"warning\",\"stage\":\"fetch\",\"text\":\"bad \uFFFD byte\"}\n"
              "{\"event\":\"note\",\"stage\":\"fetch\",\"text\":\"note\"}\n"
              "{\"event\":\"stage-end\",\"stage\":\"fetch\",\"seconds\":0.25,"
              "\"result\":\"3 packages\"}\n");
}

TEST(Console, StageTimes) {
    FakeTerminal fake;
    Console console(fake.output(false));
    console.begin_stage("resolve");
    fake.time += milliseconds(500);
    console.end_stage("");
    fake.time += seconds(4);
    console.begin_stage("fetch");
    fake.time += seconds(2);
    console.end_stage("");
    EXPECT_DOUBLE_EQ(console.seconds(), 6.5);
    const std::vector<StageTime> times = console.stage_times();
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].name, "resolve");
    EXPECT_DOUBLE_EQ(times[0].seconds, 0.5);
    EXPECT_EQ(times[1].name, "fetch");
    EXPECT_DOUBLE_EQ(times[1].seconds, 2.0);
}

TEST(Console, AnyThreadMayReport) {
    FakeTerminal fake;
    ConsoleOutput output = fake.output(true);
    output.animated = true;
    {
        Console console(std::move(output));
        console.begin_stage("fetch");
        {
            std::vector<std::jthread> threads;
            threads.reserve(4);
            for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&console] {
                    for (std::size_t i = 1; i <= 200; ++i) {
                        console.progress(i, 200, "packages");
                        console.warn_of("odd", std::to_string(i));
                    }
                });
            }
        }
        console.end_stage("done");
        ASSERT_EQ(console.warnings().size(), 1U);
    }
    EXPECT_THAT(fake.text, testing::HasSubstr("warning: odd: "));
    EXPECT_THAT(fake.text, testing::HasSubstr(" and 796 more\n"));
}

TEST(Console, ProgressNeedsAnOpenDescriptor) {
    const int closed = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(closed, 0);
    const auto message = [&] {
        try {
            (void)standard_error(Color::never, true, closed);
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::usage);
            return failure.message();
        }
        return std::string("no error");
    };
    const std::string expected =
        "--progress-fd: descriptor " + std::to_string(closed) + " is not open for writing";
    EXPECT_EQ(message(), expected) << "read-only";
    ::close(closed);
    EXPECT_EQ(message(), expected) << "closed";
}

TEST(TerminalText, Clip) {
    EXPECT_EQ(clip("abcdef", 6), "abcdef");
    EXPECT_EQ(clip("abcdef", 5), "abcd…");
    EXPECT_EQ(clip("äöüßé", 4), "äöü…");
    EXPECT_EQ(clip("abcdef", 5, false), "ab...");
    EXPECT_EQ(clip("abcdef", 2, false), "ab");
    EXPECT_EQ(clip("abcdef", 0), "");
}

TEST(TerminalText, HumanSize) {
    EXPECT_EQ(human_size(0), "0 B");
    EXPECT_EQ(human_size(999), "999 B");
    EXPECT_EQ(human_size(1024), "1.0 KiB");
    EXPECT_EQ(human_size(12'345), "12 KiB");
    EXPECT_EQ(human_size(1'048'100), "1.0 MiB");
    EXPECT_EQ(human_size(17'179'869'184), "16 GiB");
}

TEST(Error, RendersInColourAndWithoutControlCharacters) {
    const Error failure = Error("bad \033[31mname").traced("while\nresolving").hinted("look at it");
    EXPECT_EQ(failure.render(),
              "error: bad \\x1b[31mname\n"
              "  while\nresolving\n"
              "hint: look at it\n");
    EXPECT_EQ(failure.render(true),
              "\033[1;31merror\033[0m: bad \\x1b[31mname\n"
              "  while\nresolving\n"
              "\033[1;36mhint\033[0m: look at it\n");
}

TEST(Error, NearestNames) {
    const std::vector<std::string> commands = {"build", "check", "resolve"};
    EXPECT_THAT(nearest_names("biuld", commands), testing::ElementsAre("build"));
    EXPECT_THAT(nearest_names("chek", commands), testing::ElementsAre("check"));
    EXPECT_THAT(nearest_names("solve", commands), testing::IsEmpty());
    EXPECT_THAT(nearest_names("", commands), testing::IsEmpty());
}

}  // namespace
}  // namespace edgegpu
