#include "machine/qmp.hpp"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_peer.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds long_enough{60};
const Context qmp_context;
const Watch qmp_watch{qmp_context, {}};

/// A monitor that greets, and answers commands after that as the test says.
MachinePeer::Script monitor(std::function<std::string(const nlohmann::json&)> answer) {
    return [answer = std::move(answer)](const std::string& line) -> std::string {
        if (line.empty()) {
            return "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n";
        }
        const auto command = nlohmann::json::parse(line);
        if (command.at("execute") == "qmp_capabilities") {
            return nlohmann::json{{"return", nlohmann::json::object()}, {"id", command.at("id")}}
                       .dump() +
                   "\r\n";
        }
        return answer(command);
    };
}

std::string returned(const nlohmann::json& command, const nlohmann::json& value) {
    return nlohmann::json{{"return", value}, {"id", command.at("id")}}.dump() + "\r\n";
}

TEST(Qmp, ReturnsWhatACommandReturnsWithEventsInBetween) {
    MachinePeer peer(monitor([](const nlohmann::json& command) {
        return "{\"event\": \"RESET\", \"data\": {}}\r\n\r\n{\"return\": {}, \"id\": 999}\r\n" +
               returned(command, command.at("arguments"));
    }));
    Qmp qmp(qmp_watch, peer.take(), long_enough);
    EXPECT_EQ(qmp.execute("x", {{"a", 1}}, long_enough), (nlohmann::json{{"a", 1}}));
    EXPECT_EQ(qmp.next_event(), "RESET");
    EXPECT_EQ(qmp.next_event(), std::nullopt);
}

TEST(Qmp, ReportsWhatQemuSaysOfAFailure) {
    MachinePeer peer(monitor([](const nlohmann::json& command) {
        return nlohmann::json{{"error", {{"class", "GenericError"}, {"desc", "no such thing"}}},
                              {"id", command.at("id")}}
                   .dump() +
               "\n";
    }));
    Qmp qmp(qmp_watch, peer.take(), long_enough);
    EXPECT_EQ(message_of([&] { qmp.execute("screendump", long_enough); }),
              "QEMU: screendump: no such thing");
}

TEST(Qmp, NamesTheCommandThatIsNotAnsweredAndForgetsALateAnswer) {
    nlohmann::json first;
    MachinePeer peer(monitor([&](const nlohmann::json& command) -> std::string {
        if (command.at("execute") == "slow") {
            first = command;
            return "";
        }
        return returned(first, "late") + returned(command, "right");
    }));
    Qmp qmp(qmp_watch, peer.take(), long_enough);
    EXPECT_EQ(message_of([&] { qmp.execute("slow", std::chrono::seconds(0)); }),
              "QEMU did not answer 'slow' within 0 seconds");
    EXPECT_EQ(qmp.execute("quick", long_enough), "right");
}

TEST(Qmp, RefusesWhatIsNoMonitor) {
    const auto greeted_with = [](const std::string& greeting) {
        MachinePeer peer([&](const std::string&) { return greeting; });
        return message_of([&] { const Qmp qmp(qmp_watch, peer.take(), long_enough); });
    };
    EXPECT_THAT(greeted_with("SSH-2.0-OpenSSH\n"), HasSubstr("not a JSON object"));
    EXPECT_THAT(greeted_with("[1, 2]\n"), HasSubstr("not a JSON object"));
    EXPECT_THAT(greeted_with("{\"hello\": 1}\n"), HasSubstr("did not greet as QMP does"));
    EXPECT_THAT(greeted_with(std::string(3U << 20U, 'x') + "\n"), HasSubstr("more than 1 MiB"));
    EXPECT_THAT(greeted_with("{\"x\":" + std::string(200000, '[') + "\n"),
                HasSubstr("not a JSON object"));
}

TEST(Qmp, SaysThatTheConnectionWasClosed) {
    MachinePeer* self = nullptr;
    MachinePeer peer(monitor([&](const nlohmann::json&) -> std::string {
        self->close_after_this();
        return "{\"return\": {";
    }));
    self = &peer;
    Qmp qmp(qmp_watch, peer.take(), long_enough);
    EXPECT_EQ(message_of([&] { qmp.execute("x", long_enough); }), "QEMU closed its monitor");
    EXPECT_EQ(message_of([&] { qmp.execute("x", long_enough); }), "the connection was closed");
}

TEST(Qmp, ChecksWhetherItIsPointlessToWait) {
    std::atomic<bool> cancelled = false;
    Context ctx;
    ctx.cancelled = &cancelled;
    const Watch watch{ctx, [&] { cancelled = true; }};
    MachinePeer peer([](const std::string&) { return ""; });
    try {
        const Qmp qmp(watch, peer.take(), long_enough);
        FAIL() << "no exception";
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::interrupted);
    }
}

TEST(Qmp, KeepsOnlySoManyEvents) {
    MachinePeer peer(monitor([](const nlohmann::json& command) {
        std::string events;
        for (int i = 0; i < 1000; ++i) {
            events += nlohmann::json{{"event", "E" + std::to_string(i)}}.dump() + "\n";
        }
        return events + "{\"event\": 7}\n" + returned(command, 1);
    }));
    Qmp qmp(qmp_watch, peer.take(), long_enough);
    qmp.execute("x", long_enough);
    EXPECT_EQ(qmp.next_event(), "E745");
}

}  // namespace
}  // namespace edgegpu
