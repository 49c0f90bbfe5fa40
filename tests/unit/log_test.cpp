// The log: one record a line, whoever writes, and nothing fails for it.

#include "log/log.hpp"

#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

class LogTest : public testing::Test {
protected:
    [[nodiscard]] fs::path file() const { return directory_.path() / "log"; }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream in(file());
        std::vector<std::string> all;
        for (std::string line; std::getline(in, line);) {
            all.push_back(line);
        }
        return all;
    }
    [[nodiscard]] std::vector<json> records() const {
        std::vector<json> all;
        for (const std::string& line : lines()) {
            all.push_back(json::parse(line));
        }
        return all;
    }

    test::TemporaryDirectory directory_;
};

TEST_F(LogTest, TextIsOneLineARecord) {
    Log log("lab:7");
    log.add_file(file(), LogFormat::text);
    log.set_stage("fetch");
    log.info("two\nlines", {{"plain", "a"},
                            {"quoted", "a \"b\"\n\x1b[31m\\"},
                            {"number", -3},
                            {"seconds", 1.5},
                            {"flag", true},
                            {"argv", std::vector<std::string>{"sh", "-c", "x"}},
                            {"empty", ""}});
    ASSERT_EQ(lines().size(), 1U);
    EXPECT_THAT(lines().front(),
                MatchesRegex("[0-9-]+T[0-9:]+\\.[0-9]+Z info    \\[lab:7\\] fetch: two lines .*"));
    EXPECT_THAT(lines().front(),
                HasSubstr(" plain=a quoted=\"a \\\"b\\\"\\n\\x1b[31m\\\\\" number=-3 "
                          "seconds=1.500 flag=true argv=\"sh -c x\" empty=\"\""));
}

TEST_F(LogTest, JsonIsOneObjectALine) {
    Log log("lab:7");
    log.add_file(file(), LogFormat::json);
    log.debug("program", {{"output", "a\nb\xff\"\x01"}, {"status", 0}});
    log.set_stage("commit");
    log.write(LogLevel::warning, "%v {} %");
    const std::vector<json> all = records();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0]["time"].get<std::string>(),
                MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9:]+\\.[0-9]+Z"));
    EXPECT_EQ(all[0]["level"], "debug");
    EXPECT_EQ(all[0]["build"], "lab:7");
    EXPECT_EQ(all[0]["stage"], "");
    EXPECT_EQ(all[0]["fields"]["output"], "a\nb\xef\xbf\xbd\"\x01");
    EXPECT_EQ(all[0]["fields"]["status"], 0);
    EXPECT_EQ(all[1]["level"], "warning");
    EXPECT_EQ(all[1]["build"], "lab:7");
    EXPECT_EQ(all[1]["stage"], "commit");
    EXPECT_EQ(all[1]["message"], "%v {} %");
}

TEST_F(LogTest, SecretsEnterNoRecord) {
    Log log("lab:7");
    log.add_file(file(), LogFormat::json);
    log.secrets().add("Swordfish-9");
    log.info("get http://a:Swordfish-9@h",
             {{"output", "swordfish-9 %53wordfish-9"},
              {"argv", std::vector<std::string>{"x", "SWORDFISH-9"}}});
    EXPECT_THAT(lines().front(), testing::Not(testing::ContainsRegex("[sS]word|SWORD|wordfish")));
    EXPECT_EQ(records()[0]["message"], "get http://[hidden]@h");
}

TEST_F(LogTest, OneThatWritesNowhereCostsNothing) {
    const Log log;
    EXPECT_FALSE(log.wants(LogLevel::error));
    log.info("nobody reads this");
    log.set_stage("x");
    EXPECT_EQ(log.stage(), "");
    EXPECT_EQ(log.without_secrets("http://a:b@c"), "http://[hidden]@c");
}

