#include "machine/agent_channel.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include "execution/background_process.hpp"
#include "machine_peer.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const Context agent_context;
const Watch agent_watch{agent_context, {}};
constexpr std::chrono::seconds script_limit{30};
const std::string boot_1 = "11111111-2222-3333-4444-555555555555";
const std::string boot_2 = "99999999-2222-3333-4444-555555555555";

std::string hello(const std::string& boot, const std::string& state = "running") {
    return "\n@edgegpu hello 1 " + boot + " " + state + "\r\n";
}

std::string done(const std::string& id, const std::string& output, int status = 0) {
    return "@edgegpu done " + id + " " + std::to_string(status) + " 0 " +
           std::to_string(output.size()) + " " + sha256_hex(output) + "\n";
}

/// An agent that takes every script, and answers "run" as the test says.
MachinePeer::Script agent_that(std::function<std::string(const std::string& id)> run) {
    return [run = std::move(run)](const std::string& line) -> std::string {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() < 4) {
            return hello(boot_1);
        }
        const std::string id(words[2]);
        return words[1] == "put" ? "@edgegpu got " + id + " " + std::string(words[3]) + "\n"
                                 : run(id);
    };
}

/// Waits until the agent has greeted.
void greet(AgentChannel& agent) {
    const Wait wait(agent_watch, "no greeting", script_limit);
    while (!agent.greeting()) {
        wait.readable(agent.descriptor());
        agent.read();
    }
}

std::string failure_of(MachinePeer& peer, std::chrono::milliseconds patience = script_limit) {
    AgentChannel agent(agent_watch, peer.take());
    agent.patience = patience;
    greet(agent);
    return message_of([&] { agent.run("true", script_limit); });
}

TEST(AgentChannel, FindsFramesInNoise) {
    MachinePeer peer([](const std::string&) {
        return "\033[2J@edgegpu hello 1 " + boot_2 + " running\n" + std::string(100000, 'x') +
               hello(boot_2).substr(1) + "@edgegpu hello 2 " + boot_2 +
               " running\n@edgegpu hello 1 " + boot_2 +
               "\n@edgegpu hello 1 ../../etc/passwd running\n@edgegpu hello 1 " + boot_2 +
               " \033[31m\n@edgegpu\n@edgegpu  \n" + std::string(1, '\0') + '\n' +
               hello(boot_1, "degraded");
    });
    AgentChannel agent(agent_watch, peer.take());
    greet(agent);
    EXPECT_EQ(agent.greeting()->boot_id, boot_1);
    EXPECT_EQ(agent.greeting()->state, "degraded");
}

TEST(AgentChannel, TakesOnlyAnswersToItsOwnRequest) {
    MachinePeer peer(agent_that([](const std::string& id) {
        return done("0123456789abcdef", "") + "@edgegpu data 0123456789abcdef 0 eA==\n" +
               "@edgegpu running " + id + "\n@edgegpu data " + id + " 0 b25l\n@edgegpu data " + id +
               " 1 dHdv\n" + done(id, "onetwo", 7);
    }));
    AgentChannel agent(agent_watch, peer.take());
    EXPECT_EQ(message_of([&] { agent.run("", script_limit); }),
              "the guest does not answer: it is not up");
    greet(agent);
    const GuestResult result = agent.run("", script_limit);
    EXPECT_EQ(result.status, 7);
    EXPECT_EQ(result.output, "onetwo");
    EXPECT_FALSE(result.timed_out);
}

TEST(AgentChannel, AsksAgainForWhatArrivedDamaged) {
    int asked = 0;
    MachinePeer peer(agent_that([&](const std::string& id) {
        const std::string part = "@edgegpu data " + id + " ";
        ++asked;
        return (asked == 1 ? part + "0 b25\n" : part + "1 dHdv\n" + part + "0 b25l\n") +
               done(id, "one");
    }));
    AgentChannel agent(agent_watch, peer.take());
    greet(agent);
    EXPECT_EQ(agent.run("x", script_limit).output, "one");
    EXPECT_EQ(asked, 2);
}

TEST(AgentChannel, GivesUpWhatNeverArrivesWhole) {
    MachinePeer wrong(agent_that([](const std::string& id) {
        return "@edgegpu data " + id + " 0 b25l\n" + done(id, "two");
    }));
    EXPECT_THAT(failure_of(wrong), HasSubstr("did not arrive undamaged"));
    MachinePeer huge(agent_that([](const std::string& id) {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            text += "@edgegpu data " + id + " " + std::to_string(i) + " " + std::string(3000, 'A') +
                    "\n";
        }
        return text + "@edgegpu done " + id + " 0 0 99999999999999999999999 x\n";
    }));
    EXPECT_THAT(failure_of(huge), HasSubstr("did not arrive undamaged"));
    MachinePeer odd(agent_that([](const std::string& id) {
        return "@edgegpu done " + id + "\n@edgegpu done " + id + " -1 0 0 x\n@edgegpu done " + id +
               " 300 0 0 " + sha256_hex("") + "\n";
    }));
    EXPECT_THAT(failure_of(odd), HasSubstr("did not arrive undamaged"));
}

