#include "rollout/reports.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu::rollout_reports_test {
namespace {

const std::string id(32, 'a');
const std::string commit(64, '1');

std::string report(const std::string& changed = "", const std::string& to = "") {
    std::string text = fmt::format(
        R"({{"format": "edgegpu-update-report/1", "id": "{}", "time": 1800003600, "ref": "edge:rhel/9",
 "commit": "{}", "version": "9.4", "state": "current", "text": "a }} \" {{ \\", "available": "", "refused": "",
 "failures": 2, "checked": 1, "updated": 0, "system": "running", "driver": "", "gpus": 4}})",
        id, commit);
    if (!changed.empty()) {
        const std::size_t place = text.find(changed);
        EXPECT_NE(place, std::string::npos) << changed;
        text.replace(place, changed.size(), to);
    }
    return text;
}

DeviceReports read(const std::string& text) {
    DeviceReports reports;
    read_reports(text, "FILE", reports);
    return reports;
}

TEST(RolloutReports, AReportIsRead) {
    const DeviceReports reports = read(report());
    ASSERT_EQ(reports.reports.size(), 1U);
    EXPECT_EQ(reports.unreadable, 0U);
    const DeviceReport& one = reports.reports.front();
    EXPECT_EQ(one.id, id);
    EXPECT_EQ(one.time, 1800003600);
    EXPECT_EQ(one.ref, "rhel/9");
    EXPECT_EQ(one.commit, commit);
    EXPECT_EQ(one.state, "current");
    EXPECT_EQ(one.failures, 2);
    EXPECT_EQ(one.gpus, 4);
    EXPECT_EQ(one.group, "");
    EXPECT_EQ(read(report("\"gpus\": 4", "\"gpus\": 4, \"group\": \"rack\"")).reports[0].group,
              "rack");
}

TEST(RolloutReports, SeveralAreReadHoweverTheyStand) {
    for (const std::string& text :
         {report() + report(), report() + "\n" + report() + "\n",
          "[" + report() + ",\r\n" + report() + "]", "\n\n" + report() + " , " + report() + "]"}) {
        EXPECT_EQ(read(text).reports.size(), 2U) << text;
        EXPECT_EQ(read(text).unreadable, 0U) << text;
    }
    EXPECT_EQ(read("").reports.size(), 0U);
}

/// A report as a program writes it, on one line.
std::string line(const std::string& changed = "", const std::string& to = "") {
    std::string text = report(changed, to);
    std::ranges::replace(text, '\n', ' ');
    return text;
}

TEST(RolloutReports, NoReportHidesThoseBehindIt) {
    const std::string large =
        line("\"gpus\": 4", "\"gpus\": 4, \"more\": \"" + std::string(70000, 'x') + "\"");
    const std::string deep = line(
        "\"gpus\": 4", "\"gpus\": 4, \"more\": " + std::string(20, '[') + std::string(20, ']'));
    const std::string good = line();
    for (const std::string& first :
         {large, deep, good.substr(0, 90), line("aaaa", "AAAA"), std::string("\xEF\xBB\xBF"),
          std::string("{\"reports\": "), std::string("<html>")}) {
        for (const char* between : {"", ", ", ";", "\x1E"}) {
            std::string text = first;
            text += between;
            text += '[' + good + between + good + "]}";
            SCOPED_TRACE(text.substr(0, 60) + between);
            EXPECT_EQ(read(text).reports.size(), 2U);
            EXPECT_GE(read(text).unreadable, 1U);
        }
    }
    std::string names;
    for (int i = 0; i < 200'000; ++i) {
        names += "edgegpu-update-report/1";
    }
    EXPECT_EQ(read(names + good).reports.size(), 1U) << "each byte is looked at once";
    // Reports that somebody has sorted the keys of, the format in their middle.
    const std::string sorted = R"({"a": {"b": {}}, )" + good.substr(1);
    EXPECT_EQ(read("x" + sorted + sorted).reports.size(), 2U);
}

TEST(RolloutReports, WhatIsNoneIsCounted) {
    for (const auto& [changed, to] : std::initializer_list<std::pair<std::string, std::string>>{
             {"report/1", "report/2"},
             {"aaaa", "AAAA"},
             {"aaaa", "aaa"},
             {"1800003600", "-1"},
             {"1800003600", "1.5"},
             {"1800003600", "1e300"},
             {"1800003600", "18446744073709551616"},
             {"1800003600", "100000000000"},
             {"1800003600", "\"1800003600\""},
             {"1800003600", "null"},
             {"1111", "1112g"},
             {"\"gpus\": 4", "\"gpus\": -4"},
             {"\"gpus\": 4", "\"gpu\": 4"},
             {"\"system\": \"running\"", "\"system\": [\"running\"]"},
             {"running", std::string(1025, 'x')},
             {"running", std::string(70000, 'x')},
             {"running", "\xff"},
             {"\"version\": \"9.4\"",
              "\"version\": " + std::string(20, '[') + std::string(20, ']')}}) {
        const DeviceReports reports = read(report(changed, to));
        EXPECT_EQ(reports.reports.size(), 0U) << changed << " → " << to.substr(0, 40);
        EXPECT_GE(reports.unreadable, 1U) << changed << " → " << to.substr(0, 40);
    }
    EXPECT_EQ(read("5").unreadable, 1U);
    EXPECT_EQ(read("\"text\"").unreadable, 1U);
    EXPECT_EQ(read("{}").unreadable, 1U);
}