TEST_F(LogTest, TheTerminalGetsItsLevelAndNothingTwice) {
    std::vector<std::string> shown;
    Log log("lab:7");
    log.add_file(file(), LogFormat::text);
    log.add_terminal([&](std::string_view line) { shown.emplace_back(line); }, LogLevel::info);
    log.set_stage("resolve");
    log.info("decided", {{"why", std::string(5000, 'x')}});
    log.debug("detail");
    log.write_shown(LogLevel::info, "the console shows this");
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_THAT(shown[0], testing::StartsWith("info: resolve: decided why=xxx"));
    EXPECT_LT(shown[0].size(), 400U);
    EXPECT_EQ(lines().size(), 3U);
    log.remove_terminal();
    log.info("decided");
    EXPECT_EQ(shown.size(), 1U);
    EXPECT_EQ(lines().size(), 4U);
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsToldAtOnce) {
    Log log("lab:7");
    const auto failure = [&](const fs::path& path) -> std::string {
        try {
            log.add_file(path, LogFormat::text);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.exit_status(), 2);
            return problem.message();
        }
        return "";
    };
    const std::string directory = directory_.path().string();
    EXPECT_EQ(failure(directory), "cannot write the log " + directory + ": Is a directory");
    EXPECT_EQ(failure(directory + "/no/log"),
              "cannot write the log " + directory + "/no/log: No such file or directory");
    const fs::path fifo = directory_.path() / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_EQ(failure(fifo), "cannot write the log " + fifo.string() + ": the pipe has no reader");
    EXPECT_EQ(failure(file()), "");
    struct stat status {};
    ASSERT_EQ(::stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(LogTest, AFullDiskIsToldOnce) {
    std::vector<std::string> told;
    Log log("lab:7");
    log.add_file("/dev/full", LogFormat::text);
    log.add_file(file(), LogFormat::text);
    log.on_failure([&](std::string_view trouble) {
        told.emplace_back(trouble);
        log.write(LogLevel::warning, trouble);  // as a console does
    });
    log.info("one");
    log.info("two");
    EXPECT_THAT(told, testing::ElementsAre("cannot write to the log /dev/full any more: "
                                           "No space left on device"));
    EXPECT_EQ(lines().size(), 3U) << "the other file still gets every record";
}

TEST_F(LogTest, ARecordThatWasCutOffSpoilsNoOther) {
    std::vector<std::string> told;
    Log log("lab:7");
    log.add_file(file(), LogFormat::json);
    log.on_failure([&](std::string_view trouble) { told.emplace_back(trouble); });
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t before = std::exchange(limit.rlim_cur, 5000);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    log.info("long", {{"text", std::string(10000, 'x')}});
    limit.rlim_cur = before;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::signal(SIGXFSZ, previous);
    log.info("short");
    EXPECT_EQ(told.size(), 1U);
    ASSERT_EQ(lines().size(), 2U);
    EXPECT_EQ(lines()[0].size(), 5000U);
    EXPECT_EQ(json::parse(lines()[1])["message"], "short");
}

TEST_F(LogTest, ProcessesAndThreadsShareAFile) {
    constexpr int processes = 4;
    constexpr int threads = 3;
    constexpr int count = 20;
    std::vector<pid_t> children;
    for (int child = 0; child < processes; ++child) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            Log log("build:" + std::to_string(child));
            log.add_file(file(), LogFormat::json);
            std::vector<std::thread> writers;
            writers.reserve(threads);
            for (int thread = 0; thread < threads; ++thread) {
                writers.emplace_back([&log, thread] {
                    for (int i = 0; i < count; ++i) {
                        log.info("record", {{"thread", thread},
                                            {"text", std::string(100000, char('a' + thread))}});
                    }
                });
            }
            for (std::thread& writer : writers) {
                writer.join();
            }
            ::_exit(0);
        }
        children.push_back(pid);
    }
    for (const pid_t pid : children) {
        int status = -1;
        ASSERT_EQ(::waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
    }
    std::map<std::string, int> each;
    for (const json& record : records()) {
        EXPECT_EQ(record["fields"]["text"].get<std::string>(),
                  std::string(100000, char('a' + record["fields"]["thread"].get<int>())));
        ++each[record["build"]];
    }
    EXPECT_EQ(each.size(), std::size_t{processes});
    for (const auto& [build, records] : each) {
        EXPECT_EQ(records, threads * count) << build;
    }
}

}  // namespace
}  // namespace edgegpu