TEST(AgentChannel, NoticesThatTheGuestGoesAway) {
    MachinePeer restarted(agent_that([](const std::string&) { return hello(boot_2, "starting"); }));
    EXPECT_EQ(failure_of(restarted), "the guest restarted while a script ran in it");
    MachinePeer down(
        agent_that([](const std::string&) { return "@edgegpu bye " + boot_1 + "\n"; }));
    EXPECT_EQ(failure_of(down), "the guest went down while a script ran in it");
    MachinePeer* self = nullptr;
    MachinePeer closed(agent_that([&](const std::string& id) {
        self->close_after_this();
        return "@edgegpu data " + id + " 0 b2";
    }));
    self = &closed;
    EXPECT_EQ(failure_of(closed), "the guest is gone: its machine has ended");
}

TEST(AgentChannel, EndsWhenNothingIsAnswered) {
    MachinePeer mute([](const std::string& line) { return line.empty() ? hello(boot_1) : ""; });
    EXPECT_THAT(failure_of(mute, std::chrono::milliseconds(0)),
                HasSubstr("the guest did not take a script within 0 seconds"));
    MachinePeer stuck(agent_that([](const std::string&) { return ""; }));
    AgentChannel agent(agent_watch, stuck.take());
    greet(agent);
    agent.patience = std::chrono::milliseconds(300);
    agent.resend_after = std::chrono::milliseconds(50);
    EXPECT_THAT(message_of([&] { agent.run("true", script_limit); }),
                HasSubstr("the guest did not answer within"));
}

TEST(AgentChannel, AnOrderToRestartIsSentOnce) {
    // What is run again is sent again, as the first half shows; what goes to a boot loader is not.
    std::atomic<int> ordered{0};
    const MachinePeer::Script silent = agent_that([&](const std::string&) {
        ++ordered;
        return std::string();
    });
    for (const bool once : {false, true}) {
        ordered = 0;
        MachinePeer peer(silent);
        AgentChannel agent(agent_watch, peer.take());
        greet(agent);
        agent.patience = std::chrono::milliseconds(400);
        agent.resend_after = std::chrono::milliseconds(0);
        const std::string said = message_of([&] {
            static_cast<void>(once ? agent.run_once("systemctl reboot", script_limit)
                                   : agent.run("true", script_limit));
        });
        EXPECT_THAT(said, HasSubstr("the guest did not answer within"));
        if (once) {
            EXPECT_EQ(ordered, 1);
        } else {
            EXPECT_GT(ordered, 1);
        }
    }
    // Its result is taken as that of any other script, and a damaged one is not asked for again.
    MachinePeer good(agent_that([](const std::string& id) { return done(id, "", 5); }));
    AgentChannel agent(agent_watch, good.take());
    greet(agent);
    EXPECT_EQ(agent.run_once("exit 5", script_limit).status, 5);
    MachinePeer damaged(agent_that([&](const std::string& id) {
        ++ordered;
        return "@edgegpu data " + id + " 0 b25l\n" + done(id, "two");
    }));
    AgentChannel other(agent_watch, damaged.take());
    greet(other);
    ordered = 0;
    EXPECT_THAT(message_of([&] { other.run_once("systemctl reboot", script_limit); }),
                HasSubstr("did not arrive undamaged"));
    EXPECT_EQ(ordered, 1);
}

TEST(AgentChannel, EndsWhateverAGuestFloodsItWith) {
    // More than the channel holds at once, in frames that are right, and no end of them.
    const auto flood = [](const std::string& frame) {
        std::string text;
        while (text.size() < (4U << 20U)) {
            text += frame;
        }
        return text;
    };
    for (const std::string& frame :
         {std::string("@edgegpu running ID\n"), std::string("@edgegpu data ID 0 QUFB\n"),
          hello(boot_1), std::string("@edgegpu got ID 0\n"), std::string(100, '\n'),
          std::string("@edgegpu data ffffffffffffffff 0 QUFB\n"),
          "@edgegpu data ID 0 " + std::string(4090, '=') + "\n", std::string(1, '\0')}) {
        MachinePeer peer(agent_that([&](const std::string& id) {
            std::string own = frame;
            if (const std::size_t at = own.find("ID"); at != std::string::npos) {
                own.replace(at, 2, id);
            }
            return flood(own);
        }));
        AgentChannel agent(agent_watch, peer.take());
        greet(agent);
        agent.patience = std::chrono::milliseconds(200);
        agent.margin = std::chrono::milliseconds(300);
        EXPECT_THAT(message_of([&] { agent.run("true", std::chrono::seconds(1)); }),
                    testing::AnyOf(HasSubstr("the guest did not answer within"),
                                   HasSubstr("the guest did not end a script within"),
                                   HasSubstr("did not arrive undamaged")));
    }
}