/// A report with this as its gpu_health.
std::string with_gpu_health(const std::string& json) {
    return report("\"gpus\": 4", "\"gpus\": 4, \"gpu_health\": " + json);
}

TEST(RolloutReports, GpuHealthIsRead) {
    EXPECT_EQ(read(report()).reports[0].gpu_health.verdict, "");
    const DeviceReports found =
        read(with_gpu_health(R"({"verdict": "hardware", "red": false, "fault": "xid-79"})"));
    ASSERT_EQ(found.reports.size(), 1U);
    EXPECT_EQ(found.reports[0].gpu_health.verdict, "hardware");
    EXPECT_EQ(found.reports[0].gpu_health.fault, "xid-79");
    EXPECT_EQ(read(with_gpu_health(R"({"verdict": "healthy", "red": false, "fault": ""})"))
                  .reports.size(),
              1U);
    for (const char* const wrong :
         {"null", "5", "[]", "{}", R"("image")", R"({"verdict": "image", "red": true})",
          R"({"verdict": "image", "fault": ""})", R"({"red": true, "fault": ""})",
          R"({"verdict": "", "red": true, "fault": ""})",
          R"({"verdict": "fine", "red": true, "fault": ""})",
          R"({"verdict": ["image"], "red": true, "fault": ""})",
          R"({"verdict": "image", "red": "true", "fault": ""})",
          R"({"verdict": "image", "red": true, "fault": "\u001b[2J"})",
          R"({"verdict": "image", "red": true, "fault": "a b"})"}) {
        const DeviceReports none = read(with_gpu_health(wrong));
        EXPECT_EQ(none.reports.size(), 0U) << wrong;
        EXPECT_EQ(none.unreadable, 1U) << wrong;
    }
    EXPECT_EQ(read(with_gpu_health(R"({"verdict": "image", "red": true, "fault": ")" +
                                   std::string(65, 'x') + "\"}"))
                  .unreadable,
              1U);
}

TEST(RolloutReports, WhatIsCutOffHidesNoOthers) {
    const std::string whole = report("\n", " ");
    for (std::string::size_type size = 1; size < whole.size(); size += 7) {
        std::string cut = whole.substr(0, size);
        std::ranges::replace(cut, '\n', ' ');
        std::string good = whole;
        std::ranges::replace(good, '\n', ' ');
        const DeviceReports reports = read(cut + "\n" + good + "\n" + good);
        EXPECT_EQ(reports.reports.size(), 2U) << cut;
        EXPECT_EQ(reports.unreadable, 1U) << cut;
    }
}

TEST(RolloutReports, AFileOfSomethingElseIsAnError) {
    std::string junk;
    for (int i = 0; i < 1001; ++i) {
        junk += "{\n";
    }
    try {
        static_cast<void>(read(junk));
        ADD_FAILURE();
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), testing::HasSubstr("FILE: has more than 1000 objects"));
        EXPECT_THAT(failure.hint(), testing::HasSubstr("update-report.json"));
    }
}

/// Takes root's right to read everything away from the thread, for a while.
class WithoutOverride {
public:
    WithoutOverride() {
        ::syscall(SYS_capget, &header_, before_.data());
        std::array<__user_cap_data_struct, 2> less = before_;
        less[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
        ::syscall(SYS_capset, &header_, less.data());
    }
    ~WithoutOverride() { ::syscall(SYS_capset, &header_, before_.data()); }
    WithoutOverride(const WithoutOverride&) = delete;
    WithoutOverride& operator=(const WithoutOverride&) = delete;

private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> before_{};
};

/// Nobody looks at what `check` leaves out: it would go on while devices fail.
TEST(RolloutReports, AFileThatCannotBeReadIsAnError) {
    const TemporaryDirectory place(std::filesystem::temp_directory_path() / "edgegpu-reports");
    std::filesystem::permissions(place.path(), std::filesystem::perms(0755));
    write_file(place / "a.json", report());
    write_file(place / "b.json", report(), 0000);
    std::filesystem::create_directory(place / "c");
    std::filesystem::create_symlink("b.json", place / "d.json");
    write_file(place / ".e.json", "x", 0000);
    std::string said;
    try {
        const WithoutOverride plain;
        static_cast<void>(read_report_files(place.path()));
    } catch (const Error& failure) {
        said = failure.message();
    }
    EXPECT_EQ(said, (place / "b.json").string() + ": Permission denied");
    std::filesystem::permissions(place / "b.json", std::filesystem::perms(0644));
    EXPECT_EQ(read_report_files(place.path()).reports.size(), 2U);
}

}  // namespace
}  // namespace edgegpu::rollout_reports_test