/// The real agent on a terminal, as on a serial port; only systemctl is the test's.
class GuestAgentTest : public ::testing::Test {
protected:
    void SetUp() override {
        make_directories(directory.path() / "bin");
        write_file(directory.path() / "bin/systemctl", "#!/bin/sh\necho degraded\nexit 1\n", 0755);
        int master = -1;
        int slave = -1;
        std::array<char, 256> name{};
        ASSERT_EQ(::openpty(&master, &slave, name.data(), nullptr, nullptr), 0);
        master_ = Fd(master);
        slave_ = Fd(slave);
        auto [ours, theirs] = make_channel();
        socket_ = std::move(theirs);
        ProcessRequest request;
        request.argv = {"/bin/bash", EDGEGPU_SOURCE_DIR "/src/machine/guest/guest-agent",
                        name.data(), directory.path() / "work"};
        request.env = {"PATH=" + (directory.path() / "bin").string() + ":/usr/bin:/bin"};
        script_.emplace(agent_context, request);
        line_ = std::jthread([this](const std::stop_token& stop) { carry(stop); });
        agent.emplace(agent_watch, std::move(ours));
        greet(*agent);
    }
    void TearDown() override {
        line_ = {};
        script_.reset();
    }

    std::optional<AgentChannel> agent;

private:
    /// The serial line between the socket and the terminal.
    void carry(const std::stop_token& stop) const {
        std::array<char, 512> buffer{};
        while (!stop.stop_requested()) {
            std::array<pollfd, 2> ends{pollfd{master_.get(), POLLIN, 0},
                                       pollfd{socket_.get(), POLLIN, 0}};
            if (::poll(ends.data(), ends.size(), 20) <= 0) {
                continue;
            }
            for (const std::size_t from : {0U, 1U}) {
                const ssize_t got = ends.at(from).revents == 0
                                        ? 0
                                        : ::read(ends.at(from).fd, buffer.data(), buffer.size());
                if (got > 0 && !write_all(ends.at(1 - from).fd,
                                          {buffer.data(), static_cast<std::size_t>(got)})) {
                    return;
                }
            }
        }
    }

    test::TemporaryDirectory directory;
    Fd master_;
    Fd slave_;
    Fd socket_;
    std::optional<BackgroundProcess> script_;
    std::jthread line_;
};

TEST_F(GuestAgentTest, RunsScriptsAndReturnsTheirEnd) {
    EXPECT_EQ(agent->run("echo one; echo two >&2; exit 7", script_limit).output, "one\ntwo\n");
    EXPECT_EQ(agent->run("exit 7", script_limit).status, 7);
    EXPECT_EQ(agent->run("kill -9 $$", script_limit).status, 137);
    EXPECT_EQ(agent->run("", script_limit).status, 0);
    EXPECT_EQ(agent->run("tty; read -r x; echo \"$? $PWD\"", script_limit).output,
              "not a tty\n1 /\n");
    EXPECT_EQ(agent->run("printf 'a\\0b\\r\\n@edgegpu bye x\\n'", script_limit).output,
              std::string("a\0b\r\n@edgegpu bye x\n", 20));
}

TEST_F(GuestAgentTest, CarriesLongScriptsAndOutput) {
    const GuestResult result =
        agent->run("# " + std::string(30000, 'x') + "\nseq 1 60000; echo the end", script_limit);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output.size(), 262144U);
    EXPECT_THAT(result.output, EndsWith("59999\n60000\nthe end\n"));
}

TEST_F(GuestAgentTest, EndsWhatDoesNotEnd) {
    const GuestResult slow = agent->run("echo before; sleep 1000", std::chrono::seconds(1));
    EXPECT_EQ(slow.status, 124);
    EXPECT_TRUE(slow.timed_out);
    EXPECT_EQ(slow.output, "before\n");
    const GuestResult own = agent->run("exit 124", script_limit);
    EXPECT_EQ(own.status, 124);
    EXPECT_FALSE(own.timed_out);
    // A process that stays behind holds the script's output.
    EXPECT_EQ(agent->run("sleep 1000 & echo started", script_limit).output, "started\n");
}

TEST_F(GuestAgentTest, SaysGoodbye) {
    EXPECT_EQ(message_of([&] {
                  agent->run(
                      "kill $(cat /proc/[0-9]*/stat 2>/dev/null | true; ps -o ppid= -p "
                      "$(ps -o ppid= -p $$)); sleep 1000",
                      script_limit);
              }),
              "the guest went down while a script ran in it");
}

}  // namespace
}  // namespace edgegpu
